#include "grammar_core/automaton/mask_maker.h"

#include <algorithm>
#include <optional>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/closure.h"
#include "grammar_core/automaton/text_walk.h"
#include "grammar_core/mask/bit_words.h"

namespace maskd {
namespace {

constexpr int kAsciiEnd = 128;
// A walk that visits more trie nodes than this is given up for a closure, whose analysis costs
// about as much.
constexpr std::int64_t kNarrowNodes = 8'000;
// A state that takes more ASCII characters is not worth the try.
constexpr int kWideState = 64;
// Trie nodes a unit of work stands for: a known transition takes 2 ns, a new one some hundred.
constexpr std::int64_t kNodesPerUnit = 64;
// Above so many branches one walk for all of them is cheaper than a mask for each.
constexpr std::size_t kMaxBranches = 12;
// Masks made for the sake of one another, at most: they are made by recursion.
constexpr int kMaxDepth = 8;
// A length that leaves fewer characters before the pattern's end is near for too many tokens.
constexpr std::uint32_t kFewChars = 16;
// A run of bytes of a larger set has too many ways to be cut.
constexpr std::size_t kMaxRunBytes = 32;

// A bound on how long the shortest string of a term's derivative is, over all derivatives, in
// characters; nothing where it is not plain to see. `*visits` is what may still be looked at.
struct Completion {
  std::uint32_t own;  // of the term itself
  std::uint32_t any;  // of any derivative, the term itself included
};

std::optional<Completion> CompletionOf(const TermStore& store, TermId id, int* visits) {
  if (--*visits < 0) return std::nullopt;
  const Term& term = store.term(id);
  switch (term.kind) {
    case TermKind::kEmpty:
      return Completion{0, 0};
    case TermKind::kCharSet:
      return Completion{1, 1};
    case TermKind::kText: {
      const auto size = static_cast<std::uint32_t>(store.ir().texts[term.a].size()) - term.b;
      return Completion{size, size};
    }
    case TermKind::kTextSet: {
      std::uint32_t longest = 0;
      for (std::uint32_t i = term.b; i < term.c; ++i) {
        longest = std::max(longest, static_cast<std::uint32_t>(store.text_set(term.a)[i].size()));
      }
      return Completion{longest, longest};
    }
    case TermKind::kCat: {
      const auto head = CompletionOf(store, term.a, visits);
      const auto tail = head.has_value() ? CompletionOf(store, term.b, visits) : std::nullopt;
      if (!tail.has_value()) return std::nullopt;
      return Completion{SaturatingAdd(head->own, tail->own),
                        std::max(SaturatingAdd(head->any, tail->own), tail->any)};
    }
    case TermKind::kAlt: {
      Completion all = {kNoEnd, 0};
      for (const TermId branch : store.list(term.a)) {
        const auto one = CompletionOf(store, branch, visits);
        if (!one.has_value()) return std::nullopt;
        all = {std::min(all.own, one->own), std::max(all.any, one->any)};
      }
      return all;
    }
    case TermKind::kRepeat: {
      const auto body = CompletionOf(store, term.a, visits);
      if (!body.has_value()) return std::nullopt;
      const std::uint32_t own = SaturatingMul(body->own, term.b);
      return Completion{own, SaturatingAdd(body->any, own)};
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::uint32_t> LongestCompletion(const TermStore& store, TermId id) {
  constexpr int kMaxVisits = 500;
  int visits = kMaxVisits;
  const std::optional<Completion> completion = CompletionOf(store, id, &visits);
  return completion.has_value() ? std::optional(completion->any) : std::nullopt;
}

}  // namespace

void MaskMaker::MarkRead(TermId state) {
  lowest_floor_ = std::min(lowest_floor_, automaton_->term(state).floor);
}

MaskRef MaskMaker::MaskOf(TermId state) {
  return automaton_->TextMask(state, *work_, &lowest_floor_, depth_ + 1);
}

void MaskMaker::MergeMaskOf(TermId state, TokenMask* mask) {
  const MaskRef other = MaskOf(state);
  if (other != nullptr) mask->Merge(*other);
}

MaskMaker::Parts MaskMaker::PartsOf(TermId state) const {
  const Term& term = automaton_->term(state);
  return term.kind == TermKind::kCat ? Parts{term.a, term.b} : Parts{state, kEmptyTerm};
}

TokenMask MaskMaker::Make(TermId state, Route route) {
  TokenMask mask(masks_->index().vocabulary().size());
  MarkRead(state);
  automaton_->AddNamedTokens(state, &mask);
  if (route == Route::kCheapest && depth_ < kMaxDepth && MakeByForm(state, &mask)) return mask;
  MakeByWalkOrClosure(state, route, &mask);
  return mask;
}

bool MaskMaker::MakeByForm(TermId state, TokenMask* mask) {
  const Parts parts = PartsOf(state);
  switch (automaton_->term(parts.cell).kind) {
    case TermKind::kAlt:
      return MakeByChoice(parts, mask) || MakeByHead(parts, mask);
    case TermKind::kEncode:
      return MakeByNames(parts, mask) || MakeByOthers(parts, mask) ||
             MakeByLength(state, parts, mask) || MakeByCounts(parts, mask) ||
             MakeByExits(state, parts, mask);
    case TermKind::kNumber:
      return MakeByHead(parts, mask);
    case TermKind::kRepeat:
      return MakeByRuns(state, parts, mask) || MakeByHead(parts, mask);
    default:
      return false;
  }
}

bool MaskMaker::MakeByChoice(const Parts& parts, TokenMask* mask) {
  const TermStore& store = automaton_->store();
  const std::span<const TermId> branches = store.list(store.term(parts.cell).a);
  if (branches.size() > kMaxBranches) return false;
  for (const TermId branch : branches) MergeMaskOf(automaton_->Join(branch, parts.tail), mask);
  return true;
}

// Names are walked as texts; only what stands behind a whole name and its quote is a state.
bool MaskMaker::MakeByNames(const Parts& parts, TokenMask* mask) {
  const Term& cell = automaton_->term(parts.cell);
  if (cell.c == kNoObject || PartialChar::Unpack(cell.b).phase != CharPhase::kStart ||
      automaton_->term(cell.a).kind != TermKind::kNameSet) {
    return false;
  }
  const ObjectTerms::NameTexts names = automaton_->NamesOf(parts.cell, *work_);
  if (!names.list.IsAscii()) return false;
  const TokenTrie& trie = masks_->index().trie();
  std::int32_t* const words = mask->mutable_words().data();
  const auto allow = [&](const TrieNode& node) { trie.AllowTokens(node, words); };
  const std::int64_t visited = WalkTexts(
      trie, names.list, [&](std::size_t i) { allow(trie.nodes()[i]); },
      [&](std::size_t i, std::uint32_t text) {
        const TrieNode quote = trie.nodes()[i];
        const TermId end = automaton_->EndOfName(parts.cell, names.names[text], *work_);
        Path path;
        path[quote.depth - 1] = states_.Enter(automaton_->Join(end, parts.tail));
        WalkNodes(trie, i, i + quote.skip, &path, kAllNodes, allow);
      });
  work_->Spend(1 + visited / kNodesPerUnit);
  const TermId state = automaton_->Join(parts.cell, parts.tail);
  WalkLongTokens(trie, state, mask);
  return true;
}

bool MaskMaker::EndsByQuote(TermId tail) const {
  const Term& cell = automaton_->term(PartsOf(tail).cell);
  return cell.kind == TermKind::kByteSet &&
         automaton_->store().byte_set(cell.a) == ByteBits().set('"');
}

// Any string but one of a set, before a quote: a token is cut in one way, at its first quote, so
// the tokens to take away are those that spell a text of the set and then the quote.
bool MaskMaker::MakeByOthers(const Parts& parts, TokenMask* mask) {
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(parts.cell);
  const PartialChar partial = PartialChar::Unpack(cell.b);
  if (cell.c != kNoObject || partial.phase != CharPhase::kStart ||
      partial.spelling != Spelling::kJsonString) {
    return false;
  }
  const Term& both = store.term(cell.a);
  if (both.kind != TermKind::kAnd || store.list(both.a).size() != 2) return false;
  TermId all = store.list(both.a)[0];
  TermId none = store.list(both.a)[1];
  if (store.term(all).kind == TermKind::kNot) std::swap(all, none);
  const Term& repeat = store.term(all);
  if (repeat.kind != TermKind::kRepeat || repeat.b != 0 || repeat.c != kUnbounded ||
      store.term(repeat.a).kind != TermKind::kCharSet || store.term(none).kind != TermKind::kNot) {
    return false;
  }
  const Term& set = store.term(store.term(none).a);
  if (set.kind != TermKind::kTextSet) return false;
  TextList texts = {.depth = set.d};
  for (std::uint32_t i = set.b; i < set.c; ++i) {
    texts.texts.push_back(&store.text_set(set.a)[i]);
  }
  if (!texts.IsAscii() || !EndsByQuote(parts.tail)) return false;

  const TermId free = automaton_->Encoded(all, Spelling::kJsonString, parts.tail);
  MergeMaskOf(free, mask);
  const TokenTrie& trie = masks_->index().trie();
  const std::int64_t visited = WalkTexts(
      trie, texts, [](std::size_t) {},
      [&](std::size_t i, std::uint32_t) {
        const std::span<const TrieNode> nodes = trie.nodes();
        for (std::size_t n = i; n < i + nodes[i].skip; ++n) {
          if (nodes[n].token == TokenTrie::kNoToken) continue;
          trie.VisitTokens(nodes[n], [&](TokenId id) { mask->Forbid(id); });
        }
      });
  work_->Spend(1 + visited / kNodesPerUnit);
  for (const TokenId id : trie.long_tokens()) mask->Forbid(id);
  WalkLongTokens(trie, automaton_->Join(parts.cell, parts.tail), mask);
  return true;
}

bool MaskMaker::MakeByLength(TermId state, const Parts& parts, TokenMask* mask) {
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(parts.cell);
  const PartialChar partial = PartialChar::Unpack(cell.b);
  if (cell.c != kNoObject || partial.phase != CharPhase::kStart ||
      store.term(cell.a).kind != TermKind::kAnd) {
    return false;
  }
  const auto reach = static_cast<std::uint32_t>(masks_->index().vocabulary().max_token_bytes());
  for (const TermId part : store.list(store.term(cell.a).a)) {
    const Term& length = store.term(part);
    if (length.kind != TermKind::kRepeat || length.b != 0 || length.c == kUnbounded ||
        !store.IsAnyChar(length.a)) {
      continue;
    }
    const TermId pattern = automaton_->Without(cell.a, part);
    const std::optional<std::uint32_t> completion = LongestCompletion(store, pattern);
    if (!completion.has_value() || length.c < SaturatingAdd(*completion, kFewChars)) continue;
    const TermId free = automaton_->Encoded(pattern, partial.spelling, parts.tail);
    if (length.c >= SaturatingAdd(*completion, reach)) {
      MergeMaskOf(free, mask);
      return true;
    }
    // A token of fewer characters leaves room for whatever completes the pattern.
    const MaskRef all = MaskOf(free);
    if (all == nullptr) return true;
    const int sure = static_cast<int>(length.c - *completion);
    const CharacterClass within = {AsciiBits().set(), /*beyond_ascii=*/true, sure};
    TokenMask allowed = *masks_->TokensWithin(within);
    AndInto(allowed.mutable_words(), all->words());
    mask->Merge(allowed);
    CandidateClass longer;
    longer.ill_formed = true;
    longer.longer_than = sure;
    Walk(*masks_->TrieOf(longer), state, kAllNodes, mask);
    return true;
  }
  return false;
}

bool MaskMaker::MakeByCounts(const Parts& parts, TokenMask* mask) {
  const Term& cell = automaton_->term(parts.cell);
  const PartialChar partial = PartialChar::Unpack(cell.b);
  if (cell.c != kNoObject || partial.phase != CharPhase::kStart) return false;
  const std::optional<CountBounds> bounds = automaton_->BoundsOf(cell.a);
  if (!bounds.has_value()) return false;
  const MaskRef more = MaskOf(automaton_->Encoded(bounds->more, partial.spelling, parts.tail));
  if (more == nullptr) return true;
  const MaskRef fewer = MaskOf(automaton_->Encoded(bounds->fewer, partial.spelling, parts.tail));
  if (fewer == nullptr) return true;
  if (*more != *fewer) return false;
  mask->Merge(*more);
  return true;
}

bool MaskMaker::MakeByRuns(TermId state, const Parts& parts, TokenMask* mask) {
  const TermStore& store = automaton_->store();
  const Term& repeat = store.term(parts.cell);
  if (store.term(repeat.a).kind != TermKind::kByteSet) return false;
  const ByteBits& set = store.byte_set(store.term(repeat.a).a);
  if (set.count() > kMaxRunBytes) return false;
  const auto runs = masks_->RunsOf(set);
  const std::uint32_t fewest = repeat.b;
  const std::uint32_t most = repeat.c;
  for (const RunToken& token : runs->whole()) {
    if (static_cast<std::uint32_t>(token.run) <= most) mask->Allow(token.id);
  }
  const TokenTrie& trie = masks_->index().trie();
  if (parts.tail != kEmptyTerm) {
    if (fewest == 0) MergeMaskOf(parts.tail, mask);
    const TokenTrie& rests = runs->rests();
    Path path;
    path[0] = states_.Enter(parts.tail);
    WalkNodes(rests, 0, rests.nodes().size(), &path, kAllNodes, [&](const TrieNode& node) {
      if (node.token == TokenTrie::kNoToken) return;
      rests.VisitTokens(node, [&](TokenId index) {
        const RunToken& cut = runs->cut(index);
        const auto run = static_cast<std::uint32_t>(cut.run);
        if (run >= fewest && run <= most) mask->Allow(cut.id);
      });
    });
  }
  WalkLongTokens(trie, state, mask);
  return true;
}

bool MaskMaker::MakeByHead(const Parts& parts, TokenMask* mask) {
  if (!automaton_->term(parts.cell).nullable || parts.tail == kEmptyTerm) return false;
  const TokenTrie& trie = masks_->index().trie();
  const std::span<const TrieNode> nodes = trie.nodes();
  TokenMask begins(masks_->index().vocabulary().size());
  std::int32_t* const words = begins.mutable_words().data();
  std::int64_t left = kNarrowNodes;
  for (std::size_t i = 0; i < nodes.size(); i += nodes[i].skip) {
    const auto byte = static_cast<unsigned char>(nodes[i].byte);
    const TermId next = automaton_->Step(parts.cell, byte, *work_);
    if (next == kNothingTerm) continue;
    if (next == kFailedTerm) return true;
    left -= nodes[i].skip;
    if (left < 0) return false;
    Path path;
    path[1] = states_.Enter(automaton_->Join(next, parts.tail));
    const auto allow = [&](const TrieNode& node) { trie.AllowTokens(node, words); };
    allow(nodes[i]);
    WalkNodes(trie, i + 1, i + nodes[i].skip, &path, kAllNodes, allow);
  }
  mask->Merge(begins);
  MergeMaskOf(parts.tail, mask);
  WalkLongTokens(trie, automaton_->Join(parts.cell, parts.tail), mask);
  return true;
}

// A string of bounded length has a cell of its own for each length left, with exits of their own,
// and of a narrow cell a walk is quickly done.
bool MaskMaker::IsWorthExits(TermId cell_id) {
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(cell_id);
  if (cell.c != kNoObject || PartialChar::Unpack(cell.b).phase != CharPhase::kStart) return false;
  const Term& text = store.term(cell.a);
  if (text.kind == TermKind::kRepeat && store.term(text.a).kind == TermKind::kCharSet) {
    return text.b == 0 && text.c == kUnbounded;
  }
  return CountTaken(cell_id) >= kWideState;
}

int MaskMaker::CountTaken(TermId state) {
  int taken = 0;
  for (int byte = 0; byte < kAsciiEnd; ++byte) {
    const TermId next = automaton_->Step(state, static_cast<unsigned char>(byte), *work_);
    if (next != kNothingTerm && next != kFailedTerm) ++taken;
  }
  return taken;
}

// Not for a tail that can begin with a byte beyond ASCII, whose exits are not indexed.
bool MaskMaker::MakeByExits(TermId state, const Parts& parts, TokenMask* mask) {
  if (parts.tail == kEmptyTerm || !IsWorthExits(parts.cell)) return false;
  for (int byte = kAsciiEnd; byte < 256; ++byte) {
    const TermId next = automaton_->Step(parts.tail, static_cast<unsigned char>(byte), *work_);
    if (next != kNothingTerm) return false;
  }
  MergeMaskOf(parts.cell, mask);
  for (int byte = 0; byte < kAsciiEnd; ++byte) {
    const TermId next = automaton_->Step(parts.tail, static_cast<unsigned char>(byte), *work_);
    if (next == kNothingTerm) continue;
    if (next == kFailedTerm) return true;
    const auto exits = ExitsOf(parts.cell, static_cast<unsigned char>(byte));
    if (exits == nullptr) return true;
    for (const TokenId id : exits->ends) mask->Allow(id);
    Walk(exits->rests, next, kAllNodes, mask);
  }
  MarkRead(parts.tail);
  WalkLongTokens(masks_->index().trie(), state, mask);
  return true;
}

std::shared_ptr<const Exits> MaskMaker::ExitsOf(TermId cell, unsigned char byte) {
  const Hash128 key = Mix(automaton_->term(cell).key, byte);
  if (auto known = masks_->FindExits(key); known != nullptr) return known;
  std::vector<TokenId> ends;
  std::vector<TokenTrie::Entry> rests;
  for (const TokenId id : masks_->index().TokensHolding(byte)) {
    const absl::string_view bytes = masks_->index().vocabulary().TokenBytes(id);
    if (bytes.size() > TokenTrie::kMaxDepth) continue;  // MakeByExits tries long tokens whole
    TermId at = cell;
    for (std::size_t i = 0; i < bytes.size() && at != kNothingTerm; ++i) {
      const auto next_byte = static_cast<unsigned char>(bytes[i]);
      if (next_byte == byte && automaton_->MayEnd(at)) {
        if (i + 1 == bytes.size()) {
          ends.push_back(id);
        } else {
          rests.push_back({bytes.substr(i + 1), id});
        }
      }
      at = automaton_->Step(at, next_byte, *work_);
      if (at == kFailedTerm) return nullptr;
    }
  }
  std::sort(rests.begin(), rests.end(), [](const TokenTrie::Entry& x, const TokenTrie::Entry& y) {
    return x.bytes != y.bytes ? x.bytes < y.bytes : x.id < y.id;
  });
  auto exits = std::make_shared<const Exits>(Exits{std::move(ends), TokenTrie(rests)});
  masks_->PutExits(key, exits);
  return exits;
}

void MaskMaker::MakeByWalkOrClosure(TermId state, Route route, TokenMask* mask) {
  const TokenTrie& all = masks_->index().trie();
  if (route == Route::kWalk) {
    Walk(all, state, kAllNodes, mask);
    return;
  }
  std::optional<Closure> closure = FindStructuralClosure(automaton_, state, *work_);
  if (!closure.has_value()) {
    if (route == Route::kCheapest && CountTaken(state) < kWideState &&
        Walk(all, state, kNarrowNodes, mask)) {
      return;
    }
    closure = FindClosure(automaton_, state, *work_);
  }
  if (!work_->ok()) return;
  lowest_floor_ = std::min(lowest_floor_, closure->lowest_floor);
  mask->Merge(*masks_->TokensWithin(closure->characters));
  Walk(*masks_->TrieOf(closure->candidates), state, kAllNodes, mask);
}

template <typename Allow>
bool MaskMaker::WalkNodes(const TokenTrie& trie, std::size_t begin, std::size_t end, Path* path,
                          std::int64_t max_nodes, Allow allow) {
  const std::span<const TrieNode> nodes = trie.nodes();
  if (begin == end || (*path)[nodes[begin].depth - 1] <= WalkStates::kFailed) return true;
  std::int64_t visited = 0;
  for (std::size_t i = begin; i < end; ++visited) {
    if (visited == max_nodes) return false;
    if (visited % kNodesPerUnit == 0 && !work_->Spend()) return true;
    const TrieNode node = nodes[i];
    const WalkStates::State next =
        states_.Step((*path)[node.depth - 1], static_cast<unsigned char>(node.byte));
    if (next == WalkStates::kDead) {
      i += node.skip;
      continue;
    }
    if (next == WalkStates::kFailed) return true;
    allow(node);
    (*path)[node.depth] = next;
    ++i;
  }
  return true;
}

bool MaskMaker::Walk(const TokenTrie& trie, TermId state, std::int64_t max_nodes, TokenMask* mask) {
  Path path;
  path[0] = states_.Enter(state);
  std::int32_t* const words = mask->mutable_words().data();
  const auto allow = [&](const TrieNode& node) { trie.AllowTokens(node, words); };
  if (!WalkNodes(trie, 0, trie.nodes().size(), &path, max_nodes, allow)) return false;
  WalkLongTokens(trie, state, mask);
  return true;
}

void MaskMaker::WalkLongTokens(const TokenTrie& trie, TermId state, TokenMask* mask) {
  for (const TokenId id : trie.long_tokens()) {
    TermId at = state;
    for (const unsigned char byte : masks_->index().vocabulary().TokenBytes(id)) {
      MarkRead(at);
      at = automaton_->Step(at, byte, *work_);
      if (at == kFailedTerm) return;
      if (at == kNothingTerm) break;
    }
    if (at != kNothingTerm) mask->Allow(id);
  }
}

namespace {

constexpr std::uint64_t kEndOfText = 0x656E64;

// Calls visit(chain key, cells below it) for each cell in order, and for the end of the text (with
// kNoEnd for the cells), until it returns false.
template <typename Visit>
void VisitChain(const TermStore& store, TermId state, Visit visit) {
  Hash128 chain;
  for (bool more = true; more;) {
    const Term& term = store.term(state);
    more = term.kind == TermKind::kCat;
    const Hash128& cell = more ? store.term(term.a).key : term.key;
    chain = Mix(chain, cell);
    if (!visit(chain, more ? store.term(term.b).cells : 0)) return;
    state = term.b;
  }
  visit(Mix(chain, kEndOfText), kNoEnd);
}

}  // namespace

MaskRef CellChain::Find(MaskStore* masks, std::uint32_t* floor) const {
  MaskRef found;
  VisitChain(store_, state_, [&](const Hash128& chain, std::uint32_t below) {
    MaskStore::Known known = masks->Find(chain);
    found = std::move(known.mask);
    // The last cell alone, or with the end of the text behind it: more than no cell, or less.
    if (found != nullptr) *floor = std::min(*floor, below == 0 ? 1 : below == kNoEnd ? 0 : below);
    return known.deeper;
  });
  return found;
}

void CellChain::Settle(MaskStore* masks, std::uint32_t floor, const MaskRef& mask) const {
  VisitChain(store_, state_, [&](const Hash128& chain, std::uint32_t below) {
    const bool settles = below == kNoEnd || (below <= floor && floor > 0);
    masks->Settle(chain, settles ? mask : nullptr);
    return !settles;
  });
}

}  // namespace maskd
