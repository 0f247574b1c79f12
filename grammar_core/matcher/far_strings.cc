// Two sizes of what is left of a string's characters, by its form. `least` bounds the shortest text
// from its beginning. `most` bounds it from wherever some of it is written: of parts in a row, what
// is left of one, and the least of those behind it.
//
// Invariant  both are upper bounds: a character counts in its longest spelling where none is plain.
//            A choice may have lost branches on the way, so its `most` is that of any.
// Cost       a look at each term that is new; behind the quote, the tokens that go on there.
#include "grammar_core/matcher/far_strings.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/base/saturating.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/matcher/closing_strings.h"
#include "grammar_core/rows/row_states.h"
#include "grammar_core/rows/token_steps.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// A character in any spelling: two escapes of six bytes.
constexpr std::uint32_t kBytesACharacter = 12;
// Choices and repeats within each other that are looked at.
constexpr int kMaxDepth = 64;

constexpr char32_t kFirstPlain = ' ';
constexpr char32_t kLastPlain = '~';
bool IsPlain(char32_t c) { return c >= kFirstPlain && c <= kLastPlain && c != U'"' && c != U'\\'; }
std::uint32_t BytesOf(char32_t c) { return IsPlain(c) ? 1 : kBytesACharacter; }

template <typename Characters>
std::uint32_t BytesOfAll(const Characters& characters) {
  std::uint32_t bytes = 0;
  for (const char32_t c : characters) bytes += BytesOf(c);
  return bytes;
}

bool HasPlain(const CharSet& set) {
  return std::ranges::any_of(set.ranges(), [](const CharRange& range) {
    for (char32_t c = std::max<char32_t>(range.lo, kFirstPlain);
         c <= std::min<char32_t>(range.hi, kLastPlain); ++c)
      if (IsPlain(c)) return true;
    return false;
  });
}

// Whether each byte is a token that may be text.
bool HasEveryByte(const TokenStepper& stepper) {
  const TokenSearch search = stepper.search();
  const TokenTrie& trie = search.index->trie();
  for (int byte = 0; byte < 256; ++byte) {
    const std::size_t first = trie.First(static_cast<unsigned char>(byte));
    if (first == trie.nodes().size() || trie.nodes()[first].token == TokenTrie::kNoToken)
      return false;
    bool is_text = false;
    trie.VisitTokens(trie.nodes()[first], [&](TokenId id) { is_text |= search.IsText(id); });
    if (!is_text) return false;
  }
  return true;
}

}  // namespace

void FarStrings::ForgetOthers(const TokenStepper& stepper) {
  if (sizes_.size() >= kMaxKnown) sizes_.clear();
  if (behind_.size() >= kMaxKnown) behind_.clear();
  if (automaton_ == stepper.automaton_serial()) return;
  automaton_ = stepper.automaton_serial();
  has_every_byte_ = HasEveryByte(stepper);
  sizes_.clear();
  behind_.clear();
}

std::int64_t FarStrings::held_bytes() const {
  constexpr std::int64_t kBytesASize = 24;
  constexpr std::int64_t kBytesATail = 16;
  return static_cast<std::int64_t>(sizes_.size()) * kBytesASize +
         static_cast<std::int64_t>(behind_.size()) * kBytesATail;
}

bool FarStrings::IsFar(const TokenStepper& stepper, State state, int rest, Endings* endings,
                       Work& work) {
  ForgetOthers(stepper);
  const RowStates& row = stepper.states();
  Automaton& automaton = row.automaton();
  if (!has_every_byte_ || row.names_tokens() || row.limits_tokens() ||
      automaton.tables().remembers() ||
      !stepper.grammar().tokenizer().index().trie().long_tokens().empty())
    return false;
  const auto [cell_id, tail] = automaton.store().PartsOf(RowMemory::TermOf(state));
  const Term& cell = automaton.store().term(cell_id);
  if (cell.kind != TermKind::kEncode || IsOfNames(cell) ||
      !IsJsonString(AsEncode(cell).partial.spelling))
    return false;
  if (!behind_.contains(tail) &&
      (automaton.MayEnd(tail) || !TakesQuoteAlone(automaton, tail, work)))
    return false;
  too_deep_ = false;
  const Sizes sizes = SizesOf(automaton.store(), AsEncode(cell).characters, 0, work);
  // Where a token ends within a character, that is completed first.
  const std::uint32_t most = SaturatingAdd(sizes.most, kBytesACharacter);
  const int behind = endings->Few(stepper, RowMemory::Of(tail), work);
  if (!work.ok() || behind > rest || most > static_cast<std::uint32_t>(rest - behind)) return false;
  return MostBehind(stepper, tail, endings, work) <= rest && work.ok();
}

