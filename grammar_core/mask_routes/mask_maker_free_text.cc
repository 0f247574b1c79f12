// The route of MaskMaker for free text (free_text.h), and for rules and repeats that begin with it.
//
// The mask of any text is one bitmap of the vocabulary. A free text takes all of it but the tokens
// that hold one of the texts that do not come: a few, which are found once for those texts. What
// follows the free text matters to these alone, and to tokens that no text begins with, so they are
// walked from the state itself.
//
// Invariant  another token leaves the free text as a free text, which can go on.
// Cost       the texts that are begun looked up in the trie, and some ten steps for each token that
//            holds one. The first time a free text is met: a pass over a few bitmaps for each text.
#include <algorithm>

#include "absl/strings/match.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/base/sort_unique.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/mask_routes/free_text.h"
#include "grammar_core/mask_routes/mask_maker.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// What takes so many units of work: to look for the tokens that hold a text.
constexpr std::int64_t kTextUnits = 32;
// Rules, repeats and choices within one another that are looked through.
constexpr int kMaxLevels = 6;

bool IsUtf8(const Term& cell) {
  return IsBetweenCharacters(cell) && AsEncode(cell).partial.spelling == Spelling::kUtf8;
}

}  // namespace

// All tokens that a text may begin with, less the suspects that neither the free text nor the tail
// takes, and what only the tail takes.
bool MaskMaker::MakeByFreeText(TermId state, const Parts& parts, MaskBuilder* mask) {
  const TermStore& store = automaton_->store();
  const Term& cell = store.term(parts.cell);
  if (cell.kind != TermKind::kEncode) return MakeByFreeBody(state, parts, mask);
  if (!IsUtf8(cell)) return false;
  const CharTerm characters = AsEncode(cell).characters;
  const std::optional<AbsentTexts> text = AbsentTextsOf(store, characters);
  if (!text.has_value() || (parts.tail == kEmptyTerm && store.IsAllText(characters))) return false;
  const auto suspects = SuspectsOf(*text);
  if (!suspects.has_value()) return true;
  mask->Merge(masks_->text());
  const TermId behind = TextBeforeNames(parts.tail);  // mostly a token that is named comes next
  if (behind == kEmptyTerm) {
    for (const TokenId id : *suspects) mask->Forbid(id);
    return true;
  }
  // What is refused within the free text may still end it, and go on in the tail.
  MarkRead(behind);
  const WalkStates::State tail = states_.Enter(behind);
  if (tail == WalkStates::kFailed) return true;
  for (const TokenId id : *suspects) {
    if (!work_->Spend()) return true;
    const absl::string_view bytes = masks_->index().vocabulary().TokenBytes(id);
    const bool goes_on = text->may_end ? TakesRest(bytes, FirstEnd(store, *text, bytes), tail)
                                       : EndsWithin(parts.cell, tail, bytes);
    if (!goes_on) mask->Forbid(id);
  }
  AddNoText(parts.cell, tail, mask);
  return true;
}

// Most begin as no character does: they are the tail's alone.
void MaskMaker::AddNoText(TermId cell, WalkStates::State tail, MaskBuilder* mask) {
  const TokenTrie& no_text = masks_->index().no_text();
  const std::span<const TrieNode> nodes = no_text.nodes();
  std::vector<TokenId> later = no_text.long_tokens();
  for (std::size_t i = 0; i < nodes.size(); i += nodes[i].skip) {
    const auto byte = static_cast<unsigned char>(nodes[i].byte);
    if (Utf8SequenceBytes(byte) > 0) {
      for (const TrieNode& node : nodes.subspan(i, nodes[i].skip))
        if (node.token != TokenTrie::kNoToken)
          no_text.VisitTokens(node, [&](TokenId id) { later.push_back(id); });
    } else if (automaton_->MayEnd(cell) && tail > WalkStates::kFailed) {
      Path path;
      path[0] = tail;
      std::int64_t nodes_left = kAllNodes;
      WalkNodes(no_text, i, i + nodes[i].skip, &path, &nodes_left,
                [&](const TrieNode& node) { mask->AllowTokens(no_text, node); });
    }
  }
  for (const TokenId id : later)
    if (work_->Spend() && EndsWithin(cell, tail, masks_->index().vocabulary().TokenBytes(id)))
      mask->Allow(id);
}

bool MaskMaker::TakesRest(absl::string_view token, std::size_t end, WalkStates::State tail) {
  for (std::size_t i = 0; i < std::min(end, token.size()); ++i)
    if (!IsContinuationByte(static_cast<unsigned char>(token[i])) &&
        TakesAll(token.substr(i), tail))
      return true;
  return false;
}

bool MaskMaker::TakesAll(absl::string_view bytes, WalkStates::State state) {
  for (std::size_t i = 0; i < bytes.size() && state > WalkStates::kFailed; ++i)
    state = states_.Step(state, static_cast<unsigned char>(bytes[i]));
  return state > WalkStates::kFailed;
}

