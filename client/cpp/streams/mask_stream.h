// A decode stream: one message a step goes out, one comes back, in order.
//
//   stream->Submit(step);            // sends, and returns at once
//   ... the forward pass ...         // the server fills the masks meanwhile
//   stream->Collect(timeout, result);
//
// Pipelining  up to kMaxInFlight steps may be submitted before the first is collected; replies come
//          in the order of the steps.
// Errors   a bad row is in its RowResult. An error of Submit() or Collect() is the stream's: once
//          it has ended, each later call gives the same status. DEADLINE_EXCEEDED of Collect()
//          alone is not final: the reply may still be collected.
// Threads  one thread at a time; the calling thread itself polls the connection. Between calls
//          nothing is received beyond what the connection's buffers hold, but that a thread answers
//          the server's pings every two seconds; unless StreamOptions::read_ahead is set. With
//          shared memory a thread waits for the end. A local engine answers a step while it is
//          submitted, or on another thread where that takes long; read_ahead means nothing.
// Ownership  independent of the Client that opened it.
#ifndef MASKD_CLIENT_CPP_STREAMS_MASK_STREAM_H_
#define MASKD_CLIENT_CPP_STREAMS_MASK_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/steps/step.h"
#include "client/cpp/steps/step_result.h"
#include "maskd/v1/mask_service.pb.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace maskd::client {

// What a stream asks for in its hello. The server's welcome says what it got.
struct StreamOptions {
  // Name of the server's tokenizer. Empty: its default.
  std::string tokenizer = {};
  // The hash it must have; FAILED_PRECONDITION when it differs. Empty: any.
  std::string tokenizer_hash = {};
  // Tokens in a row of logits, at least the tokenizer's size.
  std::uint32_t logits_width = 0;
  // Whether masks may come in the short row forms. Without them every mask is dense.
  bool short_forms = true;
  // Masks kept for `same_as` and `delta`, each of the logits' width in bits. The server may use
  // fewer. 0: neither form is used.
  std::uint32_t dictionary_size = 256;
  // Whether positions may carry temperatures and biases (MaskView).
  bool want_temperature = false;
  bool want_bias = false;
  // Whether a thread of the stream's own receives and reads replies between Submit() and
  // Collect(), so that Collect() only hands them over. For engines that compute meanwhile: one that
  // collects at once waits for the thread some 10 us longer.
  bool read_ahead = false;
  // Whether steps and replies may go through memory shared with the server, where its address is a
  // Unix socket and it lends some; else they go over gRPC as without. docs/transports.md says how.
  bool shared_memory = false;
  // How long a Collect() whose reply is not there looks for it again and again before it sleeps: a
  // thread that sleeps is woken some 10 us late. Only time in which the engine would wait anyway.
  absl::Duration awake = absl::Microseconds(200);
  // Number of the first step, from 1 on.
  std::uint64_t first_step = 1;
  // How long the server may take to say welcome.
  absl::Duration open_timeout = absl::Seconds(10);
  // How long a Submit() may wait for the step before it to leave. Only a server that has stopped
  // reading makes it wait; after that the stream has ended.
  absl::Duration write_timeout = absl::Seconds(10);
};

// Open() once, then Submit() and Collect() by turns or with steps ahead; Close() at the end.
class MaskStream {
 public:
  // Steps that may be on their way at once.
  static constexpr int kMaxInFlight = 64;

  // Connects, or finds the engine of an address "local:...", and says hello. Errors: those of
  // MaskService.Decode and CheckSecurity(), UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED (the
  // system has no thread).
  static absl::StatusOr<std::unique_ptr<MaskStream>> Open(const std::string& address,
                                                          int max_message_bytes,
                                                          const StreamOptions& options);
  // The same on a channel inside this process (ClientOptions::inside).
  static absl::StatusOr<std::unique_ptr<MaskStream>> OpenInside(
      std::shared_ptr<grpc::Channel> channel, const StreamOptions& options);

  // A stream that is being opened, whose caller does other things meanwhile. For this library's own
  // files.
  class Opening;

  // Cancels the stream if it has not ended.
  ~MaskStream();
  MaskStream(const MaskStream&) = delete;
  MaskStream& operator=(const MaskStream&) = delete;

  // The server's terms: tokenizer, words of a mask, limits.
  [[nodiscard]] const v1::Welcome& welcome() const;

  // Whether steps and replies go through shared memory.
  [[nodiscard]] bool uses_shared_memory() const;

  // How steps and replies travel: "grpc", "shared_memory" or "local".
  [[nodiscard]] const char* transport() const;

  // Numbers the step and gives its message's size in bytes. Error: RESOURCE_EXHAUSTED (larger than
  // what a server with this welcome takes).
  static absl::StatusOr<std::size_t> NumberStep(const v1::Welcome& welcome, std::uint64_t number,
                                                Step& step);

  // Gives the next step this number; before the first one.
  void NumberFrom(std::uint64_t first_step);

  // Sends the step and gives its number, which its reply bears. `step` may be cleared and reused at
  // once. Errors: FAILED_PRECONDITION (too many in flight), RESOURCE_EXHAUSTED (larger than the
  // server's max_step_bytes; the stream goes on), the stream's end.
  absl::StatusOr<std::uint64_t> Submit(Step& step);

  // Waits for the reply to the oldest step that is in flight. Errors: FAILED_PRECONDITION (none
  // is), DEADLINE_EXCEEDED (try again), INTERNAL (the server broke the protocol), the stream's end.
  absl::Status Collect(absl::Duration timeout, StepResult& result);

  // How long the last Collect() waited for its reply; 0 where it was there. What it took beyond
  // that is the handing over.
  [[nodiscard]] absl::Duration waited() const;

  // Steps submitted and not collected.
  [[nodiscard]] int in_flight() const;

  // Set once the server has said that it will stop: move the rows to another one.
  [[nodiscard]] const std::optional<v1::GoAway>& go_away() const;

  // Says goodbye and waits for the stream's end. Replies in flight are dropped. OK unless the
  // server ended the stream with an error.
  absl::Status Close(absl::Duration timeout);

 private:
  struct State;
  explicit MaskStream(std::unique_ptr<State> state);
  static std::unique_ptr<MaskStream> Of(std::unique_ptr<State> state, const StreamOptions& options);

  std::unique_ptr<State> state_;
};

// The open_timeout begins when it is made.
class MaskStream::Opening {
 public:
  Opening(std::string address, int max_message_bytes, StreamOptions options);
  // Cancels it if the server has not answered.
  ~Opening();
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

  // Goes on until `until`. What Open() gives, once; absent: the server has not answered yet.
  std::optional<absl::StatusOr<std::unique_ptr<MaskStream>>> Await(SteadyTime until);

 private:
  absl::Status Go(SteadyTime until);

  const std::string address_;
  const int max_message_bytes_;
  StreamOptions options_;
  const SteadyTime deadline_;
  std::unique_ptr<State> state_;  // absent: nothing has begun
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_STREAMS_MASK_STREAM_H_
