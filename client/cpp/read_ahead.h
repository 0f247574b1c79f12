// Receives and parses the next reply of a call while its caller computes: a thread that reads
// between two calls of the stream. For this library's own files.
//
//   ahead.Begin();                 // the call is the thread's now
//   ... the forward pass ...
//   ahead.Take(message, deadline)  // the reply, at once if it is there
//
// Threads  one caller at a time. The call belongs to the thread from Begin() until Take() or End().
#ifndef MASKD_CLIENT_CPP_READ_AHEAD_H_
#define MASKD_CLIENT_CPP_READ_AHEAD_H_

#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "client/cpp/decode_call.h"
#include "maskd/v1/mask_service.pb.h"

namespace maskd::client {

class ReadAhead {
 public:
  // `call` must outlive this, and have been started.
  explicit ReadAhead(DecodeCall* call);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Lets the thread read, unless a reply waits to be taken.
  void Begin();
  // Takes the call back; a reply that has been read waits for Take().
  void End();
  // The next message, swapped into `message`. Errors: those of DecodeCall::Read(). The call is the
  // caller's again.
  absl::Status Take(v1::DecodeResponse& message, absl::Time deadline);

 private:
  enum class State { kIdle, kReading, kRead, kOver };

  void Run();

  DecodeCall* const call_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kIdle;
  v1::DecodeResponse message_;  // the thread's while it reads
  absl::Status status_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_READ_AHEAD_H_
