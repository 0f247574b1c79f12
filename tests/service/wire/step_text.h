// All that a step says, as a text: two steps are the same when theirs are.
#ifndef MASKD_TESTS_SERVICE_WIRE_STEP_TEXT_H_
#define MASKD_TESTS_SERVICE_WIRE_STEP_TEXT_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "service/sequences/stream_types.h"

namespace maskd::service {

// A status says its payloads in any order.
inline std::string Describe(const absl::Status& status) {
  return status.ToString(absl::StatusToStringMode::kWithNoExtraData);
}

inline std::string Describe(const std::optional<int>& number) {
  return number.has_value() ? absl::StrCat(*number) : "-";
}

inline std::string Describe(const RowToMove& move) {
  return absl::StrCat("move ", move.row, " ", Describe(move.refusal), " back ", move.rollback, " [",
                      absl::StrJoin(move.tokens, " "), "] drafts ", move.has_drafts, " [",
                      absl::StrJoin(move.drafts, " "), "] [",
                      absl::StrJoin(move.draft_parents, " "), "] forced ", move.want_forced,
                      " left ", Describe(move.remaining_tokens), "\n");
}

inline std::string Describe(const RowToOpen& open) {
  return absl::StrCat("open ", open.row, " ", Describe(open.refusal), " ", open.target.id, " ",
                      open.target.source.has_value() ? open.target.source->text : "-", " [",
                      absl::StrJoin(open.tokens, " "), "] stops [",
                      absl::StrJoin(open.options.stop_ids, " "), "] least ",
                      open.options.min_tokens, " left ", Describe(open.remaining_tokens), "\n");
}

inline std::string Describe(const StepRequest& step) {
  std::string text = absl::StrCat("step ", step.step, " wait ", step.wait_ms, "\n");
  for (const RowToOpen& open : step.opens) absl::StrAppend(&text, Describe(open));
  for (const RowToMove& move : step.moves) absl::StrAppend(&text, Describe(move));
  for (const RowToFork& fork : step.forks)
    absl::StrAppend(&text, "fork ", fork.parent, " ", fork.child, "\n");
  absl::StrAppend(&text, "snapshots ", absl::StrJoin(step.snapshots, " "), " closes ",
                  absl::StrJoin(step.closes, " "));
  return text;
}

// What reading it gave.
inline std::string Outcome(const absl::Status& read, const StepRequest& step) {
  return read.ok() ? Describe(step) : Describe(read);
}

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_WIRE_STEP_TEXT_H_