int FarStrings::MostBehind(const TokenStepper& stepper, TermId tail, Endings* endings, Work& work) {
  if (const auto known = behind_.find(tail); known != behind_.end()) return known->second;
  const RowStates& row = stepper.states();
  const State behind = row.Take(RowMemory::Of(tail), '"', work);
  if (behind == kFailedTerm || behind == kNothingTerm) return Endings::kNever;
  int most = endings->Few(stepper, behind, work);
  State last = behind;
  const auto enter = [](State, const TrieNode&) { return true; };
  const auto arrive = [&](TokenId, State next) {
    if (next != last) most = std::max(most, endings->Few(stepper, next, work));
    last = next;
    return false;
  };
  const TokenTrie& rests = stepper.grammar().tokenizer().index().TextsAfter('"');
  VisitTrieSteps(rests, row, behind, work, enter, arrive);
  if (work.ok()) behind_[tail] = most;
  return most;
}

FarStrings::Sizes FarStrings::SizesOf(const TermStore& store, CharTerm text, int depth,
                                      Work& work) {
  if (const auto known = sizes_.find(text); known != sizes_.end()) return known->second;
  too_deep_ |= depth > kMaxDepth;
  if (too_deep_ || !work.Spend()) return {kNoEnd, kNoEnd};
  const Sizes sizes = store.term(text).kind == TermKind::kCat ? SizesOfCat(store, text, depth, work)
                                                              : MakeSizes(store, text, depth, work);
  if (work.ok() && !too_deep_) sizes_[text] = sizes;
  return sizes;
}

// From the far end on: what is left is a part, and the least of all parts behind it.
FarStrings::Sizes FarStrings::SizesOfCat(const TermStore& store, CharTerm text, int depth,
                                         Work& work) {
  std::vector<CharTerm> parts;
  for (; store.term(text).kind == TermKind::kCat; text = AsCat<CharTerm>(store.term(text)).tail)
    parts.push_back(AsCat<CharTerm>(store.term(text)).head);
  Sizes all = SizesOf(store, text, depth + 1, work);
  for (; !parts.empty(); parts.pop_back()) {
    const Sizes part = SizesOf(store, parts.back(), depth + 1, work);
    all = {SaturatingAdd(part.least, all.least),
           std::max(SaturatingAdd(part.most, all.least), all.most)};
  }
  return all;
}

FarStrings::Sizes FarStrings::MakeSizes(const TermStore& store, CharTerm text, int depth,
                                        Work& work) {
  const Term& term = store.term(text);
  const auto both = [](std::uint32_t bytes) { return Sizes{bytes, bytes}; };
  switch (term.kind) {
    case TermKind::kEmpty:
      return both(0);
    case TermKind::kCharSet:
      return both(HasPlain(store.ir().char_sets[CharSetOf(term)]) ? 1 : kBytesACharacter);
    case TermKind::kText:
      return both(BytesOfAll(RestOfText(store, term)));
    case TermKind::kAlt: {
      Sizes all = {kNoEnd, 0};
      for (const CharTerm branch : BranchesOf<CharTerm>(store, term)) {
        const Sizes one = SizesOf(store, branch, depth + 1, work);
        all = {std::min(all.least, one.least), std::max(all.most, one.most)};
      }
      return all;
    }
    case TermKind::kRepeat: {
      const auto [body, fewest, most] = AsRepeat<CharTerm>(term);
      const Sizes one = SizesOf(store, body, depth + 1, work);
      if (fewest == 0) return {0, one.most};
      return {SaturatingMul(one.least, fewest),
              SaturatingAdd(one.most, SaturatingMul(one.least, fewest - 1))};
    }
    default:
      return both(kNoEnd);
  }
}

}  // namespace maskd
