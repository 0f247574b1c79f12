// One queue for each of --stream_threads (stream_queue.h). gRPC gives a stream to the queue whose
// waiting call took it, and it stays there; which queue has how many is gRPC's affair.
#include "service/calls/mask_service.h"

#include <algorithm>

#include "absl/time/time.h"

#include "cpu/processor_count.h"
#include "cpu/thread_priority.h"
#include "service/sequences/row_counts.h"

namespace maskd::service {
namespace {

// A stream gives away a step at a time, and a step asks each thread for help once: so there is
// room for every one.
std::optional<cache::WorkPool> MakersFor(const Config& config) {
  if (config.mask_threads == 0) return std::nullopt;
  const int threads = config.mask_threads == kMaskThreadACore
                          ? std::max(2, ProcessorCount())
                          : static_cast<int>(config.mask_threads);
  const std::size_t streams = static_cast<std::size_t>(config.max_streams) + kPlaygroundStreams;
  return std::optional<cache::WorkPool>(std::in_place, threads,
                                        streams * static_cast<std::size_t>(1 + threads),
                                        cache::WorkPool::WaitingChanged(), ThreadRole::kLongWork);
}

StreamRegistry::Limits StreamLimitsOf(const Config& config) {
  const std::int64_t of_a_peer =
      config.max_peer_streams > 0 ? config.max_peer_streams : config.max_streams;
  return {.in_all = static_cast<int>(config.max_streams), .of_a_peer = static_cast<int>(of_a_peer)};
}

}  // namespace

void MaskService::AddTo(UnaryCalls* calls) {
  calls->AddAtOnce<v1::GetLoadRequest, v1::GetLoadResponse>(
      "/maskd.v1.MaskService/GetLoad",
      [this](const auto& request, CallView& /*call*/, auto* response) {
        const auto load = streams_.GetLoad(
            request.has_stream_number() ? std::optional(request.stream_number()) : std::nullopt);
        if (!load.ok()) return load.status();
        response->set_open_streams(static_cast<std::uint32_t>(load->placed));
        if (load->rank.has_value()) response->set_rank(static_cast<std::uint32_t>(*load->rank));
        return absl::OkStatus();
      });
}

MaskService::MaskService(const Config& config, const TokenizerShelf* tokenizers,
                         GrammarStore* grammars, const Gate* gate, metrics::Metrics* metrics)
    : thread_count_(static_cast<int>(config.stream_threads)),
      streams_(StreamLimitsOf(config)),
      long_step_threads_(ThreadRole::kLongWork),
      mask_makers_(MakersFor(config)),
      host_{.shared = {.limits = LimitsOf(config),
                       .grammars = grammars,
                       .metrics = metrics,
                       .threads = &threads_,
                       .streams = &streams_,
                       .mask_makers = mask_makers_.has_value() ? &*mask_makers_ : nullptr},
            .drain_ms = config.drain_ms,
            .hello_ms = config.hello_ms,
            .idle_ms = config.idle_ms,
            .awake = absl::Microseconds(config.awake_us),
            .tokenizers = tokenizers,
            .long_step_threads = &long_step_threads_,
            .offers = &offers_,
            .gate = gate,
            .queued_bytes = &queued_bytes_} {
  methods_.Add("/maskd.v1.MaskService/Decode");
}

MaskService::~MaskService() { Join(); }

void MaskService::Listen(grpc::ServerBuilder* builder) {
  builder->RegisterService(&methods_);
  const Clock::Duration awake = absl::ToChronoNanoseconds(host_.awake);
  for (int i = 0; i < thread_count_; ++i)
    queues_.push_back(std::make_unique<StreamQueue>(builder->AddCompletionQueue(), awake));
}

absl::Status MaskService::Start(const AcceptOthers& accept_others) {
  accept_others(queues_.front()->events(), queues_.front()->live_others());
  for (const std::unique_ptr<StreamQueue>& queue : queues_)
    DecodeStream::Accept(&host_, &methods_, queue.get());
  for (const std::unique_ptr<StreamQueue>& queue : queues_)
    if (absl::Status started = queue->Start(); !started.ok()) return started;
  return absl::OkStatus();
}

void MaskService::Drain(std::chrono::steady_clock::time_point deadline) {
  streams_.Drain();
  streams_.WaitUntilEmpty(deadline);
}

std::vector<Pool> MaskService::pools() const {
  std::vector<Pool> pools = streams_.pools();
  pools.push_back({"rows_of_a_stream", FullestStream(), host_.shared.limits.max_rows});
  const auto busy = std::ranges::count_if(
      queues_, [](const auto& queue) { return queue->busy_since().has_value(); });
  pools.push_back({"stream_threads", busy, thread_count_});
  if (mask_makers_.has_value()) {
    pools.push_back({"mask_threads", static_cast<std::int64_t>(mask_makers_->working()),
                     static_cast<std::int64_t>(mask_makers_->thread_count())});
  }
  return pools;
}

void MaskService::Join() {
  for (const std::unique_ptr<StreamQueue>& queue : queues_) queue->Join();
  offers_.Close();
}

}  // namespace maskd::service
