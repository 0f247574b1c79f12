// How many calls are open, and whose: no caller has all the places.
//
// Rule     a caller may have kShare calls for each place that is free: alone it has eight ninths of
//          all places. Who has none has one as long as any is free.
// Caller   by its identity, whatever connections it has.
// Cost     a look-up a call.
// Threads  any.
#ifndef MASKD_SERVICE_CALLERS_OPEN_CALLS_H_
#define MASKD_SERVICE_CALLERS_OPEN_CALLS_H_

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/mutex.h"

namespace maskd::service {

// The places, and who has them.
class OpenCalls {
 public:
  static constexpr int kShare = 8;

  // At most `most` calls are open at once.
  explicit OpenCalls(int most) : most_(most) {}

  // Given back when it is destroyed.
  class Place {
   public:
    // A place is held by one.
    Place(Place&& other) noexcept
        : calls_(std::exchange(other.calls_, nullptr)), owner_(std::move(other.owner_)) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (calls_ != nullptr) calls_->GiveBack(owner_);
    }

   private:
    friend class OpenCalls;
    Place(OpenCalls* calls, std::string owner) : calls_(calls), owner_(std::move(owner)) {}

    OpenCalls* calls_;
    std::string owner_;
  };

  // Errors: RESOURCE_EXHAUSTED with a retry hint.
  absl::StatusOr<Place> Take(const std::string& owner) ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls of the caller that has most, and how many that one may have.
  struct Fullest {
    int open = 0;
    int most = 0;
  };
  [[nodiscard]] Fullest fullest() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // How many one caller may have now.
  [[nodiscard]] int MostOfOne() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return kShare * (most_ - open_);
  }
  void GiveBack(const std::string& owner) ABSL_LOCKS_EXCLUDED(mutex_);

  const int most_;
  mutable Mutex mutex_;
  int open_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, int> of_ ABSL_GUARDED_BY(mutex_);  // those who have some
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLERS_OPEN_CALLS_H_
