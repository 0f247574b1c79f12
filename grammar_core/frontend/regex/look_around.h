// Look-ahead and look-behind, exactly: as intersections of what stands on that side of them.
//
// How      a look-ahead says something of all the text behind its place, so where one stands, the
//          pattern is read from its end: what may come from a place on, "the rest", is known before
//          the part in front of it, and a look-ahead intersects it. Groups and alternatives pass
//          the rest on to each of theirs. Look-behinds are the mirror image. A look-around that is
//          decided within the part beside it is an intersection of that part alone, and may be
//          repeated.
// Refused  UNIMPLEMENTED, with the place: endless repetition of look-around, where it cannot be
//          told from the text alone where a round ends; and look-ahead in front of a look-behind
//          whose reaches overlap.
// Cost     a part is read again for each rest that it meets; limits.look_around_parts bounds it.
// Depth    a recursion as deep as groups nest, which limits.source_depth bounds.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_LOOK_AROUND_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_LOOK_AROUND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/regex/character_facts.h"
#include "grammar_core/frontend/regex/context_language.h"
#include "grammar_core/frontend/regex/pattern_cursor.h"
#include "grammar_core/frontend/regex/pattern_part.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// For one pattern; parts are moved in and out of it.
class LookAround {
 public:
  // All must outlive this. The cursor knows places.
  LookAround(IrBuilder* builder, ContextAlgebra* algebra, const PatternCursor* cursor,
             const Limits& limits, Budget* budget);

  // Parts of parts; plain ones where all of them are.
  PatternPart Sequence(std::vector<PatternPart> parts);
  PatternPart Alternatives(std::vector<PatternPart> parts);
  // Nothing where the algebra has none.
  std::optional<PatternPart> Repeat(PatternPart part, std::uint32_t min, std::uint32_t max,
                                    std::size_t at);
  absl::StatusOr<PatternPart> Look(Side side, bool negated, const PatternPart& body,
                                   std::size_t at);

  // The texts that `whole` matches from their begin to their end.
  absl::StatusOr<NodeId> WholeText(const PatternPart& whole);

 private:
  // Parts in order, none of which looks to both sides.
  using Word = std::vector<const PatternPart*>;

  // `part` and `rest`, which is all that stands on `side` of it.
  absl::StatusOr<ContextLanguage> Extended(Side side, const PatternPart& part,
                                           ContextLanguage rest);
  absl::StatusOr<ContextLanguage> ExtendedByAny(Side side, const LookingPart& part,
                                                const ContextLanguage& rest);
  absl::StatusOr<ContextLanguage> ExtendedByRounds(Side side, const LookingPart& part,
                                                   ContextLanguage rest);
  // The same for rounds of one character each that `rest` cannot begin with.
  absl::StatusOr<ContextLanguage> ExtendedByCharacters(Side side, const LookingPart& part,
                                                       const ContextLanguage& rest);
  // The same for rounds of one character each in front of which known texts are excluded, where it
  // is known of each whether it can begin in the rounds and end in `rest`.
  std::optional<ContextLanguage> ExtendedByOthers(const LookingPart& part,
                                                  const ContextLanguage& rest);
  // Whether `rest` begins with `text`; nothing where some of its texts do and some do not, or that
  // is not known.
  std::optional<bool> BeginsWith(const ContextLanguage& rest, const std::u32string& text);
  ContextLanguage TextOf(const std::u32string& text);
  ContextLanguage Joined(Side side, const ContextLanguage& part, const ContextLanguage& rest);
  [[nodiscard]] bool IsAnything(const ContextLanguage& language) const;
  // The characters of `rest` next to what it is the rest of.
  CharSet NearestOf(Side side, const ContextLanguage& rest);
  CharSet CharactersOf(const PatternPart& part);

  // `parts`, plain ones next to each other made one.
  std::vector<PatternPart> RunsJoined(std::vector<PatternPart> parts);
  // Looks that are decided by the plain part beside them become a part of it.
  void NarrowToOneSide(Side side, std::vector<PatternPart>* parts);
  // `parts`, of which some look around; without its widths.
  PatternPart Composite(LookingPart::Kind kind, std::vector<PatternPart> parts);
  Widths WidthsOf(const PatternPart& part);
  Widths WidthsOf(const ContextLanguage& language);

  // `part` without alternatives and repetition that look to both sides.
  absl::StatusOr<std::vector<Word>> WordsOf(const PatternPart& part);
  absl::StatusOr<std::vector<Word>> SequenceWords(const LookingPart& part);
  absl::StatusOr<std::vector<Word>> RepeatWords(const LookingPart& part);
  absl::StatusOr<std::vector<Word>> Products(const std::vector<Word>& begins,
                                             const std::vector<Word>& ends);
  absl::StatusOr<NodeId> TextsOf(const Word& word);
  // All texts in which `look` of a word holds; nothing where that depends on how a text is cut.
  std::optional<NodeId> TextsWith(const Word& word, std::size_t look);

  // `part` is read, for the first time or once more.
  absl::Status Step(const PatternPart& part);

  IrBuilder* const builder_;
  ContextAlgebra* const algebra_;
  const PatternCursor* const cursor_;
  const Limits& limits_;
  Budget* const budget_;
  CharacterFacts facts_;
  const ContextLanguage anything_;
  std::int64_t steps_ = 0;
  std::size_t last_at_ = 0;  // the place of the last part read that looks around
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_LOOK_AROUND_H_
