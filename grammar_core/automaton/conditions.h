// Conditions: terms of characters of which a text must be in several at once, as a string under
// many patterns is. One intersection term for each set of them that a text can meet would be more
// than there is room for; a set of numbers is enough to ask what may follow (see ConditionSearch).
//
// Lists    ids ascend, none twice. What every text is in is no condition; an intersection is
//          several. A list with no id is every text.
// Ways     a condition that is a choice is met in any of its ways, each a list of its own.
// Samples  texts that were found for some list, and all that they end with. Which of them a
//          condition holds is a row of bits, so most lists are known to hold a text without a
//          search.
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_AUTOMATON_CONDITIONS_H_
#define MASKD_GRAMMAR_CORE_AUTOMATON_CONDITIONS_H_

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/automaton/char_edges.h"
#include "grammar_core/automaton/term_store.h"
#include "grammar_core/automaton/work.h"

namespace maskd {

class CharDerivative;

using ConditionId = std::uint32_t;
using ConditionList = std::vector<ConditionId>;

class Conditions {
 public:
  // Both must outlive this.
  Conditions(TermStore* store, CharDerivative* characters)
      : store_(store), characters_(characters), samples_(1) {}

  // Appends the conditions that `term` is; false where it is plainly no text. Sort() is to follow.
  bool Append(TermId term, ConditionList* list);
  // Makes a list of what was appended; false where some of it plainly contradict: x and not x.
  bool Sort(ConditionList* list);

  [[nodiscard]] TermId term(ConditionId id) const { return conditions_[id].term; }
  [[nodiscard]] bool nullable(ConditionId id) const {
    return store_->term(conditions_[id].term).nullable;
  }
  // None where the condition is no choice. The reference lives as long as this.
  const std::vector<ConditionList>& WaysOf(ConditionId id);
  const CharEdges& EdgesOf(ConditionId id, Work& work);
  // Lower bound of the characters of a text that meets the condition.
  std::uint32_t FewestChars(ConditionId id) { return FewestCharsOf(conditions_[id].term); }

  // Longer texts are no samples.
  static constexpr std::size_t kMaxSampleChars = 256;

  void AddSample(std::u32string_view text);
  // Whether a sample of at most `max_chars` meets all of `list`.
  bool HasSample(const ConditionList& list, std::uint32_t max_chars, Work& work);

  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  static constexpr std::size_t kMaxSamples = 512;
  static constexpr ConditionId kEveryText = 0xFFFFFFFF;
  static constexpr ConditionId kNone = 0xFFFFFFFE;
  using Bits = std::uint64_t;
  static constexpr std::size_t kBits = 64;

  struct Condition {
    TermId term = kNothingTerm;
    // Of a complement: what it is the complement of.
    ConditionId negated = kNone;
    bool has_ways = false;
    std::vector<ConditionList> ways;
    // By sample, for the first `settled` of them.
    std::vector<Bits> met;
    std::size_t settled = 0;
  };
  // Its first character, and the sample behind that; the first sample is the empty text.
  struct Sample {
    std::uint32_t first = 0;
    std::uint32_t rest = 0;
    std::uint32_t chars = 0;
  };

  ConditionId IdOf(TermId term);
  std::uint32_t FewestCharsOf(TermId term);
  std::uint32_t ComputeFewest(const Term& term);
  // Brings the bits of a condition up to all samples.
  void Settle(ConditionId id, Work& work);
  bool Meets(TermId term, std::size_t sample, Work& work);
  // What the settled conditions of `list` have in common.
  [[nodiscard]] Bits MetByAll(const ConditionList& list, std::size_t word) const;
  // The samples of a word of bits that have at most so many characters.
  [[nodiscard]] Bits WithinLength(std::size_t word, std::uint32_t max_chars) const;

  TermStore* store_;
  CharDerivative* characters_;
  std::deque<Condition> conditions_;
  absl::flat_hash_map<TermId, ConditionId> ids_;
  absl::flat_hash_map<TermId, std::uint32_t> fewest_;
  std::vector<Sample> samples_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> sample_ids_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_AUTOMATON_CONDITIONS_H_
