// Rows that no step names, which would else hold on to automatons that are full: once a grammar has
// got a new one, every stream that is between two steps has its rows go on there
// (Sequence::Rest()), so that the memory of the old one is given back. The others do so behind the
// step that they are in.
//
// Cost      some 20 to 50 us for each row of such a grammar, on one thread that it starts.
// Waiting   a stream that ends waits for its own function, and for no other's.
// Threads   any. A stream's function must not end its own registration.
// Ownership registrations must not outlive this.
#ifndef MASKD_SERVICE_GRAMMARS_IDLE_ROWS_H_
#define MASKD_SERVICE_GRAMMARS_IDLE_ROWS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "absl/base/thread_annotations.h"

#include "cache/work_pool.h"
#include "grammar_core/base/mutex.h"

namespace maskd::service {

// The streams of the process, each with a way to move the rows that it is not using.
class IdleRows {
  struct Stream;

 public:
  IdleRows() = default;

  // A stream, as long as it lives.
  class Registration {
   public:
    // `rest` has the stream's rows rest, unless it is within a step. Calls come one at a time.
    Registration(IdleRows* owner, std::function<void()> rest);
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    // From then on `rest` is not called, nor does it run.
    ~Registration();

   private:
    IdleRows* const owner_;
    std::list<std::shared_ptr<Stream>>::iterator at_;
  };

  // To be called between two steps: has all streams rest if a grammar was renewed since the last
  // such call. Returns at once.
  void RestAfterRenewals();
  // The same whether one was or not: for a stream whose last rest met a step.
  void RestSoon();

  // The same now, on this thread.
  void RestAll() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A registered stream. Its lock is held while its function runs.
  struct Stream {
    Mutex mutex;
    std::function<void()> rest ABSL_GUARDED_BY(mutex);  // empty once it has ended
  };

  std::atomic<std::int64_t> renewals_seen_ = 0;
  Mutex mutex_;
  std::list<std::shared_ptr<Stream>> streams_ ABSL_GUARDED_BY(mutex_);
  cache::WorkPool pool_{1, 1};  // last: its thread uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_GRAMMARS_IDLE_ROWS_H_
