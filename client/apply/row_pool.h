// Threads that share the rows of a large batch with the thread that asks.
//
// Threads  any number may ask at once: one has the pool's threads, the others do their own work.
// Errors   none; a function that is given must not throw.
// Locks    the standard library's: ThreadSanitizer does not see into the packaged Abseil.
#ifndef MASKD_CLIENT_APPLY_ROW_POOL_H_
#define MASKD_CLIENT_APPLY_ROW_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"

namespace maskd::client {

// Threads sleep between batches; waking them takes some 10 us, so small batches are not shared.
class RowPool {
 public:
  // `threads` in all, the asking one among them. At least 1. Where the system has no more threads,
  // as many as there are.
  explicit RowPool(int threads);
  // Waits for its threads. Nobody may be asking.
  ~RowPool();
  RowPool(const RowPool&) = delete;
  RowPool& operator=(const RowPool&) = delete;

  // Calls `row(i)` once for each i below `count`, in any order; returns when all are done.
  void ForEach(std::int64_t count, absl::FunctionRef<void(std::int64_t)> row);

 private:
  using RowFunction = absl::FunctionRef<void(std::int64_t)>;

  void Work();
  // Takes rows until there are none.
  void TakeRows(RowFunction row, std::int64_t count);

  std::mutex asking_;  // held by the thread that has the others
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  const RowFunction* row_ = nullptr;
  std::int64_t count_ = 0;
  std::uint64_t batch_ = 0;  // counts ForEach() calls
  int working_ = 0;
  bool stopping_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_ROW_POOL_H_
