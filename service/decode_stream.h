// One Decode call on the server, driven by its completion queue: reads a message, has its
// StreamSession answer it, writes.
//
//   idle --accepted--> greeting --Hello--> stepping --half-close, error--> finishing --> deleted
//
// Steps    run on the queue's own thread; one that may wait for a compile or brings a grammar's
//          text runs on a StepThreads' thread meanwhile, and holds up no other stream.
// Slow readers  a message is read only while fewer than kMaxQueued replies wait to be written, so a
//          client that does not read is not read from, and costs no more than those.
// Wire     raw buffers both ways, the bytes of protos/maskd/v1's messages.
// Threads  all of it on the thread of its queue, but the step that was given away, and the notice
//          of going away, which only wakes that thread.
// Ownership  of itself: deleted when the call and every operation of it have ended.
#ifndef MASKD_SERVICE_DECODE_STREAM_H_
#define MASKD_SERVICE_DECODE_STREAM_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include "maskd/v1/mask_service.grpc.pb.h"
#include "metrics/registry.h"
#include "service/grammar_store.h"
#include "service/reply_writer.h"
#include "service/step_threads.h"
#include "service/stream_registry.h"
#include "service/stream_session.h"
#include "service/stream_terms.h"
#include "service/stream_types.h"
#include "service/tokenizer_store.h"

namespace maskd::service {

// What the streams of a server share. Nothing is owned.
struct StreamHost {
  StreamLimits limits;
  std::int64_t drain_ms = 0;
  const TokenizerStore* tokenizers = nullptr;
  GrammarStore* grammars = nullptr;
  metrics::Metrics* metrics = nullptr;
  StreamRegistry* streams = nullptr;
  StepThreads* threads = nullptr;
};

// The service as gRPC sees it: one method, asked for by the queues, in raw bytes.
using RawMaskService = v1::MaskService::WithRawMethod_Decode<v1::MaskService::Service>;

class DecodeStream {
 public:
  // Replies that may wait for the client to read.
  static constexpr std::size_t kMaxQueued = 4;

  // Asks for the next call on `queue`; another one is asked for when it comes. `*live` counts the
  // streams of the queue, this one and those to come; it is changed on the queue's thread alone.
  static void Accept(const StreamHost* host, RawMaskService* service,
                     grpc::ServerCompletionQueue* queue, int* live);

  // Handles a completion of the queue.
  static void Complete(void* tag, bool ok);

  DecodeStream(const DecodeStream&) = delete;
  DecodeStream& operator=(const DecodeStream&) = delete;

 private:
  enum Kind : std::uint8_t {
    kAccepted,
    kDone,  // the call is over, however it ended
    kRead,
    kWritten,
    kStepDone,  // by another thread
    kGoAway,
    kFinished,
    kKindCount
  };
  // What a completion queue knows an operation by.
  struct Operation {
    DecodeStream* stream;
    Kind kind;
  };
  using Clock = std::chrono::steady_clock;

  DecodeStream(const StreamHost* host, RawMaskService* service, grpc::ServerCompletionQueue* queue,
               int* live);
  ~DecodeStream();

  void Handle(Kind kind, bool ok);
  // Starts whatever can be started now.
  void Advance();
  void* Begin(Kind kind);

  void Begun();
  void TakeMessage();
  absl::Status Greet(absl::string_view bytes);
  absl::Status TakeStep(absl::string_view bytes);
  // The step's second half, with its reply.
  void FinishStep();
  void SendReply();
  void Send(const v1::DecodeResponse& response);
  void End(absl::Status status);
  [[nodiscard]] absl::Status FinalStatus() const;
  void Report() const;

  const StreamHost* const host_;
  RawMaskService* const service_;
  grpc::ServerCompletionQueue* const queue_;
  int* const live_;

  grpc::ServerContext context_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> call_{&context_};
  std::array<Operation, kKindCount> operations_;
  std::array<grpc::Alarm, 2> alarms_;  // of a step given away, of going away
  std::atomic<int> pending_ = 0;       // completions to come

  grpc::ByteBuffer incoming_;
  std::deque<grpc::ByteBuffer> outgoing_;  // the first is being written if writing_
  bool reading_ = false;
  bool writing_ = false;
  bool stepping_ = false;  // on another thread
  bool finishing_ = false;
  bool half_closed_ = false;
  bool broken_ = false;                  // a write failed
  std::atomic<bool> cancelled_ = false;  // also asked by the step's thread
  std::optional<absl::Status> ended_;    // why no more is read

  std::optional<StreamRegistry::Registration> registration_;
  std::optional<StreamTerms> terms_;  // once greeted
  std::optional<StreamSession> session_;
  StepRequest step_;
  Clock::time_point step_begin_;
  absl::StatusOr<const StepResult*> result_ = nullptr;
  ReplyWriter writer_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_DECODE_STREAM_H_