bool MaskMaker::EndsWithin(TermId cell, WalkStates::State tail, absl::string_view token) {
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (automaton_->MayEnd(cell) && TakesAll(token.substr(i), tail)) return true;
    cell = automaton_->Step(cell, static_cast<unsigned char>(token[i]), *work_);
    if (cell == kNothingTerm || cell == kFailedTerm) return false;
  }
  return true;
}

std::optional<std::vector<TokenId>> MaskMaker::SuspectsOf(const AbsentTexts& text) {
  std::vector<TokenId> suspects;
  for (const CharTerm texts : text.held) {
    const auto holding = TokensHolding(texts);
    if (holding == nullptr) return std::nullopt;
    suspects.insert(suspects.end(), holding->ends.begin(), holding->ends.end());
  }
  const TokenTrie& trie = masks_->index().trie();
  const auto add = [&](TokenId id) { suspects.push_back(id); };
  for (const CharTerm texts : text.begun) {
    VisitTexts(automaton_->store(), texts, [&](absl::string_view begin) {
      trie.VisitPrefixes(begin, [&](std::size_t bytes, const TrieNode& node) {
        if (bytes == begin.size()) trie.VisitTokens(node, add);
      });
      for (const TrieNode& node : trie.NodesBelow(begin))
        if (node.token != TokenTrie::kNoToken) trie.VisitTokens(node, add);
      for (const TokenId id : trie.long_tokens())
        if (absl::StartsWith(masks_->index().vocabulary().TokenBytes(id), begin)) add(id);
    });
    if (!work_->Spend()) return std::nullopt;
  }
  std::erase_if(suspects, [&](TokenId id) { return !masks_->text()->Allows(id); });
  SortUnique(&suspects);
  return suspects;
}

// Kept under the texts' key, so all states of all grammars with these texts look for them once.
std::shared_ptr<const Exits> MaskMaker::TokensHolding(CharTerm texts) {
  constexpr std::uint64_t kHolding = 0x686F6C64;
  const TermStore& store = automaton_->store();
  const Hash128 key = Mix(store.KeyOf(texts), kHolding);
  if (auto known = masks_->FindExits(key); known != nullptr) return known;
  std::vector<TokenId> ids;
  VisitTexts(store, texts, [&](absl::string_view text) {
    if (!work_->Spend(kTextUnits)) return;
    const std::vector<TokenId> holding = masks_->index().TokensHolding(text);
    ids.insert(ids.end(), holding.begin(), holding.end());
  });
  if (!work_->ok()) return nullptr;
  SortUnique(&ids);
  auto holding = std::make_shared<const Exits>(Exits{std::move(ids), TokenTrie({})});
  masks_->PutExits(key, holding);
  return holding;
}

// NOLINTNEXTLINE(misc-no-recursion): at most `levels` deep
bool MaskMaker::BeginsFreely(TermId spine, int levels) {
  const TermStore& store = automaton_->store();
  const TermId id = PartsOf(spine).cell;
  const Term& cell = store.term(id);
  if (levels == 0) return false;
  switch (cell.kind) {
    case TermKind::kEncode:
      return IsUtf8(cell) && AbsentTextsOf(store, AsEncode(cell).characters).has_value();
    case TermKind::kCall:
      return BeginsFreely(StateTerms(*automaton_).BodyOf(id), levels - 1);
    case TermKind::kRepeat:
      return BeginsFreely(AsRepeat(cell).body, levels - 1);
    case TermKind::kAlt: {
      const auto branches = BranchesOf(store, cell);
      return std::ranges::any_of(branches,
                                 [&](TermId branch) { return BeginsFreely(branch, levels - 1); });
    }
    default:
      return false;
  }
}

// A rule is its body, and a repeat of any number a body before itself, or nothing.
bool MaskMaker::MakeByFreeBody(TermId state, const Parts& parts, MaskBuilder* mask) {
  const StateTerms terms(*automaton_);
  const Term& cell = automaton_->store().term(parts.cell);
  if (cell.kind == TermKind::kCall) {
    const TermId body = terms.BodyOf(parts.cell);
    if (!BeginsFreely(body, kMaxLevels)) return false;
    MergeMaskOf(terms.Join(body, parts.tail), mask);
    return true;
  }
  const auto [body, min, max] = AsRepeat(cell);
  if (min != 0 || max != kUnbounded || !BeginsFreely(body, kMaxLevels)) return false;
  const TermId unrolled = terms.Join(body, state);
  if (automaton_->store().term(PartsOf(unrolled).cell).kind == TermKind::kRepeat) return false;
  MergeMaskOf(unrolled, mask);
  if (parts.tail != kEmptyTerm) MergeMaskOf(parts.tail, mask);
  return true;
}

}  // namespace maskd
