// Shared memory that streams have been offered and not fetched yet, by the token that each was
// told. The sockets at which it is fetched. What of it is left when a stream has ended.
// docs/transports.md has the rules.
//
// Ended    a client may still read its last replies: they stay until kMaxEnded further streams have
//          ended, or until they are more than kMaxEndedBytes in all.
// Threads   any. A stream is told with the lock held: what tells it must neither block nor come
//           back here.
// Ownership offers must not outlive this.
#ifndef MASKD_SERVICE_STREAMS_MEMORY_OFFERS_H_
#define MASKD_SERVICE_STREAMS_MEMORY_OFFERS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/mutex.h"
#include "ring/handover.h"
#include "ring/shared_memory.h"
#include "ring/socket_file.h"
#include "ring/unique_fd.h"

namespace maskd::service {

// Shared memory before and after its stream.
class MemoryOffers {
 public:
  static constexpr std::size_t kMaxEnded = 64;
  static constexpr std::int64_t kMaxEndedBytes = 32 << 20;

  MemoryOffers() = default;
  MemoryOffers(const MemoryOffers&) = delete;
  MemoryOffers& operator=(const MemoryOffers&) = delete;

  // Opens the second socket of the Unix socket at `path`. Before the first Offer(). Errors: those
  // of ring::HandoverPort.
  absl::Status Listen(const std::string& path, const ring::SocketRights& rights,
                      ring::HandoverPort::MayAsk may_ask = nullptr);
  // Closes the sockets: nothing is fetched any more.
  void Close() { ports_.clear(); }
  [[nodiscard]] bool is_open() const { return !ports_.empty(); }

  // An offer; withdrawn when it is destroyed.
  class Offer {
   public:
    // Withdraws what is still there when it is destroyed.
    Offer(MemoryOffers* offers, std::string token) : offers_(offers), token_(std::move(token)) {}
    Offer(Offer&& other) noexcept
        : offers_(std::exchange(other.offers_, nullptr)), token_(std::move(other.token_)) {}
    Offer& operator=(Offer&&) = delete;
    ~Offer();

    // By which the client fetches it.
    [[nodiscard]] const std::string& token() const { return token_; }
    // Withdraws it. False: it has been fetched, which has been told.
    bool Withdraw();

   private:
    MemoryOffers* offers_;
    std::string token_;
  };

  // Offers the memory behind `fd`. `tell_fetched` is called at most once, on any thread, never
  // after the offer's end. Errors: those of ring::MakeToken().
  absl::StatusOr<Offer> Add(ring::UniqueFd fd, std::function<void()> tell_fetched)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes the memory of a stream that has ended: its pages go back, the last replies' later.
  void Retire(ring::SharedMemory memory) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Waiting {
    ring::UniqueFd fd;
    std::function<void()> tell_fetched;
  };

  ring::UniqueFd Take(absl::string_view token) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether it was there.
  bool Remove(const std::string& token) ABSL_LOCKS_EXCLUDED(mutex_);

  Mutex mutex_;
  absl::flat_hash_map<std::string, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::deque<ring::SharedMemory> ended_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  std::int64_t ended_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<ring::HandoverPort>> ports_;  // last: their threads use the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_MEMORY_OFFERS_H_
