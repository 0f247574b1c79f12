// A reply counts from before it is made until it is sent, as its bytes are in memory for that long.
// When there is no room the oldest is cancelled, not the newest: it has had the most time to be
// read. The call that found no room is refused all the same, since the cancelled one frees its
// bytes later.
#include "service/callers/unread_replies.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

#include "cache/load_error.h"

namespace maskd::service {
namespace {

constexpr std::int64_t kRetryAfterMs = 1000;

}  // namespace

absl::Status UnreadReplies::Add(const void* call, std::int64_t bytes,
                                std::function<void()> cancel) {
  const MutexLock lock(&mutex_);
  if (bytes_ + bytes > max_bytes_) {
    CancelOldest();
    return cache::OverloadedError("REPLIES_UNREAD",
                                  absl::StrCat("limit max_unread_reply_bytes is ", max_bytes_, ", ",
                                               bytes_ + bytes, " needed"),
                                  kRetryAfterMs);
  }
  // Counted again for a call that is there: its reply grows as it is made.
  bytes_ += bytes;
  if (const auto found = by_call_.find(call); found != by_call_.end()) {
    found->second->bytes += bytes;
    return absl::OkStatus();
  }
  replies_.push_back({call, bytes, clock_->Now(), std::move(cancel)});
  by_call_[call] = std::prev(replies_.end());
  return absl::OkStatus();
}

void UnreadReplies::Remove(const void* call) {
  const MutexLock lock(&mutex_);
  const auto found = by_call_.find(call);
  if (found == by_call_.end()) return;
  bytes_ -= found->second->bytes;
  replies_.erase(found->second);
  by_call_.erase(found);
}

void UnreadReplies::CancelOldest() {
  const auto oldest =
      std::ranges::find_if(replies_, [](const Reply& reply) { return reply.cancel != nullptr; });
  if (oldest == replies_.end() || clock_->Now() - oldest->made < kPatience) return;
  std::exchange(oldest->cancel, nullptr)();
}

}  // namespace maskd::service
