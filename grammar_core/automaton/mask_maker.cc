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
// A walk that visits more trie nodes than this is given up for a closure, whose analysis costs about
// as much.
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
  const TokenTrie& all = masks_->index().trie();
  if (route == Route::kWalk) {
    Walk(all, state, kAllNodes, &mask);
    return mask;
  }
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

bool MaskMaker::Walk(const TokenTrie& trie, TermId state, std::int64_t max_nodes,
                     TokenMask* mask) {
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

// Calls visit(chain key) for each cell in order, and for the end of the text, until it returns false.
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
