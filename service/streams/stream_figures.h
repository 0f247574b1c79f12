// What one stream has done so far: written by the thread that has the stream, read by whoever lists
// streams.
//
// Cost     some writes of memory a step, and no lock. Figures that are read together may be of two
//          steps.
// Threads  one writes at a time, any read.
#ifndef MASKD_SERVICE_STREAMS_STREAM_FIGURES_H_
#define MASKD_SERVICE_STREAMS_STREAM_FIGURES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "grammar_core/base/clock.h"
#include "metrics/registry.h"
#include "service/sequences/stream_types.h"

namespace maskd::service {

// Rows that are open, by RowState; none is kRefused.
using RowTally = std::array<std::int64_t, static_cast<std::size_t>(RowState::kRefused)>;

// The figures of one stream.
class StreamFigures {
 public:
  // What never changes.
  struct Who {
    std::string identity;
    std::string tenant;
  };

  // As of one look.
  struct Values {
    std::optional<metrics::Transport> transport;  // none: no step has come
    RowTally rows = {};
    std::int64_t tokens = 0;
    std::int64_t steps = 0;
    Clock::Duration step_time{};  // without waits for compiles
    std::int64_t received_bytes = 0;
    std::int64_t sent_bytes = 0;
    Clock::TimePoint active;                  // the last step's answer, or the begin
    std::optional<Clock::TimePoint> in_step;  // since when
  };

  // The stream came at `begin`.
  StreamFigures(Who who, Clock::TimePoint begin)
      : who_(std::move(who)), begin_(begin), active_(begin.time_since_epoch().count()) {}

  // Constants, and one look at the figures, which other threads may write meanwhile.
  [[nodiscard]] const Who& who() const { return who_; }
  [[nodiscard]] Clock::TimePoint begin() const { return begin_; }
  [[nodiscard]] Values Read() const;

  // By the stream's thread, before and after each step; `taken` is without waits for compiles.
  void StepBegan(metrics::Transport transport, Clock::TimePoint now) {
    transport_.store(static_cast<int>(transport), std::memory_order_relaxed);
    in_step_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  void StepDone(Clock::TimePoint now, Clock::Duration taken, std::size_t received,
                std::size_t sent) {
    Add(&steps_, 1);
    Add(&step_time_, taken.count());
    Add(&received_bytes_, static_cast<std::int64_t>(received));
    Add(&sent_bytes_, static_cast<std::int64_t>(sent));
    active_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    in_step_.store(kNone, std::memory_order_relaxed);
  }
  // Where the rows stand, and all tokens that they have taken.
  void SetRows(const RowTally& rows, std::int64_t tokens) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows_[i].store(rows[i], std::memory_order_relaxed);
    tokens_.store(tokens, std::memory_order_relaxed);
  }

 private:
  using Number = std::atomic<std::int64_t>;
  static constexpr std::int64_t kNone = -1;

  // One writes, so it needs no locked instruction.
  static void Add(Number* number, std::int64_t more) {
    number->store(number->load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  const Who who_;
  const Clock::TimePoint begin_;
  std::atomic<int> transport_ = -1;
  std::array<Number, std::tuple_size_v<RowTally>> rows_ = {};
  Number tokens_ = 0;
  Number steps_ = 0;
  Number step_time_ = 0;
  Number received_bytes_ = 0;
  Number sent_bytes_ = 0;
  Number active_;
  Number in_step_ = kNone;
};

// Each figure by itself: two of them may be of two steps.
inline StreamFigures::Values StreamFigures::Read() const {
  const auto value = [](const Number& number) { return number.load(std::memory_order_relaxed); };
  const auto time = [](std::int64_t count) { return Clock::TimePoint(Clock::Duration(count)); };
  Values values;
  if (const int transport = transport_.load(std::memory_order_relaxed); transport >= 0)
    values.transport = static_cast<metrics::Transport>(transport);
  for (std::size_t i = 0; i < rows_.size(); ++i) values.rows[i] = value(rows_[i]);
  values.tokens = value(tokens_);
  values.steps = value(steps_);
  values.step_time = Clock::Duration(value(step_time_));
  values.received_bytes = value(received_bytes_);
  values.sent_bytes = value(sent_bytes_);
  values.active = time(value(active_));
  if (const std::int64_t since = value(in_step_); since != kNone) values.in_step = time(since);
  return values;
}

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_STREAM_FIGURES_H_
