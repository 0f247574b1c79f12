// A lock that clang's thread-safety analysis can check and ThreadSanitizer can see.
//
// It wraps std::mutex: the packaged absl::Mutex lives in a library built without instrumentation
// and gives false reports under TSan. Same names and annotations as absl::Mutex and
// absl::MutexLock.
#ifndef MASKD_GRAMMAR_CORE_BASE_MUTEX_H_
#define MASKD_GRAMMAR_CORE_BASE_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace maskd {

// Not recursive. Prefer MutexLock to the calls.
class ABSL_LOCKABLE Mutex {
 public:
  // Looks for a while before it sleeps: most locks here guard a look-up, and to sleep and be woken
  // takes longer than the holder needs.
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    for (int look = 0; look < kLooks; ++look) {
      if (mutex_.try_lock()) return;
      Pause();
    }
    mutex_.lock();
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class CondVar;

  // Some 2 us.
  static constexpr int kLooks = 100;

  // Leaves the core's pipeline to the holder.
  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  std::mutex mutex_;
};

// Holds `mutex` for its own lifetime.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  // Waits for the lock; the destructor gives it back.
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }

 private:
  Mutex* const mutex_;
};

// Waits for a change of what a Mutex guards. A wait can end without one: look again in a loop.
class CondVar {
 public:
  // Gives `mutex` back while it waits, until a notification or `deadline`. False at the deadline.
  bool WaitUntil(Mutex* mutex, std::chrono::steady_clock::time_point deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    const std::cv_status status = changed_.wait_until(lock, deadline);
    lock.release();
    return status == std::cv_status::no_timeout;
  }
  // The same without a deadline. Either may return although nobody notified.
  void Wait(Mutex* mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }
  // Wakes one of those that wait, or all. The notifier need not hold the lock.
  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_MUTEX_H_
