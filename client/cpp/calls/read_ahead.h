// Receives and reads the next reply of a call while its caller computes: a thread that works
// between two calls of the stream. For this library's own files.
//
//   ahead.Begin();                 // the call and its reader are the thread's now
//   ... the forward pass ...
//   ahead.Take(message, deadline)  // the reply, swapped if it is there
//
// Threads  one caller at a time. Call and reader belong to the thread from Begin() until Take() or
//          End().
#ifndef MASKD_CLIENT_CPP_CALLS_READ_AHEAD_H_
#define MASKD_CLIENT_CPP_CALLS_READ_AHEAD_H_

#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/calls/step_call.h"
#include "client/cpp/steps/reply_reader.h"

namespace maskd::client {

// Made for streams with StreamOptions::read_ahead; the call is used by one side at a time.
class ReadAhead {
 public:
  // Both must outlive this, and the call have been started.
  ReadAhead(StepCall* call, ReplyReader* reader);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Lets the thread read, unless a reply waits to be taken.
  void Begin();
  // Takes the call back; a reply that has been read waits for Take().
  void End();
  // The next message, swapped into `message`, which is left as it was where there is none yet; the
  // call is the caller's again. Errors: those of the call and of the reader.
  absl::StatusOr<bool> Take(ServerMessage& message, SteadyTime deadline);
  // Whether Take() will give a message at once.
  [[nodiscard]] bool IsThere();

 private:
  enum class State { kIdle, kReading, kRead, kOver };

  void Run();
  // False: interrupted.
  absl::StatusOr<bool> Read();

  StepCall* const call_;
  ReplyReader* const reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kIdle;
  ServerMessage message_;  // the thread's while it reads
  absl::Status status_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CALLS_READ_AHEAD_H_
