// How many rows are live is one counter of the process, which each stream's part is added to when
// it changes; how a step's rows came out is counted once a step, all outcomes together. The streams
// are in one list, which a scrape walks.
#include "service/sequences/row_counts.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"

#include "grammar_core/base/mutex.h"
#include "grammar_core/matcher/matcher.h"
#include "service/base/errors.h"
#include "service/sequences/stream_row.h"

namespace maskd::service {
namespace {

// One number, added to by every stream's thread; relaxed, since a scrape needs no order between it
// and other figures.
std::atomic<std::int64_t> live_rows = 0;

// Never destroyed: a stream may end after main().
struct Streams {
  Mutex mutex;
  absl::flat_hash_set<const OpenRows*> all ABSL_GUARDED_BY(mutex);
};
Streams& AllStreams() {
  static auto* const streams = new Streams();
  return *streams;
}

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

metrics::SentForm SentFormOf(const Position& position) {
  if (position.state == Position::State::kFull) return metrics::SentForm::kFull;
  switch (position.form.kind) {
    case MaskForm::Kind::kSameAs:
      return metrics::SentForm::kSameAs;
    case MaskForm::Kind::kAllowedIds:
      return metrics::SentForm::kAllowedIds;
    case MaskForm::Kind::kForbiddenIds:
      return metrics::SentForm::kForbiddenIds;
    case MaskForm::Kind::kDelta:
      return metrics::SentForm::kDelta;
    case MaskForm::Kind::kDense:
      break;
  }
  return metrics::SentForm::kDense;
}

// Of one step.
struct Counts {
  std::array<int, metrics::kRowOutcomeCount> outcomes{};
  std::array<int, metrics::kSentFormCount> forms{};
  int drafts = 0;
  int accepted = 0;

  void Add(const RowResult& row) {
    ++outcomes[static_cast<std::size_t>(OutcomeOf(row))];
    for (const Position& position : row.positions)
      if (position.state != Position::State::kInvalid)
        ++forms[static_cast<std::size_t>(SentFormOf(position))];
    if (!row.accepted_drafts.has_value()) return;
    drafts += static_cast<int>(row.positions.size()) - 1;  // each has a position
    accepted += *row.accepted_drafts;
  }
};

}  // namespace

void CountAnswers(const StepResult& result, metrics::Metrics* metrics) {
  Counts counts;
  for (const RowResult& row : result.rows) {
    counts.Add(row);
    if (!row.error.ok()) metrics->RowErred(WireReason(row.error));
  }
  for (std::size_t i = 0; i < counts.outcomes.size(); ++i)
    if (counts.outcomes[i] > 0)
      metrics->RowsAnswered(static_cast<metrics::RowOutcome>(i), counts.outcomes[i]);
  for (std::size_t i = 0; i < counts.forms.size(); ++i)
    if (counts.forms[i] > 0) metrics->MasksSent(static_cast<metrics::SentForm>(i), counts.forms[i]);
  if (counts.drafts > 0) metrics->DraftTokens(counts.accepted, counts.drafts - counts.accepted);
}

OpenRows::OpenRows(metrics::Metrics* metrics) : metrics_(metrics) {
  Streams& streams = AllStreams();
  const MutexLock lock(&streams.mutex);
  streams.all.insert(this);
}

OpenRows::~OpenRows() {
  Set(0);
  Streams& streams = AllStreams();
  const MutexLock lock(&streams.mutex);
  streams.all.erase(this);
}

int FullestStream() {
  Streams& streams = AllStreams();
  const MutexLock lock(&streams.mutex);
  int most = 0;
  for (const OpenRows* rows : streams.all) most = std::max(most, rows->count());
  return most;
}

void OpenRows::Set(int rows) {
  const int change = rows - count();
  if (change == 0) return;
  rows_.store(rows, std::memory_order_relaxed);
  live_rows.fetch_add(change, std::memory_order_relaxed);
  if (metrics_ != nullptr) metrics_->RowsOpenChanged(change);
}

std::int64_t LiveRows() { return live_rows.load(std::memory_order_relaxed); }

std::int64_t LiveRowBytes() {
  constexpr std::int64_t kRowBytes = sizeof(RowId) + sizeof(StreamRow) + sizeof(RowOptions);
  return LiveRows() * (kRowBytes + Matcher::StepperBytes()) + Matcher::LiveBytes() +
         RowAnswer::LiveBytes();
}

}  // namespace maskd::service
