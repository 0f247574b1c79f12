// The routes of MaskMaker for property names.
//
// An object has some hundred names at a place, and its states within a name would each be met by
// one token. So names are walked as sorted texts beside the trie (terms/text_walk.h): a term is
// made only behind a whole name and its quote, where the value begins. Names that are not declared
// are any string, less the tokens that spell a declared one up to its quote.
//
// Invariant  names that are read so are ASCII; any other set of names takes a route that fits all.
// Cost       the trie's nodes that lie along names, and a state for each name that a token spells
//            to its end.
#include <algorithm>
#include <bitset>
#include <cassert>

#include "absl/container/flat_hash_set.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/mask_routes/mask_maker.h"
#include "grammar_core/terms/term_views.h"
#include "grammar_core/terms/text_walk.h"

namespace maskd {
namespace {

// Branches within branches that are taken apart, at most.
constexpr std::size_t kMaxBranchesWithin = 256;
// The names of one object, and its others: their masks may be known.
constexpr std::size_t kFewNames = 2;
// Names that are gathered, looked at or sorted in about a unit of work.
constexpr std::uint32_t kNamesPerUnit = 4;
// For walks that look at quotes alone.
constexpr auto kAllowNone = [](const TrieNode&) {};

// The texts of a string that is one of some, as an enumeration's, before its quote.
std::optional<TextList> TextsBeforeQuote(const Automaton& automaton,
                                         const TermStore::Parts& parts) {
  const TermStore& store = automaton.store();
  const Term& cell = store.term(parts.cell);
  if (!IsBetweenCharacters(cell) || IsOfNames(cell)) return std::nullopt;
  TextList texts = {.spelling = AsEncode(cell).partial.spelling};
  const Term& behind = store.term(store.PartsOf(parts.tail).cell);
  const bool is_quoted = behind.kind == TermKind::kBytes && RestOfBytes(store, behind)[0] == '"';
  if (!IsJsonString(texts.spelling) || !is_quoted) return std::nullopt;
  const Term& term = store.term(AsEncode(cell).characters);
  if (term.kind == TermKind::kText) {
    texts.depth = AsText(term).offset;
    texts.texts = {&store.ir().texts[AsText(term).text]};
  } else if (term.kind == TermKind::kTextSet) {
    const auto [set, first, end, depth] = AsTextSet(term);
    texts.depth = depth;
    for (std::uint32_t i = first; i < end; ++i) texts.texts.push_back(&store.text_set(set)[i]);
  } else {
    return std::nullopt;
  }
  return texts;
}

}  // namespace

// Names are walked as texts; only what stands behind a whole name and its quote is a state.
bool MaskMaker::WalkNames(const TokenTrie& trie, std::size_t parent, const Parts& parts,
                          OnNode allow) {
  if (const std::optional<TextList> texts = TextsBeforeQuote(*automaton_, parts);
      texts.has_value()) {
    work_->Spend(1 + static_cast<std::int64_t>(texts->texts.size()) / kNamesPerUnit);
    if (!texts->IsAscii()) return false;
    const WalkStates::State tail = states_.Enter(parts.tail);
    WalkList(trie, parent, *texts, allow, [&](std::size_t quote, std::uint32_t) {
      Path path;
      path[trie.nodes()[quote].depth - 1] = tail;
      WalkFrom(trie, quote, &path, allow);
    });
    return true;
  }
  if (!automaton_->store().IsNames(parts.cell)) return false;
  const ObjectTerms::NameTexts names = StateTerms(*automaton_).NamesOf(parts.cell, *work_);
  work_->Spend(1 + static_cast<std::int64_t>(names.names.size()) / kNamesPerUnit);
  if (!names.list.IsAscii()) return false;
  WalkList(trie, parent, names.list, allow, [&](std::size_t quote, std::uint32_t text) {
    WalkBehindName(trie, quote, {parts.cell, parts.tail, names.names[text]}, allow);
  });
  return true;
}

void MaskMaker::WalkList(const TokenTrie& trie, std::size_t parent, const TextList& texts,
                         OnNode allow,
                         absl::FunctionRef<void(std::size_t, std::uint32_t)> on_quote) {
  const auto on_token = [&](std::size_t i) { allow(trie.nodes()[i]); };
  const std::int64_t visited = parent == kRoot
                                   ? WalkTexts(trie, texts, on_token, on_quote)
                                   : WalkTextsBelow(trie, parent, texts, on_token, on_quote);
  work_->Spend(1 + visited / kNodesPerUnit);
}

// A name that may be written has a value behind it, so the quote leads on.
void MaskMaker::WalkBehindName(const TokenTrie& trie, std::size_t quote,
                               const JoinedNames::Owner& owner, OnNode allow) {
  const TrieNode node = trie.nodes()[quote];
  allow(node);
  if (node.skip == 1) return;
  const std::vector<TermId> spines =
      StateTerms(*automaton_).BehindName(owner.cell, owner.name, *work_);
  WalkBelow(trie, quote, states_.Enter(spines, owner.tail), allow);
}

bool MaskMaker::MakeByNames(const Parts& parts, MaskBuilder* mask) {
  const TokenTrie& trie = masks_->index().trie();
  const auto allow = [&](const TrieNode& node) { mask->AllowTokens(trie, node); };
  if (!WalkNames(trie, kRoot, parts, allow)) return false;
  WalkLongTokens(trie, StateTerms(*automaton_).Join(parts.cell, parts.tail), mask);
  return true;
}

std::optional<OtherNames> MaskMaker::OtherNamesOf(const Parts& parts) const {
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(parts.cell);
  if (!IsBetweenCharacters(cell)) return std::nullopt;
  const Spelling spelling = AsEncode(cell).partial.spelling;
  const Term& both = store.term(AsEncode(cell).characters);
  if (!IsJsonString(spelling) || both.kind != TermKind::kAnd ||
      BranchesOf<CharTerm>(store, both).size() != 2)
    return std::nullopt;
  // Parts of an intersection stand in the order of their keys, so either may be the complement.
  CharTerm all = BranchesOf<CharTerm>(store, both)[0];
  CharTerm none = BranchesOf<CharTerm>(store, both)[1];
  if (store.term(all).kind == TermKind::kNot) std::swap(all, none);
  const Term& repeat = store.term(all);
  if (!IsRepeatOfSet(store, repeat) || AsRepeat<CharTerm>(repeat).min != 0 ||
      AsRepeat<CharTerm>(repeat).max != kUnbounded || store.term(none).kind != TermKind::kNot) {
    return std::nullopt;
  }
  const Term& names = store.term(NegatedOf(store.term(none)));
  if (names.kind != TermKind::kTextSet) return std::nullopt;
  const auto [set, first, end, depth] = AsTextSet(names);
  OtherNames others = {
      .any = all, .declared = {.depth = depth, .spelling = spelling}, .tail = parts.tail};
  work_->Spend(1 + (end - first) / kNamesPerUnit);
  for (std::uint32_t i = first; i < end; ++i)
    others.declared.texts.push_back(&store.text_set(set)[i]);
  if (!others.declared.IsAscii() || !EndsByQuote(parts.tail)) return std::nullopt;
  return others;
}

bool MaskMaker::EndsByQuote(TermId tail) const {
  const Term& cell = automaton_->store().term(PartsOf(tail).cell);
  return cell.kind == TermKind::kByteSet &&
         BytesOf(automaton_->store(), cell) == ByteBits().set('"');
}

// A token is cut in one way, at its first quote, so the tokens to take away are those that spell a
// declared name and then the quote. Long tokens are left to the caller.
void MaskMaker::MakeByOtherNames(const OtherNames& names, MaskBuilder* mask) {
  MaskBuilder others(masks_);
  MergeMaskOf(StateTerms(*automaton_).Encoded(names.any, names.declared.spelling, names.tail),
              &others);
  const TokenTrie& trie = masks_->index().trie();
  const std::span<const TrieNode> nodes = trie.nodes();
  WalkList(trie, kRoot, names.declared, kAllowNone, [&](std::size_t quote, std::uint32_t) {
    for (const TrieNode& node : nodes.subspan(quote, nodes[quote].skip)) {
      if (node.token == TokenTrie::kNoToken) continue;
      trie.VisitTokens(node, [&](TokenId id) { others.Forbid(id); });
    }
  });
  // The caller takes them one by one, whatever the mask of any name says.
  for (const TokenId id : trie.long_tokens()) others.Forbid(id);
  mask->Merge(std::move(others));
}

bool MaskMaker::MakeByOthers(const Parts& parts, MaskBuilder* mask) {
  const std::optional<OtherNames> names = OtherNamesOf(parts);
  if (!names.has_value()) return false;
  MakeByOtherNames(*names, mask);
  WalkLongTokens(masks_->index().trie(), StateTerms(*automaton_).Join(parts.cell, parts.tail),
                 mask);
  return true;
}

void MaskMaker::WalkOthers(const TokenTrie& trie, std::size_t parent, const OtherNames& names,
                           OnNode allow) {
  // Found first, as the walk of any name passes over the same tokens.
  absl::flat_hash_set<std::uint32_t> declared;  // tokens, as the trie names them
  const std::span<const TrieNode> nodes = trie.nodes();
  WalkList(trie, parent, names.declared, kAllowNone, [&](std::size_t quote, std::uint32_t) {
    for (const TrieNode& node : nodes.subspan(quote, nodes[quote].skip))
      declared.insert(node.token);
  });
  assert(parent != kRoot && "others are walked below a quote");
  const WalkStates::State any = states_.Enter(
      StateTerms(*automaton_).Encoded(names.any, names.declared.spelling, names.tail));
  WalkBelow(trie, parent, any, [&](const TrieNode& next) {
    if (declared.empty() || !declared.contains(next.token)) allow(next);
  });
}

bool MaskMaker::JoinNames(TermId state, JoinedNames* names) {
  const Parts parts = PartsOf(state);
  if (automaton_->store().IsNames(parts.cell)) return names->Add(parts.cell, parts.tail);
  std::optional<OtherNames> others = OtherNamesOf(parts);
  return others.has_value() && names->Add(*std::move(others));
}

// What begins with a whole name and its quote goes on from a state of the objects that have it.
void MaskMaker::WalkJoined(const TokenTrie& trie, std::size_t parent, JoinedNames* names,
                           OnNode allow) {
  const TextList texts = names->Texts();
  if (texts.texts.empty()) return;
  work_->Spend(1 + static_cast<std::int64_t>(texts.texts.size()) / kNamesPerUnit);
  WalkList(trie, parent, texts, allow, [&](std::size_t i, std::uint32_t text) {
    if (const auto owner = names->OnlyOwner(text); owner.has_value())
      return WalkBehindName(trie, i, *owner, allow);
    const TrieNode quote = trie.nodes()[i];
    Path path;
    assert(quote.depth >= 1 && quote.depth <= path.size());
    path[quote.depth - 1] = states_.Enter(names->EndOf(text));
    WalkFrom(trie, i, &path, allow);
  });
}

void MaskMaker::MergeNames(std::span<const TermId> states, MaskBuilder* mask) {
  JoinedNames names(automaton_, work_);
  std::vector<TermId> joined;
  const bool many = states.size() > kFewNames;
  for (const TermId state : states)
    if (many && JoinNames(state, &names))
      joined.push_back(state);
    else if (!MakeByNames(PartsOf(state), mask))
      MergeMaskOf(state, mask);
  if (joined.empty()) return;
  const TokenTrie& trie = masks_->index().trie();
  if (const auto others = names.Others(); others.has_value()) MakeByOtherNames(*others, mask);
  WalkJoined(trie, kRoot, &names, [&](const TrieNode& node) { mask->AllowTokens(trie, node); });
  if (trie.long_tokens().empty()) return;
  WalkLongTokens(trie, StateTerms(*automaton_).Choice(joined), mask);
}

bool MaskMaker::IsName(TermId state) const {
  const Parts parts = PartsOf(state);
  return automaton_->store().IsNames(parts.cell) || OtherNamesOf(parts).has_value();
}

bool MaskMaker::IsBeforeMember(TermId cell) const {
  const Term& object = automaton_->store().term(cell);
  if (object.kind != TermKind::kObject) return false;
  const ObjectPhase phase = AsObject(object).phase;
  const bool line_first = automaton_->store().object(AsObject(object).object).is_block();
  return phase == ObjectPhase::kMust || (phase == ObjectPhase::kFirst && !line_first);
}

void MaskMaker::AppendBranches(TermId state, std::vector<TermId>* branches) const {
  const Parts parts = PartsOf(state);
  const Term& cell = automaton_->store().term(parts.cell);
  if (cell.kind != TermKind::kAlt || branches->size() >= kMaxBranchesWithin) {
    branches->push_back(state);
    return;
  }
  for (const TermId branch : BranchesOf(automaton_->store(), cell))
    AppendBranches(StateTerms(*automaton_).Join(branch, parts.tail), branches);
}

// An object before a member, or a choice of such. What a quote begins is told by the names, the
// rest is a brace.
bool MaskMaker::WalkMembers(const TokenTrie& trie, const Parts& parts, OnNode allow) {
  const TermId state = StateTerms(*automaton_).Join(parts.cell, parts.tail);
  std::vector<TermId> objects;
  AppendBranches(state, &objects);
  std::bitset<256> close;
  for (const TermId object : objects) {
    const TermId cell = PartsOf(object).cell;
    if (!IsBeforeMember(cell)) return false;
    const std::uint32_t number = AsObject(automaton_->store().term(cell)).object;
    close.set(static_cast<unsigned char>(automaton_->store().object(number).close()));
  }
  MarkRead(state);
  const std::span<const TrieNode> nodes = trie.nodes();
  Path path;
  path[0] = states_.Enter(state);
  for (std::size_t byte = close._Find_first(); byte < close.size(); byte = close._Find_next(byte)) {
    const std::size_t brace = trie.First(static_cast<unsigned char>(byte));
    if (brace == nodes.size()) continue;
    WalkFrom(trie, brace, &path, allow);
  }
  const std::size_t quote = trie.First('"');
  const TermId member = automaton_->Step(state, '"', *work_);
  if (quote == nodes.size() || member == kNothingTerm || member == kFailedTerm) return true;
  allow(nodes[quote]);
  WalkMember(trie, quote, member, allow);
  return true;
}

void MaskMaker::WalkMember(const TokenTrie& trie, std::size_t quote, TermId member, OnNode allow) {
  MarkRead(member);
  std::vector<TermId> branches;
  AppendBranches(member, &branches);
  JoinedNames names(automaton_, work_);
  for (const TermId branch : branches) {
    if (JoinNames(branch, &names)) continue;
    const Parts parts = PartsOf(branch);
    if (WalkNames(trie, quote, parts, allow)) continue;
    if (const auto others = OtherNamesOf(parts); others.has_value()) {
      WalkOthers(trie, quote, *others, allow);
      continue;
    }
    WalkBelow(trie, quote, states_.Enter(branch), allow);
  }
  WalkJoined(trie, quote, &names, allow);
  if (const auto others = names.Others(); others.has_value())
    WalkOthers(trie, quote, *others, allow);
}

bool MaskMaker::MakeByMember(const Parts& parts, MaskBuilder* mask) {
  const TokenTrie& trie = masks_->index().trie();
  const auto allow = [&](const TrieNode& node) { mask->AllowTokens(trie, node); };
  if (!WalkMembers(trie, parts, allow)) return false;
  WalkLongTokens(trie, StateTerms(*automaton_).Join(parts.cell, parts.tail), mask);
  return true;
}

}  // namespace maskd
