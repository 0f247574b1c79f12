// A step for programs in C: each function checks its arguments and calls the method of the C++ Step
// that has its name. A struct of options may be older than this library: what it lacks reads as
// zero.
//
// Invariant  after an error the step is as it was before the call.
// Cost       that of the C++ Step: what is given is copied into its message.
#include <algorithm>
#include <cstdint>
#include <span>

#include "absl/time/time.h"

#include "client/c/handles.h"
#include "client/c/json.h"

namespace maskd::client {
namespace {

// Of the options' first version.
constexpr std::size_t kLeastOptions = offsetof(maskd_open_options, has_temperature);

// `gate` is where the options' reasoning gate lies, when there is one.
absl::Status ReadOptions(const maskd_open_options* given, OpenOptions& options,
                         v1::ReasoningGate& gate) {
  if (given == nullptr) return absl::OkStatus();
  const auto from = ReadStruct(given, kLeastOptions, "options");
  if (!from.ok()) return from.status();
  absl::Status status = ReadSpan(from->tokens, from->token_count, "options.tokens", options.tokens);
  if (!status.ok()) return status;
  status = ReadSpan(from->stop_ids, from->stop_id_count, "options.stop_ids", options.stop_ids);
  if (!status.ok()) return status;
  status = ReadBiases(from->biases, from->bias_count, "options.biases", options.biases);
  if (!status.ok()) return status;
  options.min_tokens = from->min_tokens;
  options.want_answer = from->want_answer != 0;
  options.observe = from->observe != 0;
  if (from->remaining_tokens > 0) options.remaining_tokens = from->remaining_tokens;
  if (from->has_temperature != 0) options.temperature = from->temperature;
  if (from->reasoning_json == nullptr) return absl::OkStatus();
  options.reasoning = &gate;
  return FromJson(from->reasoning_json, gate, "options.reasoning_json");
}

absl::Status OpenRow(maskd_step* step, std::uint64_t row, const char* grammar_id,
                     const maskd_open_options* from) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  if (absl::Status status = NotNull(grammar_id, "grammar_id"); !status.ok()) return status;
  OpenOptions options;
  v1::ReasoningGate gate;
  if (absl::Status status = ReadOptions(from, options, gate); !status.ok()) return status;
  step->step.Open(row, grammar_id, options);
  return absl::OkStatus();
}

absl::Status OpenRowOnText(maskd_step* step, std::uint64_t row, const char* grammar_json,
                           const maskd_open_options* from) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  OpenOptions options;
  v1::ReasoningGate gate;
  if (absl::Status status = ReadOptions(from, options, gate); !status.ok()) return status;
  v1::Grammar grammar;
  absl::Status status = FromJson(grammar_json, grammar, "grammar_json");
  if (!status.ok()) return status;
  step->step.Open(row, grammar, options);
  return absl::OkStatus();
}

absl::Status OpenSnapshot(maskd_step* step, const char* snapshot_json) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  v1::OpenRow open;
  absl::Status status = FromJson(snapshot_json, open, "snapshot_json");
  if (status.ok()) step->step.Open(open);
  return status;
}

absl::Status Take(maskd_step* step, std::uint64_t row, const std::int32_t* tokens,
                  std::int64_t token_count) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  std::span<const std::int32_t> taken;
  absl::Status status = ReadSpan(tokens, token_count, "tokens", taken);
  if (!status.ok()) return status;
  step->step.Take(row, taken);
  return absl::OkStatus();
}

absl::Status Draft(maskd_step* step, std::uint64_t row, const std::int32_t* drafts,
                   const std::int32_t* parents, std::int64_t draft_count) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  std::span<const std::int32_t> tokens;
  absl::Status status = ReadSpan(drafts, draft_count, "drafts", tokens);
  if (!status.ok()) return status;
  std::span<const std::int32_t> tree;
  if (parents != nullptr) tree = {parents, tokens.size()};
  step->step.Draft(row, tokens, tree);
  return absl::OkStatus();
}

absl::Status DraftEach(maskd_step* step, const std::uint64_t* rows,
                       const std::int32_t* token_counts, const std::int32_t* draft_counts,
                       const std::int32_t* tokens, std::int64_t count) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  std::span<const std::uint64_t> named;
  if (absl::Status status = ReadSpan(rows, count, "rows", named); !status.ok()) return status;
  std::span<const std::int32_t> taken;
  absl::Status status = ReadSpan(token_counts, count, "token_counts", taken);
  if (!status.ok()) return status;
  std::span<const std::int32_t> drafted;
  status = ReadSpan(draft_counts, count, "draft_counts", drafted);
  if (!status.ok()) return status;
  const auto is_negative = [](std::int32_t each) { return each < 0; };
  if (std::ranges::any_of(taken, is_negative) || std::ranges::any_of(drafted, is_negative))
    return absl::InvalidArgumentError("counts: negative count");
  if (status = count > 0 ? NotNull(tokens, "tokens") : absl::OkStatus(); !status.ok())
    return status;
  for (std::size_t i = 0; i < named.size(); ++i) {
    step->step.Take(named[i], {tokens, static_cast<std::size_t>(taken[i])});
    tokens += taken[i];
    if (drafted[i] > 0) step->step.Draft(named[i], {tokens, static_cast<std::size_t>(drafted[i])});
    tokens += drafted[i];
  }
  return absl::OkStatus();
}

