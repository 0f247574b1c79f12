#include "grammar_core/automaton/mask_maker.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/closure.h"

namespace maskd {
namespace {

constexpr std::int64_t kAllNodes = std::numeric_limits<std::int64_t>::max();
constexpr int kAsciiEnd = 128;
// A walk that visits more trie nodes than this is given up for a closure, whose analysis costs
// about as much.
constexpr std::int64_t kNarrowNodes = 10'000;
// Trie nodes a unit of work stands for: a known transition takes 2 ns, a new one some hundred.
constexpr std::int64_t kNodesPerUnit = 64;

}  // namespace

void MaskMaker::MarkRead(TermId state) {
  lowest_floor_ = std::min(lowest_floor_, automaton_->term(state).floor);
}

TokenMask MaskMaker::Make(TermId state, Route route) {
  TokenMask mask(masks_->index().vocabulary().size());
  MarkRead(state);
  automaton_->AddNamedTokens(state, &mask);
  const TokenTrie& all = masks_->index().trie();
  if (route == Route::kWalk) {
    Walk(all, state, kAllNodes, &mask);
    return mask;
  }
  if (route != Route::kClosure && HasExits(state) && MakeByExits(state, &mask)) return mask;
  std::optional<Closure> closure = FindStructuralClosure(automaton_, state, *work_);
  if (!closure.has_value()) {
    if (route == Route::kCheapest && Walk(all, state, kNarrowNodes, &mask)) return mask;
    closure = FindClosure(automaton_, state, *work_);
  }
  if (!work_->ok()) return mask;
  lowest_floor_ = std::min(lowest_floor_, closure->lowest_floor);
  mask.Merge(*masks_->TokensWithin(closure->characters));
  Walk(*masks_->TrieOf(closure->candidates), state, kAllNodes, &mask);
  return mask;
}

// Whether `state` is a free string before a tail. A string of bounded length would do as well, but
// has a cell of its own for each length left, with exits of their own.
bool MaskMaker::HasExits(TermId state) const {
  const TermStore& store = automaton_->store();
  const Term& whole = store.term(state);
  if (whole.kind != TermKind::kCat) return false;
  const Term& cell = store.term(whole.a);
  if (cell.kind != TermKind::kEncode || cell.c != kNoObject) return false;
  const Term& repeat = store.term(cell.a);
  return PartialChar::Unpack(cell.b).phase == CharPhase::kStart &&
         repeat.kind == TermKind::kRepeat && repeat.b == 0 && repeat.c == kUnbounded &&
         store.term(repeat.a).kind == TermKind::kCharSet;
}

bool MaskMaker::MakeByExits(TermId state, TokenMask* mask) {
  const Term& whole = automaton_->term(state);
  const MaskRef inside = automaton_->TextMask(whole.a, *work_);
  if (inside == nullptr) return true;
  mask->Merge(*inside);
  for (int byte = 0; byte < 256; ++byte) {
    const TermId next = automaton_->Step(whole.b, static_cast<unsigned char>(byte), *work_);
    if (next == kNothingTerm) continue;
    if (next == kFailedTerm) return true;
    if (byte >= kAsciiEnd) return false;
    MarkRead(next);
    const auto exits = ExitsOf(whole.a, static_cast<unsigned char>(byte));
    if (exits == nullptr) return true;
    for (const TokenId id : exits->ends) mask->Allow(id);
    Walk(exits->rests, next, kAllNodes, mask);
  }
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

bool MaskMaker::Walk(const TokenTrie& trie, TermId state, std::int64_t max_nodes, TokenMask* mask) {
  std::array<TermId, TokenTrie::kMaxDepth + 1> path;  // path[d]: the state after d bytes
  path[0] = state;
  const std::span<const TrieNode> nodes = trie.nodes();
  std::int64_t visited = 0;
  for (std::size_t i = 0; i < nodes.size(); ++visited) {
    if (visited == max_nodes) return false;
    if (visited % kNodesPerUnit == 0 && !work_->Spend()) return true;
    const TrieNode node = nodes[i];
    const TermId next =
        automaton_->Step(path[node.depth - 1], static_cast<unsigned char>(node.byte), *work_);
    if (next == kNothingTerm) {
      i += node.skip;
      continue;
    }
    if (next == kFailedTerm) return true;
    if (node.token != TokenTrie::kNoToken) {
      trie.VisitTokens(node, [&](TokenId id) { mask->Allow(id); });
    }
    if (node.skip > 1) MarkRead(next);
    path[node.depth] = next;
    ++i;
  }
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

// Calls visit(chain key) for each cell in order, and for the end of the text, until it returns
// false.
template <typename Visit>
void VisitChain(const TermStore& store, TermId state, Visit visit) {
  Hash128 chain;
  for (bool more = true; more;) {
    const Term& term = store.term(state);
    more = term.kind == TermKind::kCat;
    const Hash128& cell = more ? store.term(term.a).key : term.key;
    chain = Mix(chain, cell);
    if (!visit(chain)) return;
    state = term.b;
  }
  visit(Mix(chain, kEndOfText));
}

}  // namespace

MaskRef CellChain::Find(MaskStore* masks) const {
  MaskRef found;
  VisitChain(store_, state_, [&](const Hash128& chain) {
    MaskStore::Known known = masks->Find(chain);
    found = std::move(known.mask);
    return known.deeper;
  });
  return found;
}

void CellChain::Settle(MaskStore* masks, std::uint32_t floor, const MaskRef& mask) const {
  const std::uint32_t cells = store_.term(state_).cells;
  std::uint32_t read = floor == 0 ? cells + 1 : cells - std::min(floor, cells - 1);
  VisitChain(store_, state_, [&](const Hash128& chain) {
    masks->Settle(chain, --read == 0 ? mask : nullptr);
    return read > 0;
  });
}

}  // namespace maskd
