// The cells of a state are read up to the first that surely ends by a brace, a bracket or a quote.
// Behind it stands a walk of the texts that tokens hold after that byte: which of them the tail
// takes is hashed, by their places in the trie, and that is the signature.
//
// Where that tail begins with a string of any characters, it takes nearly all of those texts: the
// string's key and the signature behind its quote stand for them, and no such walk is made.
//
// Invariant  equal keys have equal masks: a cell that is passed may be empty, one that is the end
//            may not, as a token could otherwise go around it.
// Cost       one walk of some hundred texts for each new tail, then a look-up in the store.
#include "grammar_core/mask_routes/tail_signatures.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>

#include "absl/strings/match.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/mask_routes/cell_chain.h"
#include "grammar_core/mask_routes/walk_states.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

constexpr std::uint64_t kCut = 0x637574;
constexpr std::uint64_t kSignature = 0x7461696C;
constexpr std::uint64_t kPassed = 0x70617373;
// An end further down is not looked for.
constexpr int kMaxCells = 8;
constexpr std::size_t kMaxBranches = 8;
constexpr std::int64_t kNodesPerUnit = 64;

bool IsEnd(unsigned char byte) { return absl::StrContains(kEndBytes, static_cast<char>(byte)); }

}  // namespace

unsigned char TailSignatures::LastByte(TermId cell) const {
  if (store_->term(cell).kind != TermKind::kAlt) return LastByteOfSpine(cell);
  const auto branches = BranchesOf(*store_, store_->term(cell));
  assert(!branches.empty() && "a choice of nothing is Nothing");
  const unsigned char last = LastByteOfSpine(branches.front());
  const bool all =
      branches.size() <= kMaxBranches &&
      std::ranges::all_of(branches, [&](TermId branch) { return LastByteOfSpine(branch) == last; });
  return all ? last : 0;
}

unsigned char TailSignatures::LastByteOfSpine(TermId spine) const {
  TermId last = spine;
  while (store_->term(last).kind == TermKind::kCat) last = AsCat(store_->term(last)).tail;
  const Term& term = store_->term(last);
  switch (term.kind) {
    case TermKind::kObject:
      return static_cast<unsigned char>(store_->object(AsObject(term).object).close());
    case TermKind::kEncode:
      return IsOfNames(term)
                 ? static_cast<unsigned char>(store_->object(AsEncode(term).object).close())
                 : 0;
    case TermKind::kDistinct:
      return AsDistinct(term).close;
    case TermKind::kBytes: {
      const auto byte = static_cast<unsigned char>(RestOfBytes(*store_, term).back());
      return IsEnd(byte) ? byte : 0;
    }
    case TermKind::kByteSet: {
      const ByteBits& set = BytesOf(*store_, term);
      const auto byte = static_cast<unsigned char>(set._Find_first());
      return set.count() == 1 && IsEnd(byte) ? byte : 0;
    }
    default:
      return 0;
  }
}

bool TailSignatures::IsAnyString(TermId cell_id) const {
  const Term& cell = store_->term(cell_id);
  if (!IsBetweenCharacters(cell) || IsOfNames(cell)) return false;
  const Term& text = store_->term(AsEncode(cell).characters);
  if (!IsRepeatOfSet(*store_, text)) return false;
  const auto any = AsRepeat<CharTerm>(text);
  return any.min == 0 && any.max == kUnbounded;
}

std::optional<TailSignatures::StateKey> TailSignatures::KeyOf(TermId state, Work& work) {
  return KeyOf(state, work, /*may_pass=*/true);
}

std::optional<TailSignatures::StateKey> TailSignatures::KeyOf(TermId state, Work& work,
                                                              bool may_pass) {
  Hash128 key;
  TermId rest = state;
  for (int i = 0; i < kMaxCells; ++i) {
    const auto [cell, behind] = store_->PartsOf(rest);
    key = Mix(key, store_->KeyOf(cell));
    const unsigned char last = LastByte(cell);
    if (last != 0 && !store_->term(cell).nullable) {
      const std::optional<Signature> tail = SignatureOf(behind, last, work, may_pass);
      if (!tail.has_value()) return std::nullopt;
      return StateKey{Mix(Mix(Mix(key, kCut), last), tail->texts), tail->floor};
    }
    // Nothing ends the cells so far in a way that all tokens see: the key is that of the cells.
    if (behind == kEmptyTerm) break;
    rest = behind;
  }
  return std::nullopt;
}

std::optional<TailSignatures::Signature> TailSignatures::SignatureOf(TermId tail,
                                                                     unsigned char last, Work& work,
                                                                     bool may_pass) {
  // A string of any characters takes nearly all texts. What it takes is told by its own key and by
  // what follows its quote, which other states are asked for too.
  if (may_pass && IsAnyString(store_->PartsOf(tail).cell)) {
    if (const std::optional<StateKey> key = KeyOf(tail, work, false); key.has_value())
      return Signature{Mix(key->key, kPassed), key->floor};
  }
  CellChain chain(*store_, tail, Mix(Mix(Hash128{}, kSignature), last));
  std::uint32_t floor = kNoEnd;
  if (const auto known = chain.FindSignature(masks_, &floor); known.has_value())
    return Signature{*known, floor};
  const std::optional<Signature> made = MakeSignature(tail, last, work);
  if (made.has_value()) chain.SettleSignature(masks_, made->floor, made->texts);
  return made;
}

std::optional<TailSignatures::Signature> TailSignatures::MakeSignature(TermId tail,
                                                                       unsigned char last,
                                                                       Work& work) {
  const TokenTrie& texts = masks_->index().TextsAfter(last);
  // Tokens too long for a trie are not in it.
  if (!texts.long_tokens().empty()) return std::nullopt;
  const std::span<const TrieNode> nodes = texts.nodes();
  WalkStates states(automaton_, &work);
  std::array<WalkStates::State, TokenTrie::kMaxDepth + 1> path;
  path[0] = states.Enter(tail);
  Hash128 taken;
  std::int64_t visited = 0;
  for (std::size_t i = 0; i < nodes.size(); ++visited) {
    if (visited % kNodesPerUnit == 0 && !work.Spend()) return std::nullopt;
    const TrieNode node = nodes[i];
    const WalkStates::State next =
        states.Step(path[node.depth - 1], static_cast<unsigned char>(node.byte));
    if (next == WalkStates::kFailed) return std::nullopt;
    if (next == WalkStates::kDead) {
      i += node.skip;
      continue;
    }
    assert(node.depth < path.size());
    if (node.skip > WalkStates::kManyBelow) states.Narrow(next);
    path[node.depth] = next;
    taken = Mix(taken, i);
    ++i;
  }
  // What the walk has read of the tail is what the signature depends on.
  return Signature{taken, std::min(states.lowest_floor(), store_->term(tail).floor())};
}

}  // namespace maskd
