// How many rows are live is one counter of the process, which each stream's part is added to when
// it changes; how a step's rows came out is counted once a step, all outcomes together.
#include "service/row_counts.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "grammar_core/matcher/matcher.h"
#include "service/stream_row.h"

namespace maskd::service {
namespace {

// One number, added to by every stream's thread; relaxed, since a scrape needs no order between it
// and other figures.
std::atomic<std::int64_t> live_rows = 0;

metrics::RowOutcome OutcomeOf(const RowResult& row) {
  if (row.refused_token.has_value()) return metrics::RowOutcome::kRefusedToken;
  switch (row.state) {
    case RowState::kCompiling:
      return metrics::RowOutcome::kCompiling;
    case RowState::kFree:
    case RowState::kActive:
      return metrics::RowOutcome::kActive;
    case RowState::kFinished:
      return metrics::RowOutcome::kFinished;
    case RowState::kFailed:
      return metrics::RowOutcome::kFailed;
    case RowState::kRefused:
      break;
  }
  return metrics::RowOutcome::kRefused;
}

}  // namespace

void CountAnswers(const StepResult& result, metrics::Metrics* metrics) {
  std::array<int, metrics::kRowOutcomeCount> counts{};
  for (const RowResult& row : result.rows) ++counts[static_cast<std::size_t>(OutcomeOf(row))];
  for (int i = 0; i < metrics::kRowOutcomeCount; ++i)
    if (counts[i] > 0) metrics->RowsAnswered(static_cast<metrics::RowOutcome>(i), counts[i]);
}

void OpenRows::Set(int rows) {
  const int change = rows - std::exchange(rows_, rows);
  if (change == 0) return;
  live_rows.fetch_add(change, std::memory_order_relaxed);
  if (metrics_ != nullptr) metrics_->RowsOpenChanged(change);
}

std::int64_t LiveRows() { return live_rows.load(std::memory_order_relaxed); }

std::int64_t LiveRowBytes() {
  return LiveRows() * static_cast<std::int64_t>(sizeof(RowId) + sizeof(StreamRow)) +
         Matcher::LiveBytes() + RowAnswer::LiveBytes();
}

}  // namespace maskd::service
