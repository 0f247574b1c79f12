// The steps of one Decode stream that go through shared memory: a thread that sleeps until there is
// one, and answers it.
//
// Slow readers  a client that does not make room for its reply is not read from.
// Errors   status(): those of StepExchange and of ring::Channel.
// Threads  HalfClose() and Stop() from one thread, other than its own.
#ifndef MASKD_SERVICE_CALLS_MEMORY_STREAM_H_
#define MASKD_SERVICE_CALLS_MEMORY_STREAM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "ring/channel.h"
#include "ring/shared_memory.h"
#include "service/streams/memory_offers.h"
#include "service/streams/standby_thread.h"
#include "service/wire/step_exchange.h"

namespace maskd::service {

// The shared memory of one stream, and the thread that serves it.
class MemoryStream {
 public:
  // `exchange` is this one's until the end. `thread` sleeps when no step has come for `awake`.
  // `ended` is called once, as the last that the thread does. `offers` takes the memory back.
  MemoryStream(ring::SharedMemory memory, std::unique_ptr<StandbyThread> thread,
               std::size_t max_step_bytes, absl::Duration awake, StepExchange* exchange,
               MemoryOffers* offers, std::function<void()> ended);
  // Stop()s and waits for the thread.
  ~MemoryStream();
  MemoryStream(const MemoryStream&) = delete;
  MemoryStream& operator=(const MemoryStream&) = delete;

  // No more steps will come: what is there is answered, and that is the end.
  void HalfClose();
  // Ends at once.
  void Stop();

  // Grows with each step that begins, and each that is answered. Any thread.
  [[nodiscard]] std::int64_t activity() const { return activity_; }

  // How it ended; once it has.
  [[nodiscard]] const absl::Status& status() const { return status_; }

 private:
  absl::Status Serve();
  // Answers every step that is there.
  absl::Status AnswerAll();
  absl::Status Answer(absl::string_view step);
  absl::Status Send(absl::string_view reply);

  ring::Channel channel_;
  const absl::Duration awake_;
  StepExchange* const exchange_;
  MemoryOffers* const offers_;
  std::atomic<std::int64_t> activity_ = 0;
  std::atomic<bool> half_closed_ = false;
  std::atomic<bool> stopped_ = false;
  absl::Status status_;
  std::unique_ptr<StandbyThread> thread_;  // last: it uses all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_MEMORY_STREAM_H_
