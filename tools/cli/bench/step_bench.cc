#include "tools/cli/bench/step_bench.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace maskd::cli {
namespace {

constexpr absl::Duration kReplyTimeout = absl::Seconds(60);
// What the server has dropped since it was compiled is compiled once more.
constexpr absl::Duration kCompileWait = absl::Seconds(30);

}  // namespace

StepBench::StepBench(client::MaskStream& stream, std::vector<std::string> grammar_ids,
                     std::uint64_t seed)
    : stream_(stream), grammar_ids_(std::move(grammar_ids)), random_(seed) {}

absl::Status StepBench::Run(int row_count, int step_count) {
  rows_.assign(static_cast<std::size_t>(row_count), Row());
  step_us_.clear();
  for (int i = 0; i <= step_count; ++i) {
    if (i == 1) {
      step_us_.clear();  // the first one opened all rows
      mask_count_ = 0;
    }
    if (absl::Status status = DoStep(); !status.ok()) return status;
  }
  step_.Clear();
  for (const Row& row : rows_)
    if (row.id != 0) ended_.push_back(row.id);
  for (const client::RowId row : std::exchange(ended_, {})) step_.Close(row);
  if (const auto submitted = stream_.Submit(step_); !submitted.ok()) return submitted.status();
  return stream_.Collect(kReplyTimeout, result_);
}

void StepBench::WriteStep() {
  step_.Clear();
  step_.WaitForCompile(kCompileWait);
  for (const client::RowId row : std::exchange(ended_, {})) step_.Close(row);
  for (Row& row : rows_) {
    if (row.id == 0) {
      row = Row();
      row.id = next_row_++;
      step_.Open(row.id, grammar_ids_[next_grammar_++ % grammar_ids_.size()]);
    } else {
      step_.Take(row.id, row.sampled);
    }
  }
}

absl::Status StepBench::DoStep() {
  WriteStep();
  const absl::Time begin = absl::Now();
  if (const auto submitted = stream_.Submit(step_); !submitted.ok()) return submitted.status();
  if (absl::Status status = stream_.Collect(kReplyTimeout, result_); !status.ok()) return status;
  step_us_.push_back(absl::ToDoubleMicroseconds(absl::Now() - begin));
  for (Row& row : rows_)
    if (absl::Status status = ReadRow(row); !status.ok()) return status;
  return absl::OkStatus();
}

// Draws the row's next token, or ends the row.
absl::Status StepBench::ReadRow(Row& row) {
  const client::RowResult* result = result_.Find(row.id);
  if (result == nullptr) return absl::InternalError("a row has no answer");
  if (!result->error.ok()) return result->error;
  if (result->masks.empty()) return absl::InternalError("a row has no mask");
  ++mask_count_;
  const bool is_over = result->state == v1::ROW_STATE_FINISHED || row.token_count == kMaxTokens;
  if (is_over) {
    ended_.push_back(std::exchange(row.id, 0));
    return absl::OkStatus();
  }
  row.sampled = {Draw(result->masks.front().words())};
  ++row.token_count;
  return absl::OkStatus();
}

// A token of the mask; a stop id only where it has nothing else, so that texts have some length.
std::int32_t StepBench::Draw(std::span<const std::int32_t> words) {
  std::vector<std::int32_t> allowed;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (auto bits = static_cast<std::uint32_t>(words[i]); bits != 0; bits &= bits - 1)
      allowed.push_back(static_cast<std::int32_t>(32 * i) + std::countr_zero(bits));
  const auto stops = std::ranges::partition(allowed, [&](auto token) { return !IsStop(token); });
  if (stops.size() < allowed.size()) allowed.erase(stops.begin(), stops.end());
  return allowed[random_() % allowed.size()];
}

bool StepBench::IsStop(std::int32_t token) const {
  return std::ranges::count(stream_.welcome().tokenizer().stop_ids(), token) > 0;
}

}  // namespace maskd::cli
