#include "client/apply/row_pool.h"

#include <system_error>

namespace maskd::client {

RowPool::RowPool(int threads) {
  try {
    for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  } catch (const std::system_error&) {
    // Those that there are share the rows: the caller alone, at worst.
  }
}

RowPool::~RowPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void RowPool::TakeRows(RowFunction row, std::int64_t count) {
  for (std::int64_t i = 0; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count;) row(i);
}

void RowPool::ForEach(std::int64_t count, RowFunction row) {
  std::unique_lock asking(asking_, std::defer_lock);
  if (threads_.empty() || count < 2 || !asking.try_lock()) {
    for (std::int64_t i = 0; i < count; ++i) row(i);
    return;
  }
  std::unique_lock lock(mutex_);
  next_.store(0, std::memory_order_relaxed);
  row_ = &row;
  count_ = count;
  working_ = static_cast<int>(threads_.size());
  ++batch_;
  lock.unlock();
  changed_.notify_all();
  TakeRows(row, count);
  lock.lock();
  changed_.wait(lock, [this] { return working_ == 0; });
}

void RowPool::Work() {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return batch_ != seen || stopping_; });
    if (stopping_) return;
    seen = batch_;
    const RowFunction row = *row_;
    const std::int64_t count = count_;
    lock.unlock();
    TakeRows(row, count);
    lock.lock();
    if (--working_ == 0) changed_.notify_all();
  }
}

}  // namespace maskd::client
