// Conditions: terms of characters of which a text must be in several at once, as a string under
// many patterns is. One intersection term for each set of them that a text can meet would be more
// than there is room for; a set of numbers is enough to ask what may follow (see ConditionSearch).
//
// Lists    ids ascend, none twice. What every text is in is no condition; an intersection is
//          several. A list with no id is every text.
//          The complement of a choice is several too: of what is no x|y, no x and no y.
// Ways     a condition that is a choice is met in any of its ways, each a separate list.
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_INTERSECTION_CONDITIONS_H_
#define MASKD_GRAMMAR_CORE_INTERSECTION_CONDITIONS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/work.h"
#include "grammar_core/intersection/char_edges.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

using ConditionId = std::uint32_t;
using ConditionList = std::vector<ConditionId>;

// The conditions of one automaton, each numbered when it is first met.
class Conditions {
 public:
  // Both must outlive this.
  Conditions(TermStore* store, CharEdgeSource* characters)
      : store_(store), characters_(characters) {}

  // Appends the conditions that `term` is; false where it is plainly no text. Sort() is to follow.
  bool Append(CharTerm term, ConditionList* list);
  // Makes a list of what was appended; false where some of it plainly contradict: x and not x.
  bool Sort(ConditionList* list);

  // Whether the empty text meets it.
  [[nodiscard]] bool nullable(ConditionId id) const {
    return store_->term(conditions_[id].term).nullable;
  }
  // For a complement: what it is the complement of.
  [[nodiscard]] std::optional<ConditionId> negated(ConditionId id) const {
    return conditions_[id].negated;
  }
  // None where the condition is no choice. The reference lives as long as this.
  const std::vector<ConditionList>& WaysOf(ConditionId id);

  // What each next character leads to; null: plainly no text.
  using Edges = std::vector<EdgeTo<const ConditionList*>>;
  // The reference lives as long as this.
  const Edges& EdgesOf(ConditionId id, Work& work);
  // Lower bound of the characters of a text that meets the condition.
  [[nodiscard]] std::uint32_t FewestChars(ConditionId id) const { return conditions_[id].fewest; }

  // About how many places a text may stand at within the condition: by so much it multiplies a
  // search.
  [[nodiscard]] std::uint32_t Places(ConditionId id) const { return conditions_[id].places; }

  // Bytes of the conditions, their edges and lists.
  [[nodiscard]] std::int64_t held_bytes() const { return held_bytes_; }

 private:
  static constexpr ConditionId kEveryText = 0xFFFFFFFF;

  struct Condition {
    CharTerm term = kNothingTerm;
    std::optional<ConditionId> negated;
    std::uint32_t fewest = 0;
    std::uint32_t places = 0;
    bool has_ways = false;
    bool has_edges = false;
    std::vector<ConditionList> ways;
    Edges edges;
  };

  ConditionId IdOf(CharTerm term);
  // The ways of a choice, or what an intersection is of.
  [[nodiscard]] std::vector<CharTerm> PartsOf(const Term& term) const;
  const ConditionList* ListOf(CharTerm term);
  std::uint32_t FewestCharsOf(CharTerm term);
  std::uint32_t ComputeFewest(const Term& term);
  std::uint32_t PlacesOf(CharTerm term);
  std::uint32_t ComputePlaces(const Term& term);

  TermStore* store_;
  CharEdgeSource* characters_;
  std::deque<Condition> conditions_;
  absl::flat_hash_map<CharTerm, ConditionId> ids_;
  // Null where that is plainly no text.
  absl::flat_hash_map<CharTerm, std::unique_ptr<const ConditionList>> lists_;
  absl::flat_hash_map<CharTerm, std::uint32_t> fewest_;
  absl::flat_hash_map<CharTerm, std::uint32_t> places_;
  std::int64_t held_bytes_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_INTERSECTION_CONDITIONS_H_
