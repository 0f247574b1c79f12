// The routes of MaskMaker for property names.
#include <algorithm>

#include "absl/container/flat_hash_set.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/mask_maker.h"
#include "grammar_core/automaton/text_walk.h"

namespace maskd {

// Names are walked as texts; only what stands behind a whole name and its quote is a state.
bool MaskMaker::WalkNames(const TokenTrie& trie, std::size_t parent, const Parts& parts,
                          OnNode allow) {
  if (!automaton_->store().IsNames(parts.cell)) return false;
  const ObjectTerms::NameTexts names = automaton_->NamesOf(parts.cell, *work_);
  if (!names.list.IsAscii()) return false;
  const auto on_token = [&](std::size_t i) { allow(trie.nodes()[i]); };
  const auto on_quote = [&](std::size_t i, std::uint32_t text) {
    const TrieNode quote = trie.nodes()[i];
    const TermId end = automaton_->EndOfName(parts.cell, names.names[text], *work_);
    Path path;
    path[quote.depth - 1] = states_.Enter(automaton_->Join(end, parts.tail));
    WalkNodes(trie, i, i + quote.skip, &path, kAllNodes, allow);
  };
  const std::int64_t visited = parent == kRoot
                                   ? WalkTexts(trie, names.list, on_token, on_quote)
                                   : WalkTextsBelow(trie, parent, names.list, on_token, on_quote);
  work_->Spend(1 + visited / kNodesPerUnit);
  return true;
}

bool MaskMaker::MakeByNames(const Parts& parts, MaskBuilder* mask) {
  const TokenTrie& trie = masks_->index().trie();
  const auto allow = [&](const TrieNode& node) { mask->AllowTokens(trie, node); };
  if (!WalkNames(trie, kRoot, parts, allow)) return false;
  WalkLongTokens(trie, automaton_->Join(parts.cell, parts.tail), mask);
  return true;
}

std::optional<MaskMaker::OtherNames> MaskMaker::OtherNamesOf(const Parts& parts) const {
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(parts.cell);
  if (cell.kind != TermKind::kEncode || cell.c != kNoObject) return std::nullopt;
  const PartialChar partial = PartialChar::Unpack(cell.b);
  const Term& both = store.term(cell.a);
  if (partial.phase != CharPhase::kStart || partial.spelling != Spelling::kJsonString ||
      both.kind != TermKind::kAnd || store.list(both.a).size() != 2) {
    return std::nullopt;
  }
  TermId all = store.list(both.a)[0];
  TermId none = store.list(both.a)[1];
  if (store.term(all).kind == TermKind::kNot) std::swap(all, none);
  const Term& repeat = store.term(all);
  if (repeat.kind != TermKind::kRepeat || repeat.b != 0 || repeat.c != kUnbounded ||
      store.term(repeat.a).kind != TermKind::kCharSet || store.term(none).kind != TermKind::kNot) {
    return std::nullopt;
  }
  const Term& set = store.term(store.term(none).a);
  if (set.kind != TermKind::kTextSet) return std::nullopt;
  OtherNames others = {.any = all, .declared = {.depth = set.d}};
  for (std::uint32_t i = set.b; i < set.c; ++i) {
    others.declared.texts.push_back(&store.text_set(set.a)[i]);
  }
  if (!others.declared.IsAscii() || !EndsByQuote(parts.tail)) return std::nullopt;
  return others;
}

bool MaskMaker::EndsByQuote(TermId tail) const {
  const Term& cell = automaton_->term(PartsOf(tail).cell);
  return cell.kind == TermKind::kByteSet &&
         automaton_->store().byte_set(cell.a) == ByteBits().set('"');
}

// A token is cut in one way, at its first quote, so the tokens to take away are those that spell a
// declared name and then the quote.
bool MaskMaker::MakeByOthers(const Parts& parts, MaskBuilder* mask) {
  const std::optional<OtherNames> names = OtherNamesOf(parts);
  if (!names.has_value()) return false;
  MaskBuilder others(masks_);
  MergeMaskOf(automaton_->Encoded(names->any, Spelling::kJsonString, parts.tail), &others);
  const TokenTrie& trie = masks_->index().trie();
  const std::int64_t visited = WalkTexts(
      trie, names->declared, [](std::size_t) {},
      [&](std::size_t i, std::uint32_t) {
        const std::span<const TrieNode> nodes = trie.nodes();
        for (std::size_t n = i; n < i + nodes[i].skip; ++n) {
          if (nodes[n].token == TokenTrie::kNoToken) continue;
          trie.VisitTokens(nodes[n], [&](TokenId id) { others.Forbid(id); });
        }
      });
  work_->Spend(1 + visited / kNodesPerUnit);
  for (const TokenId id : trie.long_tokens()) others.Forbid(id);
  mask->Merge(std::move(others));
  WalkLongTokens(trie, automaton_->Join(parts.cell, parts.tail), mask);
  return true;
}

bool MaskMaker::WalkOthers(const TokenTrie& trie, std::size_t parent, const Parts& parts,
                           OnNode allow) {
  const std::optional<OtherNames> names = OtherNamesOf(parts);
  if (!names.has_value()) return false;
  absl::flat_hash_set<std::uint32_t> declared;  // tokens, as the trie names them
  const std::int64_t visited = WalkTextsBelow(
      trie, parent, names->declared, [](std::size_t) {},
      [&](std::size_t i, std::uint32_t) {
        const std::span<const TrieNode> nodes = trie.nodes();
        for (std::size_t n = i; n < i + nodes[i].skip; ++n) declared.insert(nodes[n].token);
      });
  work_->Spend(1 + visited / kNodesPerUnit);
  const TrieNode node = trie.nodes()[parent];
  Path path;
  path[node.depth] =
      states_.Enter(automaton_->Encoded(names->any, Spelling::kJsonString, parts.tail));
  WalkNodes(trie, parent + 1, parent + node.skip, &path, kAllNodes, [&](const TrieNode& next) {
    if (declared.empty() || !declared.contains(next.token)) allow(next);
  });
  return true;
}

bool MaskMaker::IsBeforeMember(TermId cell) const {
  const Term& object = automaton_->term(cell);
  const auto phase = static_cast<ObjectPhase>(object.c);
  if (object.kind != TermKind::kObject) return false;
  const bool line_first = automaton_->store().object(object.a).is_block();
  return phase == ObjectPhase::kMust || (phase == ObjectPhase::kFirst && !line_first);
}

bool MaskMaker::IsOfNames(TermId state) const {
  const Parts parts = PartsOf(state);
  return automaton_->store().IsNames(parts.cell) || IsBeforeMember(parts.cell) ||
         OtherNamesOf(parts).has_value();
}

// An object before a member, or a choice of such.
bool MaskMaker::WalkMembers(const TokenTrie& trie, const Parts& parts, OnNode allow) {
  const Term& cell = automaton_->term(parts.cell);
  const bool is_choice = cell.kind == TermKind::kAlt;
  const std::span<const TermId> objects =
      is_choice ? automaton_->store().list(cell.a) : std::span<const TermId>(&parts.cell, 1);
  if (!std::ranges::all_of(objects, [&](TermId object) { return IsBeforeMember(object); })) {
    return false;
  }
  for (const TermId object : objects) WalkObject(trie, {object, parts.tail}, allow);
  return true;
}

// What a quote begins is told by the names, the rest is a brace.
void MaskMaker::WalkObject(const TokenTrie& trie, const Parts& parts, OnNode allow) {
  const Term& object = automaton_->term(parts.cell);
  const TermId state = automaton_->Join(parts.cell, parts.tail);
  MarkRead(state);
  const std::span<const TrieNode> nodes = trie.nodes();
  const char close = automaton_->store().object(object.a).close();
  if (const std::size_t brace = trie.First(close); brace < nodes.size()) {
    Path path;
    path[0] = states_.Enter(state);
    WalkNodes(trie, brace, brace + nodes[brace].skip, &path, kAllNodes, allow);
  }
  const std::size_t quote = trie.First('"');
  const TermId member = automaton_->Step(state, '"', *work_);
  if (quote == nodes.size() || member == kNothingTerm || member == kFailedTerm) return;
  allow(nodes[quote]);
  WalkMember(trie, quote, member, allow);
}

void MaskMaker::WalkMember(const TokenTrie& trie, std::size_t quote, TermId member, OnNode allow) {
  const Parts parts = PartsOf(member);
  const Term& cell = automaton_->term(parts.cell);
  const bool is_choice = cell.kind == TermKind::kAlt;
  const std::span<const TermId> branches =
      is_choice ? automaton_->store().list(cell.a) : std::span<const TermId>(&parts.cell, 1);
  for (const TermId branch : branches) {
    const TermId state = automaton_->Join(branch, parts.tail);
    MarkRead(state);
    const Parts way = PartsOf(state);
    if (WalkNames(trie, quote, way, allow) || WalkOthers(trie, quote, way, allow)) continue;
    Path path;
    path[1] = states_.Enter(state);
    WalkNodes(trie, quote + 1, quote + trie.nodes()[quote].skip, &path, kAllNodes, allow);
  }
}

bool MaskMaker::MakeByMember(const Parts& parts, MaskBuilder* mask) {
  const TokenTrie& trie = masks_->index().trie();
  const auto allow = [&](const TrieNode& node) { mask->AllowTokens(trie, node); };
  if (!WalkMembers(trie, parts, allow)) return false;
  WalkLongTokens(trie, automaton_->Join(parts.cell, parts.tail), mask);
  return true;
}

}  // namespace maskd
