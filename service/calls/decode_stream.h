// One Decode call on the server, driven by its completion queue: reads a message, has its
// StepExchange answer it, writes.
//
//   idle --accepted--> greeting --Hello--> stepping --half-close, error--> finishing --> deleted
//                                 `--memory fetched--> stepping elsewhere --^
//
// Shared memory  once the client has fetched what its Welcome offered, a MemoryStream has the
//          exchange, and what is left here is to tell of going away and to end.
// Steps    run on the queue's own thread, for kTurn, and where no other stream waits for
//          kTurnAlone. What is not done then goes on on a thread of a low priority that is there
//          for this step alone. One that may wait for a compile or brings a grammar's text runs on
//          a StepThreads' thread, too, and holds up no other stream. Where the queue has other
//          streams, a step is given away at its first mask that is to be made, to threads that no
//          compile uses. A message of more than kMostReadHere bytes is not even read here.
// Slow readers  a message is read only while fewer than kMaxQueued replies of kMaxQueuedBytes wait
//          to be written. So a client that does not read is not read from, and costs no more than
//          those and one more.
// Time     a hello that has not come after hello_ms ends the stream; so does a time of idle_ms to
//          twice that in which no step came. A client that does not read is cut off idle_ms later.
// Wire     raw buffers both ways, the bytes of protos/maskd/v1's messages.
// Turns    what waits for the queue's thread is handled in the order of fair_turns.h.
// Threads  all of it on a thread of its queue, one at a time, but the step that was given away, the
//          MemoryStream's and the end of its rows. Notices of other threads only wake that one.
// Ownership  of itself: deleted when the call and every operation of it have ended.
#ifndef MASKD_SERVICE_CALLS_DECODE_STREAM_H_
#define MASKD_SERVICE_CALLS_DECODE_STREAM_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include "maskd/v1/mask_service.pb.h"
#include "ring/shared_memory.h"
#include "service/callers/caller.h"
#include "service/calls/call_event.h"
#include "service/calls/gate.h"
#include "service/calls/memory_stream.h"
#include "service/calls/raw_methods.h"
#include "service/calls/stream_queue.h"
#include "service/grammars/tokenizer_shelf.h"
#include "service/streams/fair_turns.h"
#include "service/streams/memory_offers.h"
#include "service/streams/standby_thread.h"
#include "service/streams/step_threads.h"
#include "service/streams/stream_figures.h"
#include "service/streams/stream_host.h"
#include "service/streams/stream_registry.h"
#include "service/wire/step_exchange.h"

namespace maskd::service {

// What all Decode calls of a server use. Nothing is owned.
struct DecodeHost {
  StreamHost shared;
  std::int64_t drain_ms = 0;
  // How long a stream may take to say hello, and may then send nothing; 0: for ever.
  std::int64_t hello_ms = 0;
  std::int64_t idle_ms = 0;
  // How long a stream's thread looks for the next step before it sleeps.
  absl::Duration awake;
  const TokenizerShelf* tokenizers = nullptr;
  StepThreads* long_step_threads = nullptr;  // of a low priority
  MemoryOffers* offers = nullptr;
  const Gate* gate = nullptr;
  // Bytes of replies of all streams that wait to be written.
  std::atomic<std::int64_t>* queued_bytes = nullptr;
};

// One call, from before it comes until its last operation has ended.
class DecodeStream {
 public:
  // Replies that may wait for the client to read.
  static constexpr std::size_t kMaxQueued = 4;
  // How long a step holds the queue's thread.
  static constexpr std::chrono::microseconds kTurn{200};
  // While no other stream waits: 256 rows with drafts take half of it, and a step that is handed
  // over takes two wake-ups.
  static constexpr std::chrono::microseconds kTurnAlone{1000};
  // Bytes of a step that the queue's thread reads: as many take a turn's time, or some of it.
  static constexpr std::size_t kMostReadHere = 32 << 10;
  // The replies' bytes, past which no further one is made.
  static constexpr std::int64_t kMaxQueuedBytes = 16 << 20;
  // Bytes of a message that gRPC takes longer to read than a turn.
  static constexpr std::size_t kLargeMessage = 256 << 10;

  // Asks for the next call of the first of `methods` on `queue`; another one is asked for when it
  // comes. The queue counts it as live from now on.
  static void Accept(const DecodeHost* host, RawMethods* methods, StreamQueue* queue);

  DecodeStream(const DecodeStream&) = delete;
  DecodeStream& operator=(const DecodeStream&) = delete;

