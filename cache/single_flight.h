// Many callers, one compile: callers of the same key share the compile that runs for it.
//
// Leaving   a caller that gives up drops its ticket; the others go on waiting, whoever came first.
//           When the last one leaves, the compile is cancelled, or never begun, and the key is
//           free.
// Deadline  each caller says until when it waits, or is told when there is a result and needs no
//           thread meanwhile.
// Threads   any; a ticket belongs to one thread at a time.
// Ownership tickets must not outlive their SingleFlight, nor that its WorkPool; but the pool must
//           be gone before the SingleFlight's memory is, since jobs use it: declare the pool after
//           it.
#ifndef MASKD_CACHE_SINGLE_FLIGHT_H_
#define MASKD_CACHE_SINGLE_FLIGHT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "cache/work_pool.h"
#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"

namespace maskd {
class CompiledGrammar;
}  // namespace maskd

namespace maskd::cache {

using GrammarPtr = std::shared_ptr<const CompiledGrammar>;
using CompileResult = absl::StatusOr<GrammarPtr>;
// Compiles, and stops soon after `cancelled` has become true.
using CompileWork = std::function<CompileResult(const std::atomic<bool>& cancelled)>;

// `status` with no part shared. Threads that hold copies of one absl::Status count references in
// the packaged library, where ThreadSanitizer does not see them; here each thread gets its own.
absl::Status OwnCopy(const absl::Status& status);

// What a caller is told whose compile finds no place in the pool's queue.
absl::Status QueueFullError(const WorkPool& pool);

// Keyed by grammar id. It keeps no results: the cache does.
class SingleFlight {
 private:
  struct Flight;

 public:
  // A caller's share in a compile, or in a result that was there already.
  class Ticket {
   public:
    // Whether the result was there, this caller began the compile, or it joined one that ran.
    enum class Origin { kKnown, kStarted, kJoined };

    // A ticket whose result is known.
    explicit Ticket(CompileResult result);
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&& other) noexcept;
    ~Ticket() { Leave(); }

    // Whether the result is there.
    [[nodiscard]] bool ready() const { return WaitUntil(Clock::TimePoint::min()); }
    // Waits for the result; false when `deadline` came first.
    bool WaitUntil(Clock::TimePoint deadline) const;
    // Calls `landed` once the result is there: before this returns where it is, else on the thread
    // that compiled, with no lock held. At most once a ticket. A ticket that leaves may still be
    // told, if its compile ends at that time.
    void WhenReady(std::function<void()> landed);
    // Requires ready().
    [[nodiscard]] CompileResult result() const;
    [[nodiscard]] Origin origin() const { return origin_; }

   private:
    friend class SingleFlight;
    Ticket(SingleFlight* owner, std::shared_ptr<Flight> flight, std::string key, Origin origin);
    void Leave();

    SingleFlight* owner_ = nullptr;   // null: the result was known
    std::shared_ptr<Flight> flight_;  // null: moved from
    std::string key_;
    Origin origin_;
    std::uint64_t listener_ = 0;  // of the flight; 0: none
  };

  // `clock` decides when a wait is over.
  explicit SingleFlight(Clock* clock = Clock::Steady()) : clock_(clock) {}

  // A share in the running compile of `key`; nothing without one.
  std::optional<Ticket> JoinRunning(const std::string& key) ABSL_LOCKS_EXCLUDED(mutex_);

  // Shares the running compile of `key`, or has `pool` run `work` in its `turn`; but what `known`
  // gives, if that is not null, is the result: it is asked where no compile runs, since one may
  // have ended since the caller looked. It may take no lock under which this is called. Errors:
  // RESOURCE_EXHAUSTED with a retry hint when the pool's queue is full.
  absl::StatusOr<Ticket> Join(const std::string& key, const std::function<GrammarPtr()>& known,
                              CompileWork work, WorkPool* pool, const WorkPool::Turn& turn)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  std::optional<Ticket> JoinLocked(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  struct Flight {
    std::atomic<bool> cancelled = false;
    // Guarded by the owner's mutex_; CondVar and result are used under it too.
    int waiters = 0;
    bool done = false;
    CompileResult result = absl::UnknownError("still compiling");
    CondVar landed;
    std::uint64_t last_listener = 0;
    std::map<std::uint64_t, std::function<void()>> listeners = {};  // in the order they came
    WorkPool* pool = nullptr;
    WorkPool::JobId job = 0;
  };

  absl::StatusOr<std::shared_ptr<Flight>> Start(const std::string& key, CompileWork work,
                                                WorkPool* pool, const WorkPool::Turn& turn)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Land(const std::string& key, const std::shared_ptr<Flight>& flight, CompileResult result)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Leave(const std::string& key, const std::shared_ptr<Flight>& flight, std::uint64_t listener)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Forget(const std::string& key, const std::shared_ptr<Flight>& flight)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock* const clock_;
  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<Flight>> flights_ ABSL_GUARDED_BY(mutex_);
};

using Ticket = SingleFlight::Ticket;

}  // namespace maskd::cache

#endif  // MASKD_CACHE_SINGLE_FLIGHT_H_
