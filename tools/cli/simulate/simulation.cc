// A decode loop as an engine has it. A sequence goes through phases: it waits for its grammar,
// decodes, has sampled a stop id, is done. Its texts depend on its own random numbers alone, so
// they are the same whatever else is in the batch.
//
// Invariant  a row is opened once and closed once; a sequence that has failed is done.
// Cost       for each step: one message each way, one pass of the model and of the applier over the
//            logits.
#include "tools/cli/simulate/simulation.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "client/cpp/steps/target_rows.h"

namespace maskd::cli {
namespace {

constexpr absl::Duration kCompileWait = absl::Seconds(10);
constexpr absl::Duration kReplyTimeout = absl::Seconds(60);

// Rows are named by their sequence's place in the list.
client::RowId RowOf(std::size_t index) { return index + 1; }

// Microseconds since `*since`, which becomes now.
double Lap(absl::Time& since) {
  const absl::Time now = absl::Now();
  const double us = absl::ToDoubleMicroseconds(now - since);
  since = now;
  return us;
}

std::int64_t CountAllowed(std::span<const std::int32_t> words) {
  std::int64_t count = 0;
  for (const std::int32_t word : words) count += std::popcount(static_cast<std::uint32_t>(word));
  return count;
}

std::vector<std::int32_t> StopIds(const client::MaskStream& stream) {
  const auto& ids = stream.welcome().tokenizer().stop_ids();
  return {ids.begin(), ids.end()};
}

void Fail(Sequence& sequence, absl::Status error) {
  sequence.error = std::move(error);
  sequence.phase = Sequence::Phase::kDone;
}

}  // namespace

Simulation::Simulation(client::MaskStream& stream, const client::Applier& applier,
                       const std::vector<v1::Token>& tokens, std::int64_t logits_width,
                       const SimulationOptions& options, std::vector<Sequence> sequences)
    : stream_(stream),
      applier_(applier),
      tokens_(tokens),
      logits_width_(logits_width),
      options_(options),
      model_(tokens, StopIds(stream), options.seed),
      sequences_(std::move(sequences)),
      logits_(sequences_.size() * static_cast<std::size_t>(logits_width)) {
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    Sequence& sequence = sequences_[i];
    sequence.context.is_json = sequence.grammar.has_value();
    sequence.context.token_budget = options.token_budget;
    sequence.random.seed(options.seed * 1'000'003 + i);
    if (!sequence.grammar.has_value()) sequence.phase = Sequence::Phase::kDecoding;
  }
}

absl::Status Simulation::Run() {
  while (!IsDone())
    if (absl::Status status = RunStep(); !status.ok()) return status;
  return absl::OkStatus();
}

absl::Status Simulation::RunStep() {
  StepTimes& times = steps_.emplace_back();
  times.opens_rows = WriteStep();
  absl::Time clock = absl::Now();
  if (auto submitted = stream_.Submit(step_); !submitted.ok()) return submitted.status();
  times.submit_us = Lap(clock);
  Forward();
  times.forward_us = Lap(clock);
  if (absl::Status status = stream_.Collect(kReplyTimeout, result_); !status.ok()) return status;
  times.wait_us = Lap(clock);
  times.masks_us = times.submit_us + times.wait_us;
  ReadResult();
  clock = absl::Now();
  if (absl::Status status = ApplyMasks(); !status.ok()) return status;
  times.apply_us = Lap(clock);
  Sample();
  return absl::OkStatus();
}

// Says what has happened since the last step; true when it opens a row.
bool Simulation::WriteStep() {
  bool opens = false;
  step_.Clear();
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    Sequence& sequence = sequences_[i];
    if (!sequence.grammar.has_value() || sequence.closed) continue;
    if (!sequence.opened) {
      step_.Open(RowOf(i), *sequence.grammar);
      sequence.opened = opens = true;
    } else if (sequence.phase == Sequence::Phase::kDone) {
      step_.Close(RowOf(i));
      sequence.closed = true;
    } else {
      step_.Take(RowOf(i), sequence.sampled);
      sequence.sampled.clear();
    }
  }
  step_.WaitForCompile(opens ? kCompileWait : absl::ZeroDuration());
  return opens;
}

