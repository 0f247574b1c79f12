// A lock that clang's thread-safety analysis can check and ThreadSanitizer can see.
//
// It wraps std::mutex: the packaged absl::Mutex lives in a library built without instrumentation and
// gives false reports under TSan. Same names and annotations as absl::Mutex and absl::MutexLock.
#ifndef MASKD_GRAMMAR_CORE_BASE_MUTEX_H_
#define MASKD_GRAMMAR_CORE_BASE_MUTEX_H_

#include <mutex>

#include "absl/base/thread_annotations.h"

namespace maskd {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Holds `mutex` for its own lifetime.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_->Lock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }

 private:
  Mutex* const mutex_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_MUTEX_H_