 private:
  enum Kind : std::uint8_t {
    kAccepted,
    kDone,  // the call is over, however it ended
    kRead,
    kWritten,
    kFinished,
    // Notices of other threads, by alarm.
    kStepDone,
    kRowsGone,
    kGoAway,
    kCallEnd,  // before its hello
    kTimer,    // of its hello, then of its idleness
    kFetched,  // the memory that was offered
    kMemoryEnded,
    kKindCount
  };
  class Operation final : public CallEvent {
   public:
    Operation() = default;
    // Which of the stream's operations this is; said once, before the first is begun.
    void Is(DecodeStream* stream, Kind kind) {
      stream_ = stream;
      kind_ = kind;
    }
    // As CallEvent says: the stream's share of its thread, and where its completion goes.
    [[nodiscard]] std::shared_ptr<FairTurns::Share> share() const override {
      return stream_->share_;
    }
    void Waited(Clock::Duration waited) override { stream_->waited_ = waited; }
    void Complete(bool ok) override { DecodeStream::Complete(stream_, kind_, ok); }

   private:
    DecodeStream* stream_ = nullptr;
    Kind kind_ = kKindCount;
  };

  DecodeStream(const DecodeHost* host, RawMethods* methods, StreamQueue* queue);
  ~DecodeStream();

  // Handles a completion of the queue. The stream may be gone afterwards.
  static void Complete(DecodeStream* stream, Kind kind, bool ok);
  void Handle(Kind kind, bool ok);
  // Starts whatever can be started now.
  void Advance();
  CallEvent* Begin(Kind kind);
  // Has the queue's thread handle `kind`, a notice, soon. From any thread.
  void Notify(Kind kind);

  void Begun();
  void SetTimer(std::int64_t ms);
  void TimeIsUp();
  void TakeMessage();
  absl::Status Greet();
  // Offers memory, if it was asked for and may be had.
  void OfferMemory(const Hello& hello, v1::Welcome* welcome);
  // Says that nothing is to be fetched any more. False: it has been, and the notice will come.
  bool WithdrawOffer();
  void UseMemory();
  absl::Status TakeStep();
  // Reads what came, and applies it as far as it gets within `turn`, if there is one.
  absl::Status BeginStep(std::optional<Clock::Duration> turn);
  // Who is to go on with a step; nobody: its answers are there.
  enum class Helper : std::uint8_t { kNobody, kStepThread, kLongStepThread, kMaskMaker };
  Helper AnswerInTurn();
  [[nodiscard]] bool IsAlone() const;
  void GiveAway(Helper helper);
  void FinishStep();
  void FinishElsewhere();
  void SendReply();
  void Send(const v1::DecodeResponse& response);
  // Has its rows freed by another thread, after which it goes on to its end.
  void GiveRowsAway();
  void LetGo();
  void Queue(grpc::ByteBuffer message);
  void TakeWritten();
  // The first reason counts.
  void End(absl::Status status);
  // Whether more is to be answered; and read.
  [[nodiscard]] bool is_wanted() const;
  [[nodiscard]] bool is_open() const;
  [[nodiscard]] absl::Status FinalStatus() const;
  // Counts and logs an end that was no clean one; called last.
  void Report() const;

  const DecodeHost* const host_;
  RawMethods* const methods_;
  StreamQueue* const queue_;
  const std::shared_ptr<FairTurns::Share> share_ = std::make_shared<FairTurns::Share>();

  grpc::ServerContext context_;
  RawCall call_{&context_};
  std::array<Operation, kKindCount> operations_;
  std::array<grpc::Alarm, kKindCount> alarms_;  // those of the notices
  std::atomic<int> pending_ = 0;                // completions to come

  grpc::ByteBuffer incoming_;
  std::deque<grpc::ByteBuffer> outgoing_;  // the first is being written if writing_
  std::int64_t queued_bytes_ = 0;          // of those
  Clock::Duration waited_ = {};            // what is handled now, for this thread
  std::int64_t activity_ = 0;              // messages that came, and were answered
  std::int64_t activity_seen_ = 0;         // when the timer was set
  bool timing_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool stepping_ = false;  // on another thread
  bool unread_ = false;    // the step, by whoever is to finish it
  bool begun_ = false;     // a client has called
  bool has_place_ = false;
  bool finishing_ = false;
  bool half_closed_ = false;
  bool broken_ = false;                  // a write failed
  std::atomic<bool> cancelled_ = false;  // also asked by the step's thread
  std::optional<absl::Status> ended_;    // why no more is read

  Caller caller_;
  std::shared_ptr<StreamFigures> figures_;  // once it is known who calls
  Tenant::Lease place_;                     // once greeted
  std::optional<StreamRegistry::Registration> registration_;
  std::unique_ptr<StepExchange> exchange_;  // once greeted
  std::unique_ptr<StepExchange> leaving_;   // that, at the end
  absl::StatusOr<grpc::ByteBuffer> reply_ = grpc::ByteBuffer();
  std::optional<ring::SharedMemory> offered_;  // until it is fetched or refused
  std::unique_ptr<StandbyThread> standby_;     // for the memory's steps; the same
  std::optional<MemoryOffers::Offer> offer_;
  std::unique_ptr<MemoryStream> memory_stream_;  // while it has the exchange
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_DECODE_STREAM_H_
