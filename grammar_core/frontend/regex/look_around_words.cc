// LookAround for patterns that look to both sides: their ways, as words of parts that look to one
// side at most. A look that sees a fixed distance from one end of the text becomes a condition of
// the whole text; the parts that are left must have the looks behind before the looks ahead.
//
// Invariant  the union of the words' texts is the pattern's; a word that cannot be split is
//            refused.
// Cost       one word for each combination of alternatives and rounds.
// Bounds     limits.look_around_parts parts looked at, over all words.
#include <iterator>
#include <utility>

#include "grammar_core/frontend/regex/look_around.h"

namespace maskd {
namespace {

using Kind = LookingPart::Kind;

}  // namespace

absl::StatusOr<NodeId> LookAround::WholeText(const PatternPart& whole) {
  if (!whole.looks(Side::kAhead) || !whole.looks(Side::kBehind)) {
    const Side side = whole.looks(Side::kBehind) ? Side::kBehind : Side::kAhead;
    const absl::StatusOr<ContextLanguage> all = Extended(side, whole, algebra_->Empty());
    if (!all.ok()) return all.status();
    return all->Whole().node;
  }
  const absl::StatusOr<std::vector<Word>> words = WordsOf(whole);
  if (!words.ok()) return words.status();
  std::vector<NodeId> ways;
  for (const Word& word : *words) {
    const absl::StatusOr<NodeId> texts = TextsOf(word);
    if (!texts.ok()) return texts.status();
    ways.push_back(*texts);
  }
  return builder_->Alt(std::move(ways));
}

absl::StatusOr<std::vector<LookAround::Word>> LookAround::WordsOf(const PatternPart& part) {
  if (absl::Status status = Step(part); !status.ok()) return status;
  if (!part.looks(Side::kAhead) || !part.looks(Side::kBehind)) return std::vector<Word>{{&part}};
  const LookingPart& looking = *part.looking;
  switch (looking.kind) {
    case Kind::kSequence:
      return SequenceWords(looking);
    case Kind::kRepeat:
      return RepeatWords(looking);
    default:
      break;
  }
  std::vector<Word> words;
  for (const PatternPart& alternative : looking.parts) {
    absl::StatusOr<std::vector<Word>> more = WordsOf(alternative);
    if (!more.ok()) return more.status();
    std::move(more->begin(), more->end(), std::back_inserter(words));
  }
  return words;
}

absl::StatusOr<std::vector<LookAround::Word>> LookAround::Products(const std::vector<Word>& begins,
                                                                   const std::vector<Word>& ends) {
  std::vector<Word> words;
  for (const Word& begin : begins) {
    for (const Word& end : ends) {
      Word& word = words.emplace_back(begin);
      word.insert(word.end(), end.begin(), end.end());
      for (const PatternPart* part : word)
        if (absl::Status status = Step(*part); !status.ok()) return status;
    }
  }
  return words;
}

absl::StatusOr<std::vector<LookAround::Word>> LookAround::SequenceWords(const LookingPart& part) {
  std::vector<Word> words = {{}};
  for (const PatternPart& next : part.parts) {
    const absl::StatusOr<std::vector<Word>> ends = WordsOf(next);
    if (!ends.ok()) return ends.status();
    absl::StatusOr<std::vector<Word>> longer = Products(words, *ends);
    if (!longer.ok()) return longer.status();
    words = *std::move(longer);
  }
  return words;
}

absl::StatusOr<std::vector<LookAround::Word>> LookAround::RepeatWords(const LookingPart& part) {
  if (part.max == kUnbounded)
    return cursor_->Unsupported(part.at, "endless repetition of look-around");
  const absl::StatusOr<std::vector<Word>> round = WordsOf(part.parts.front());
  if (!round.ok()) return round.status();
  std::vector<Word> words;
  std::vector<Word> rounds = {{}};
  for (std::uint32_t count = 0;; ++count) {
    if (count >= part.min) words.insert(words.end(), rounds.begin(), rounds.end());
    if (count == part.max) return words;
    absl::StatusOr<std::vector<Word>> longer = Products(rounds, *round);
    if (!longer.ok()) return longer.status();
    rounds = *std::move(longer);
  }
}

// Looks that hold or not for the text as a whole are set apart; of the others, those behind must
// come first: then the text before them and the text after them do not overlap.
absl::StatusOr<NodeId> LookAround::TextsOf(const Word& word) {
  std::vector<NodeId> conditions;
  Word kept;
  std::size_t split = 0;  // of `kept`: no look-behind from here on
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (absl::Status status = Step(*word[i]); !status.ok()) return status;
    if (word[i]->is_look()) {
      if (const std::optional<NodeId> texts = TextsWith(word, i); texts.has_value()) {
        conditions.push_back(*texts);
        continue;
      }
    }
    kept.push_back(word[i]);
    if (word[i]->looks(Side::kBehind)) split = kept.size();
  }
  ContextLanguage begin = algebra_->Empty();
  for (std::size_t i = 0; i < split; ++i) {
    absl::StatusOr<ContextLanguage> longer = Extended(Side::kBehind, *kept[i], std::move(begin));
    if (!longer.ok()) return longer.status();
    begin = *std::move(longer);
  }
  ContextLanguage end = algebra_->Empty();
  for (std::size_t i = kept.size(); i > split; --i) {
    absl::StatusOr<ContextLanguage> longer = Extended(Side::kAhead, *kept[i - 1], std::move(end));
    if (!longer.ok()) return longer.status();
    end = *std::move(longer);
  }
  conditions.push_back(algebra_->Pair(begin, end).Whole().node);
  return builder_->And(std::move(conditions));
}

std::optional<NodeId> LookAround::TextsWith(const Word& word, std::size_t look) {
  const Side side = word[look]->looking->looks_ahead ? Side::kAhead : Side::kBehind;
  const ContextLanguage& seen = word[look]->language;
  std::vector<ContextLanguage> unseen;
  const std::size_t from = side == Side::kAhead ? 0 : look + 1;
  const std::size_t to = side == Side::kAhead ? look : word.size();
  for (std::size_t i = from; i < to; ++i)
    if (word[i]->plain())
      unseen.push_back(word[i]->language);
    else if (!word[i]->is_look())
      return std::nullopt;
  const ContextLanguage between = algebra_->Sequence(unseen);
  const Widths widths = WidthsOf(side == Side::kAhead ? ContextAlgebra::AtTextBegin(between)
                                                      : ContextAlgebra::AtTextEnd(between));
  if (!widths.fixed()) return std::nullopt;
  if (widths.max == 0) return seen.Whole().node;
  if (!seen.plain() || widths.max > kMaxRepeats) return std::nullopt;
  const auto count = static_cast<std::uint32_t>(widths.max);
  const NodeId skipped = builder_->Repeat(builder_->AnyChar(), count, count);
  return side == Side::kAhead ? builder_->Concat({skipped, seen.Whole().node})
                              : builder_->Concat({seen.Whole().node, skipped});
}

}  // namespace maskd
