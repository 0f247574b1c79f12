#include "service/callers/open_calls.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

#include "cache/load_error.h"

namespace maskd::service {
namespace {

// A call is over when its compile is, most often.
constexpr std::int64_t kRetryAfterMs = 1000;

}  // namespace

absl::StatusOr<OpenCalls::Place> OpenCalls::Take(const std::string& owner) {
  const MutexLock lock(&mutex_);
  if (open_ >= most_) {
    return cache::OverloadedError(
        "TOO_MANY_MESSAGES",
        absl::StrCat("there are ", most_, " calls already, and no more can wait"), kRetryAfterMs);
  }
  const auto found = of_.find(owner);
  const int own = found == of_.end() ? 0 : found->second;
  if (own >= MostOfOne()) {
    return cache::OverloadedError(
        "TOO_MANY_MESSAGES",
        absl::StrCat("there are ", own, " calls of this caller already, and ", most_ - open_,
                     " places are kept for others"),
        kRetryAfterMs);
  }
  of_[owner] = own + 1;
  ++open_;
  return Place(this, owner);
}

OpenCalls::Fullest OpenCalls::fullest() const {
  const MutexLock lock(&mutex_);
  Fullest fullest;
  for (const auto& [owner, open] : of_) fullest.open = std::max(fullest.open, open);
  // Each call that it adds takes a free place, too.
  const int left_by_others = most_ - (open_ - fullest.open);
  fullest.most = (kShare * left_by_others + kShare) / (kShare + 1);
  return fullest;
}

void OpenCalls::GiveBack(const std::string& owner) {
  const MutexLock lock(&mutex_);
  --open_;
  const auto found = of_.find(owner);
  if (--found->second == 0) of_.erase(found);
}

}  // namespace maskd::service
