// What is counted of the rows of streams: how many are open, what they hold, how each step's came
// out, and how their masks were said.
//
// Threads  LiveRowBytes(), FullestStream(): any. The rest: the stream's.
#ifndef MASKD_SERVICE_SEQUENCES_ROW_COUNTS_H_
#define MASKD_SERVICE_SEQUENCES_ROW_COUNTS_H_

#include <atomic>
#include <cstdint>

#include "metrics/registry.h"
#include "service/sequences/stream_types.h"

namespace maskd::service {

// Rows that are open, of all streams.
std::int64_t LiveRows();

// What the rows of all streams hold.
std::int64_t LiveRowBytes();

// The rows that one stream has open; none once it goes.
class OpenRows {
 public:
  // Not owned; may be null.
  explicit OpenRows(metrics::Metrics* metrics);
  OpenRows(const OpenRows&) = delete;
  OpenRows& operator=(const OpenRows&) = delete;
  ~OpenRows();

  // Says how many there are now.
  void Set(int rows);
  // As was said last. Any thread.
  [[nodiscard]] int count() const { return rows_.load(std::memory_order_relaxed); }

 private:
  metrics::Metrics* const metrics_;
  std::atomic<int> rows_ = 0;
};

// Rows of the stream that has most of them.
int FullestStream();

// Counts each row of a step's result.
void CountAnswers(const StepResult& result, metrics::Metrics* metrics);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_ROW_COUNTS_H_
