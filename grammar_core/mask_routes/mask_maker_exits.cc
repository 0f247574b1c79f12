// The routes of MaskMaker for wide strings and numbers before a tail.
//
// Nearly all tokens of a wide string stay within it, and which those are depends on the string
// alone: its mask is shared by all states that begin with it. What depends on the tail are the
// tokens that leave the string. They are gathered once for the string and the byte that ends it,
// cut behind that byte, and for each tail only those rests are walked.
//
// Invariant  a token that has several cuts is a rest of each: it is allowed by any of them.
// Cost       the first time a string is met, the tokens that hold the byte; after that the rests,
//            a few thousand nodes, for each new tail.
#include <cassert>

#include "absl/strings/match.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/mask_routes/mask_maker.h"
#include "grammar_core/terms/number_terms.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

constexpr int kAsciiEnd = 128;

}  // namespace

// A string of bounded length has a cell of its own for each length that is near, with exits of
// their own, and of a narrow cell a walk is quickly done.
bool MaskMaker::IsWorthExits(TermId cell_id) {
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(cell_id);
  if (!IsBetweenCharacters(cell)) return false;
  // A text that is given is left by one byte in each place: a walk is shorter.
  const Term& text = store.term(AsEncode(cell).characters);
  if (text.kind == TermKind::kText || text.kind == TermKind::kTextSet) return false;
  if (IsRepeatOfSet(store, text)) {
    const auto reach = static_cast<std::uint32_t>(masks_->index().vocabulary().max_token_bytes());
    return AsRepeat<CharTerm>(text).min == 0 && AsRepeat<CharTerm>(text).max > reach;
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
bool MaskMaker::MakeByExits(TermId state, MaskBuilder* mask) {
  const auto [text, tail] = PartsOf(state);
  if (tail == kEmptyTerm || !IsWorthExits(text)) return false;
  const WalkStates::State behind = states_.Enter(tail);
  if (behind == WalkStates::kFailed) return false;
  for (int byte = kAsciiEnd; byte < 256; ++byte)
    if (states_.Step(behind, static_cast<unsigned char>(byte)) != WalkStates::kDead) return false;
  // The string's mask is one of the string without its tail, so its floor says nothing of `state`.
  std::uint32_t its_own_floor = kNoEnd;
  mask->Merge(others_->TextMask(text, *work_, &its_own_floor, depth_ + 1));
  for (int byte = 0; byte < kAsciiEnd; ++byte) {
    const WalkStates::State next = states_.Step(behind, static_cast<unsigned char>(byte));
    if (next == WalkStates::kDead) continue;
    if (next == WalkStates::kFailed) return true;
    const auto exits = ExitsOf(text, static_cast<unsigned char>(byte));
    if (exits == nullptr) return true;
    for (const TokenId id : exits->ends) mask->Allow(id);
    const TokenTrie& rests = exits->rests;
    assert(rests.long_tokens().empty() && "long tokens are tried whole");
    Path path;
    path[0] = next;
    WalkAll(rests, &path, kAllNodes, [&](const TrieNode& node) { mask->AllowTokens(rests, node); });
  }
  MarkRead(tail);
  WalkLongTokens(masks_->index().trie(), state, mask);
  return true;
}

std::shared_ptr<const Exits> MaskMaker::ExitsOf(TermId text, unsigned char byte) {
  const Hash128 key = Mix(automaton_->store().KeyOf(text), byte);
  if (auto known = masks_->FindExits(key); known != nullptr) return known;
  std::vector<TokenId> ends;
  std::vector<TokenTrie::Entry> rests;
  constexpr std::int64_t kTokensPerUnit = 4;
  std::int64_t tokens = 0;
  for (const TokenId id : masks_->index().TokensHolding(byte)) {
    const absl::string_view bytes = masks_->index().vocabulary().TokenBytes(id);
    if (++tokens % kTokensPerUnit == 0 && !work_->Spend()) return nullptr;
    if (bytes.size() > TokenTrie::kMaxDepth) continue;  // MakeByExits tries long tokens whole
    TermId at = text;
    for (std::size_t i = 0; i < bytes.size() && at != kNothingTerm; ++i) {
      const auto next_byte = static_cast<unsigned char>(bytes[i]);
      // Each place where the string may end by this byte is a cut; the string may also go on over
      // it.
      if (next_byte == byte && automaton_->MayEnd(at)) {
        if (i + 1 == bytes.size())
          ends.push_back(id);
        else
          rests.push_back({bytes.substr(i + 1), id});
      }
      at = automaton_->Step(at, next_byte, *work_);
      if (at == kFailedTerm) return nullptr;
    }
  }
  // Another thread may have put the same meanwhile; either is right.
  auto exits = std::make_shared<const Exits>(Exits{std::move(ends), TokenTrie::OfUnsorted(&rests)});
  masks_->PutExits(key, exits);
  return exits;
}

// Not for a tail that can begin as a number goes on.
bool MaskMaker::MakeByEnds(const Parts& parts, MaskBuilder* mask) {
  if (parts.tail == kEmptyTerm) return false;
  const WalkStates::State tail = states_.Enter(parts.tail);
  if (tail == WalkStates::kFailed) return false;
  for (const char byte : kNumberBytes)
    if (states_.Step(tail, static_cast<unsigned char>(byte)) != WalkStates::kDead) return false;
  // Where no token goes on behind a digit with what no number has, none is cut.
  const bool is_cut = !masks_->index().digits_are_alone();
  const auto exits = is_cut ? EndsOf(parts.cell) : nullptr;
  if (is_cut && exits == nullptr) return true;
  std::uint32_t its_own_floor = kNoEnd;
  mask->Merge(others_->TextMask(parts.cell, *work_, &its_own_floor, depth_ + 1));
  // A number that has ended already may be followed by the tail at once.
  if (automaton_->store().term(parts.cell).nullable) MergeMaskOf(parts.tail, mask);
  MarkRead(parts.tail);
  if (is_cut) Walk(exits->rests, parts.tail, kAllNodes, mask);
  WalkLongTokens(masks_->index().trie(), StateTerms(*automaton_).Join(parts.cell, parts.tail),
                 mask);
  return true;
}

// The tokens that begin with a whole number of `cell`, by what comes after it; null if `work`
// failed.
std::shared_ptr<const Exits> MaskMaker::EndsOf(TermId cell) {
  constexpr std::uint64_t kAnyEnd = 0x616E79;
  const Hash128 key = Mix(automaton_->store().KeyOf(cell), kAnyEnd);
  if (auto known = masks_->FindExits(key); known != nullptr) return known;
  const std::span<const TrieNode> nodes = masks_->index().trie().nodes();
  std::vector<TokenTrie::Entry> rests;
  std::array<TermId, TokenTrie::kMaxDepth + 1> path;
  path[0] = cell;
  std::int64_t visited = 0;
  for (std::size_t i = 0; i < nodes.size(); ++visited) {
    if (visited % kNodesPerUnit == 0 && !work_->Spend()) return nullptr;
    const TrieNode node = nodes[i];
    const TermId next =
        automaton_->Step(path[node.depth - 1], static_cast<unsigned char>(node.byte), *work_);
    if (next == kFailedTerm) return nullptr;
    assert(node.depth < path.size() && "deeper than the trie is made");
    path[node.depth] = next;
    if (next != kNothingTerm && automaton_->MayEnd(next)) AddRests(i, &rests);
    i += next == kNothingTerm ? node.skip : 1;
  }
  auto exits = std::make_shared<const Exits>(Exits{{}, TokenTrie::OfUnsorted(&rests)});
  masks_->PutExits(key, exits);
  return exits;
}

void MaskMaker::AddRests(std::size_t end, std::vector<TokenTrie::Entry>* rests) const {
  const TokenTrie& trie = masks_->index().trie();
  const std::span<const TrieNode> nodes = trie.nodes();
  assert(end < nodes.size());
  const TrieNode node = nodes[end];
  for (std::size_t n = end + 1; n < end + node.skip;) {
    // A byte that could go on with the number is no end: the longer number has rests of its own.
    const bool goes_on = nodes[n].depth == node.depth + 1 &&
                         absl::StrContains(kNumberBytes, static_cast<char>(nodes[n].byte));
    if (!goes_on && nodes[n].token != TokenTrie::kNoToken) {
      trie.VisitTokens(nodes[n], [&](TokenId id) {
        rests->push_back({masks_->index().vocabulary().TokenBytes(id).substr(node.depth), id});
      });
    }
    n += goes_on ? nodes[n].skip : 1;
  }
}

}  // namespace maskd
