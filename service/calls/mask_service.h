// MaskService of maskd/v1: the completion queues of the Decode streams.
//
// Streams  belong to the queue that accepted them (stream_queue.h): one thread at a time reads,
//          answers and writes the messages of its streams, and no lock is taken for them.
// Threads  Listen(), Start(), Drain() and Join() on one thread, in this order.
#ifndef MASKD_SERVICE_CALLS_MASK_SERVICE_H_
#define MASKD_SERVICE_CALLS_MASK_SERVICE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include <grpcpp/server_builder.h>

#include "cache/work_pool.h"
#include "metrics/registry.h"
#include "service/base/pools.h"
#include "service/calls/decode_stream.h"
#include "service/calls/gate.h"
#include "service/calls/stream_queue.h"
#include "service/calls/unary_calls.h"
#include "service/config/config.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_shelf.h"
#include "service/streams/memory_offers.h"
#include "service/streams/step_threads.h"
#include "service/streams/stream_registry.h"

namespace maskd::service {

// The Decode streams of a server.
class MaskService {
 public:
  // Nothing is owned.
  MaskService(const Config& config, const TokenizerShelf* tokenizers, GrammarStore* grammars,
              const Gate* gate, metrics::Metrics* metrics);
  // Join()s. The server must be gone.
  ~MaskService();
  MaskService(const MaskService&) = delete;
  MaskService& operator=(const MaskService&) = delete;

  // Adds what there is to call beside the streams. This must outlive those calls.
  void AddTo(UnaryCalls* calls);
  // Registers the streams and their queues.
  void Listen(grpc::ServerBuilder* builder);
  // Lends memory to streams that come over the Unix socket at `path`. Before Start(). Errors: those
  // of MemoryOffers.
  absl::Status LendMemory(const std::string& path, const ring::SocketRights& rights,
                          ring::HandoverPort::MayAsk may_ask = nullptr) {
    return offers_.Listen(path, rights, std::move(may_ask));
  }
  // Takes calls of another service that come by a queue of the streams: it asks for them there, and
  // counts in `*live` those that it waits for.
  using AcceptOthers = std::function<void(grpc::ServerCompletionQueue* queue, int* live)>;
  // Serves from now on; called when the server was built. Errors: UNAVAILABLE (no thread).
  absl::Status Start(const AcceptOthers& accept_others);

  // Refuses new streams, tells the open ones to go away, and waits until they have or `deadline`.
  void Drain(std::chrono::steady_clock::time_point deadline);

  // Threads of streams, for busy_since().
  [[nodiscard]] int thread_count() const { return thread_count_; }
  // Since when the thread is at what it does; nothing when it waits. Any thread.
  [[nodiscard]] std::optional<Clock::TimePoint> busy_since(int thread) const {
    return queues_[static_cast<std::size_t>(thread)]->busy_since();
  }

  // Streams and their rows, and the threads that serve them. Any thread.
  [[nodiscard]] std::vector<Pool> pools() const;
  // The streams that are open.
  [[nodiscard]] const StreamRegistry& streams() const { return streams_; }

  // Bytes of replies that wait to be written, of all streams over gRPC. Any thread.
  [[nodiscard]] std::int64_t queued_bytes() const { return queued_bytes_; }

  // Waits for the end of the threads, which comes when the server was shut down.
  void Join();

 private:
  const int thread_count_;
  StreamRegistry streams_;
  StepThreads threads_;
  StepThreads long_step_threads_;
  std::optional<cache::WorkPool> mask_makers_;
  MemoryOffers offers_;
  std::atomic<std::int64_t> queued_bytes_ = 0;
  const DecodeHost host_;
  RawMethods methods_;
  std::vector<std::unique_ptr<StreamQueue>> queues_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_MASK_SERVICE_H_