void Simulation::Forward() {
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    Sequence& sequence = sequences_[i];
    const bool has_logits =
        sequence.phase == Sequence::Phase::kDecoding || sequence.phase == Sequence::Phase::kWaiting;
    if (!has_logits) continue;
    model_.Forward(sequence.context, sequence.random, LogitsOf(static_cast<std::int64_t>(i)));
  }
}

void Simulation::ReadResult() {
  for (const client::RowResult& row : result_.rows()) {
    if (row.row == 0 || row.row > sequences_.size()) continue;
    ReadRow(sequences_[row.row - 1], row);
  }
}

void Simulation::ReadRow(Sequence& sequence, const client::RowResult& row) {
  if (!row.error.ok()) return Fail(sequence, row.error);
  if (row.masks.empty()) return;  // its grammar still compiles
  if (sequence.phase == Sequence::Phase::kWaiting) sequence.phase = Sequence::Phase::kDecoding;
  if (row.state == v1::ROW_STATE_FINISHED) {
    sequence.phase = Sequence::Phase::kDone;
    ++full_masks_;
    return;
  }
  if (sequence.phase == Sequence::Phase::kEnding)
    return Fail(sequence, absl::InternalError("a stop id was taken, but the row is not finished"));
  const std::span<const std::int32_t> words = row.masks.front().words();
  mask_bytes_ += static_cast<std::int64_t>(words.size_bytes());
  sequence.allowed_counts.push_back(CountAllowed(words));
}

absl::Status Simulation::ApplyMasks() {
  const std::int64_t vocab_size = stream_.welcome().tokenizer().vocab_size();
  std::vector<client::MaskRow> rows;
  for (const client::RowResult& row : result_.rows()) {
    const auto logits_row = static_cast<std::int64_t>(row.row) - 1;
    if (row.has_mask()) rows.push_back(ToMaskRow(row.masks.front(), vocab_size, logits_row));
  }
  const client::Logits logits{.data = logits_.data(),
                              .type = client::LogitsType::kFloat32,
                              .row_count = static_cast<std::int64_t>(sequences_.size()),
                              .width = logits_width_,
                              .row_stride = logits_width_};
  return applier_.Apply({.vocab_size = vocab_size, .rows = rows}, logits);
}

void Simulation::Sample() {
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    if (sequences_[i].phase != Sequence::Phase::kDecoding) continue;
    SampleRow(sequences_[i], static_cast<std::int64_t>(i));
  }
}

void Simulation::SampleRow(Sequence& sequence, std::int64_t row) {
  std::span<const float> logits = LogitsOf(row);
  // Nobody masks the padding of a row without a grammar; an engine's sampler leaves it out.
  if (!sequence.grammar.has_value()) logits = logits.first(tokens_.size());
  const auto token = static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
  if (token >= static_cast<std::int32_t>(tokens_.size())) {
    return Fail(sequence,
                absl::InternalError(absl::StrCat("padding logit ", token, " was sampled")));
  }
  sequence.sampled.push_back(token);
  ++sequence.context.token_count;
  if (std::ranges::count(stream_.welcome().tokenizer().stop_ids(), token) > 0) {
    sequence.complete = true;
    sequence.phase =
        sequence.grammar.has_value() ? Sequence::Phase::kEnding : Sequence::Phase::kDone;
    return;
  }
  const std::string& text = tokens_[static_cast<std::size_t>(token)].text();
  sequence.text += text;
  sequence.context.place.Take(text);
  if (sequence.context.token_count < options_.max_tokens) return;
  Fail(sequence, absl::ResourceExhaustedError(absl::StrCat("the text has not ended after ",
                                                           options_.max_tokens, " tokens")));
}

std::span<float> Simulation::LogitsOf(std::int64_t row) {
  return std::span(logits_).subspan(static_cast<std::size_t>(row * logits_width_),
                                    static_cast<std::size_t>(logits_width_));
}

bool Simulation::IsDone() const {
  return std::ranges::all_of(
      sequences_, [](const Sequence& each) { return each.phase == Sequence::Phase::kDone; });
}

}  // namespace maskd::cli
