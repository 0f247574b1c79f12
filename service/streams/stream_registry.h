// The Decode streams open now: how many there may be, in all and of one peer, and how they learn
// that the server stops.
//
// Places    a stream takes its place when it has said hello. Before, it is one of kMaxBeforeHello,
//           of which the oldest goes when one more comes: whoever says hello at once has nothing to
//           fear from many that say nothing.
// Threads   any. A stream is told with the lock held.
// Ownership registrations must not outlive the registry.
#ifndef MASKD_SERVICE_STREAMS_STREAM_REGISTRY_H_
#define MASKD_SERVICE_STREAMS_STREAM_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"
#include "service/base/pools.h"
#include "service/streams/stream_figures.h"

namespace maskd::service {

// The streams that are open.
class StreamRegistry {
 public:
  static constexpr std::size_t kMaxBeforeHello = 1024;

  // Streams that have said hello, in all and of one peer.
  struct Limits {
    int in_all = 64;
    int of_a_peer = 64;
  };

  // `clock` must outlive this.
  explicit StreamRegistry(Limits limits, Clock* clock = Clock::Steady())
      : limits_(limits), clock_(clock) {}

  // What a stream is told.
  enum class Notice : std::uint8_t {
    kGoAway,   // the server stops: answers go on until the end of the drain
    kCallEnd,  // no hello has come, and it is late for one: end with Late()
  };
  // Must neither block nor come back here.
  using Tell = std::function<void(Notice notice)>;

  // A stream; it has gone when this is destroyed.
  class Registration {
   public:
    // One stream's entry, which goes with it.
    Registration(StreamRegistry* registry, std::uint64_t id) : registry_(registry), id_(id) {}
    Registration(Registration&& other) noexcept;
    Registration& operator=(Registration&&) = delete;
    ~Registration();

    // The hello has come. Errors: RESOURCE_EXHAUSTED with a retry hint (too many streams).
    absl::Status TakePlace();
    // The stream's number in Load().
    [[nodiscard]] std::uint64_t number() const { return id_; }

   private:
    StreamRegistry* registry_;
    std::uint64_t id_;
  };

  // A stream of `peer`, before its hello. A stream that is apart takes none of the places, and has
  // its bound elsewhere. `tell` is called on any thread, at most once with each
  // notice, never after the registration's end. Errors: UNAVAILABLE (draining).
  // `figures` are for List().
  absl::StatusOr<Registration> Add(const std::string& peer, Tell tell,
                                   std::shared_ptr<const StreamFigures> figures = nullptr,
                                   bool is_apart = false) ABSL_LOCKS_EXCLUDED(mutex_);

  // A stream that is open.
  struct Entry {
    std::uint64_t id = 0;
    std::string peer;
    bool has_place = false;
    std::shared_ptr<const StreamFigures> figures;  // as they were given
  };
  // Those from the id `first` on, the oldest first, `most` at most: streams come and go meanwhile,
  // so nobody asks for thousands at once.
  [[nodiscard]] std::vector<Entry> List(std::uint64_t first, std::size_t most) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Streams with a place.
  [[nodiscard]] int CountPlaced() const ABSL_LOCKS_EXCLUDED(mutex_);

  // How many streams there are for clients of many servers to compare.
  struct Load {
    int placed = 0;
    // Of them those that came no later than the stream `number`, with it. Absent: it has no place.
    std::optional<int> rank;
  };
  // Looks at each stream once. Errors: UNAVAILABLE (draining).
  [[nodiscard]] absl::StatusOr<Load> GetLoad(std::optional<std::uint64_t> number) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Why a stream without hello is to end now.
  [[nodiscard]] absl::Status Late() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Places that are taken, in all and by the peer that has most, and streams without one.
  [[nodiscard]] std::vector<Pool> pools() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Refuses new streams, tells the open ones, and has those end that have not said hello.
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until no stream is open, or `deadline`.
  void WaitUntilEmpty(Clock::TimePoint deadline) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Stream {
    std::string peer;
    Tell tell;
    bool is_apart = false;
    std::shared_ptr<const StreamFigures> figures;
    bool has_place = false;
    bool is_ending = false;  // it was told to
  };

  absl::Status TakePlace(std::uint64_t id) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(std::uint64_t id) ABSL_LOCKS_EXCLUDED(mutex_);
  void CallEnd(Stream* stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeRoomBeforeHello() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Limits limits_;
  Clock* const clock_;
  mutable Mutex mutex_;
  CondVar removed_;
  std::map<std::uint64_t, Stream> streams_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  std::size_t before_hello_ ABSL_GUARDED_BY(mutex_) = 0;             // and not told to end
  int placed_ ABSL_GUARDED_BY(mutex_) = 0;                           // that are not apart
  absl::flat_hash_map<std::string, int> placed_of_peer_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_STREAM_REGISTRY_H_