// Changes a step that is not null.
template <typename Change>
maskd_status* ChangeStep(maskd_step* step, const Change& change) {
  if (step == nullptr) return ToC(NotNull(step, "step"));
  change(step->step);
  return nullptr;
}

}  // namespace

absl::Status TakeEach(maskd_step* step, const std::uint64_t* rows, const std::int32_t* tokens,
                      std::int64_t count) {
  if (absl::Status status = NotNull(step, "step"); !status.ok()) return status;
  std::span<const std::uint64_t> named;
  if (absl::Status status = ReadSpan(rows, count, "rows", named); !status.ok()) return status;
  std::span<const std::int32_t> sampled;
  absl::Status status = ReadSpan(tokens, count, "tokens", sampled);
  if (!status.ok()) return status;
  for (std::size_t i = 0; i < named.size(); ++i) step->step.Take(named[i], sampled.subspan(i, 1));
  return absl::OkStatus();
}

}  // namespace maskd::client

using maskd::client::ChangeStep;
using maskd::client::Step;
using maskd::client::ToC;

extern "C" {

maskd_step* maskd_step_new(void) { return new maskd_step; }

void maskd_step_free(maskd_step* step) { delete step; }

void maskd_step_clear(maskd_step* step) {
  if (step != nullptr) step->step.Clear();
}

maskd_status* maskd_step_open(maskd_step* step, uint64_t row, const char* grammar_id,
                              const maskd_open_options* options) {
  return ToC(maskd::client::OpenRow(step, row, grammar_id, options));
}

maskd_status* maskd_step_open_grammar(maskd_step* step, uint64_t row, const char* grammar_json,
                                      const maskd_open_options* options) {
  return ToC(maskd::client::OpenRowOnText(step, row, grammar_json, options));
}

maskd_status* maskd_step_open_snapshot(maskd_step* step, const char* snapshot_json) {
  return ToC(maskd::client::OpenSnapshot(step, snapshot_json));
}

maskd_status* maskd_step_take(maskd_step* step, uint64_t row, const int32_t* tokens,
                              int64_t token_count) {
  return ToC(maskd::client::Take(step, row, tokens, token_count));
}

maskd_status* maskd_step_take_each(maskd_step* step, const uint64_t* rows, const int32_t* tokens,
                                   int64_t count) {
  return ToC(maskd::client::TakeEach(step, rows, tokens, count));
}

maskd_status* maskd_step_rollback(maskd_step* step, uint64_t row, uint32_t token_count) {
  return ChangeStep(step, [&](Step& change) { change.Rollback(row, token_count); });
}

maskd_status* maskd_step_draft(maskd_step* step, uint64_t row, const int32_t* drafts,
                               const int32_t* parents, int64_t draft_count) {
  return ToC(maskd::client::Draft(step, row, drafts, parents, draft_count));
}

maskd_status* maskd_step_set_remaining(maskd_step* step, uint64_t row, uint32_t token_count) {
  return ChangeStep(step, [&](Step& change) { change.SetRemaining(row, token_count); });
}

maskd_status* maskd_step_want_forced(maskd_step* step, uint64_t row) {
  return ChangeStep(step, [&](Step& change) { change.WantForced(row); });
}

maskd_status* maskd_step_snapshot(maskd_step* step, uint64_t row) {
  return ChangeStep(step, [&](Step& change) { change.Snapshot(row); });
}

maskd_status* maskd_step_draft_each(maskd_step* step, const uint64_t* rows,
                                    const int32_t* token_counts, const int32_t* draft_counts,
                                    const int32_t* tokens, int64_t count) {
  return ToC(maskd::client::DraftEach(step, rows, token_counts, draft_counts, tokens, count));
}

maskd_status* maskd_step_fork(maskd_step* step, uint64_t parent, uint64_t child) {
  return ChangeStep(step, [&](Step& change) { change.Fork(parent, child); });
}

maskd_status* maskd_step_close(maskd_step* step, uint64_t row) {
  return ChangeStep(step, [&](Step& change) { change.Close(row); });
}

maskd_status* maskd_step_wait_for_compile(maskd_step* step, int64_t at_most_ms) {
  return ChangeStep(step,
                    [&](Step& change) { change.WaitForCompile(absl::Milliseconds(at_most_ms)); });
}

}  // extern "C"
