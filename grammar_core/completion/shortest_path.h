// The shortest string that completes the text from a state, in the unit of the grammar's Measure.
//
// Bounds   a best-first search over states, led by the terms' lower bounds (A*): goes straight
//          where these are exact, as in JSON, and searches where they are not (intersections,
//          conditions of objects). The cells of a state, and the branches of a choice, are searched
//          one by one: what two need together is not looked for in all ways to share it. The result
//          is a shortest one in either case.
// Errors   RESOURCE_EXHAUSTED by `work`, or when no completion has at most `max_bytes` bytes (or
//          characters).
#ifndef MASKD_GRAMMAR_CORE_COMPLETION_SHORTEST_PATH_H_
#define MASKD_GRAMMAR_CORE_COMPLETION_SHORTEST_PATH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/rows/row_states.h"

namespace maskd {

// Without tokens that the grammar names.
absl::StatusOr<std::string> ShortestCompletion(const RowStates& states, RowStates::State state,
                                               int max_bytes, Work& work);

// The size of the smallest completion, tokens that the grammar names among them: a special one has
// none. kNoEnd if it is larger than `most`.
absl::StatusOr<std::uint32_t> SmallestCompletion(const RowStates& states,
                                                 const Vocabulary& vocabulary,
                                                 RowStates::State state, std::uint32_t most,
                                                 Work& work);

// Shortest texts of cells of one automaton, each searched for once: a state's shortest text is
// those of its cells, one after the other. One thread at a time.
//
// Straight  where at each byte the bounds show a way that loses nothing, the first of these is
//           taken and nothing is searched. All cells that such a text passes alone are known with
//           it: they would be asked for next. It depends on the cell, not on what was asked before.
class ShortestTexts {
 public:
  // The shortest text of the cell `cell`, which is no own state, as if items could be equal;
  // nothing where none has kMaxBytes at most, or `work` failed. Good until Forget().
  std::optional<absl::string_view> Of(const RowStates& states, TermId cell, Work& work);

  // The same without a search: whether it is known, and then what.
  [[nodiscard]] bool Knows(TermId cell) const { return texts_.contains(cell); }
  [[nodiscard]] std::optional<absl::string_view> Known(TermId cell) const;

  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const { return held_bytes_; }
  void Forget();

  // Longer texts have more tokens than are ever counted.
  static constexpr int kMaxBytes = 4096;

 private:
  // What is left of a text behind `from` bytes; null: there is none so short.
  struct Rest {
    std::shared_ptr<const std::string> text;
    std::size_t from = 0;
    bool is_straight = false;
  };

  // Whether the cell has a straight text; then it is known.
  bool TakeStraight(const RowStates& states, TermId cell, Work& work);
  void Put(TermId cell, Rest rest);

  absl::flat_hash_map<TermId, Rest> texts_;
  std::int64_t held_bytes_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPLETION_SHORTEST_PATH_H_
