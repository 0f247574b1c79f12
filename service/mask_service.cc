#include "service/mask_service.h"

namespace maskd::service {
namespace {

// A stream gives away a step at a time, so that there is room for every one.
std::optional<cache::WorkPool> MakersFor(const Config& config) {
  if (config.mask_threads == 0) return std::nullopt;
  return std::optional<cache::WorkPool>(std::in_place, static_cast<int>(config.mask_threads),
                                        static_cast<std::size_t>(config.max_streams));
}

}  // namespace

MaskService::MaskService(const Config& config, const TokenizerStore* tokenizers,
                         GrammarStore* grammars, metrics::Metrics* metrics)
    : thread_count_(static_cast<int>(config.stream_threads)),
      streams_(static_cast<int>(config.max_streams)),
      mask_makers_(MakersFor(config)),
      host_{
          LimitsOf(config), config.drain_ms, tokenizers,
          grammars,         metrics,         &streams_,
          &threads_,        &offers_,        mask_makers_.has_value() ? &*mask_makers_ : nullptr} {}

MaskService::~MaskService() {
  Join();
  for (const std::unique_ptr<Queue>& queue : queues_) {
    queue->events->Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue->events->Next(&tag, &ok)) {
    }
  }
}

void MaskService::Listen(grpc::ServerBuilder* builder) {
  builder->RegisterService(&service_);
  for (int i = 0; i < thread_count_; ++i) {
    queues_.push_back(std::make_unique<Queue>());
    queues_.back()->events = builder->AddCompletionQueue();
  }
}

void MaskService::Start() {
  for (const std::unique_ptr<Queue>& queue : queues_) {
    DecodeStream::Accept(&host_, &service_, queue->events.get(), &queue->live_streams);
    queue->thread = std::thread([&queue = *queue] { Serve(&queue); });
  }
}

void MaskService::Serve(Queue* queue) {
  void* tag = nullptr;
  bool ok = false;
  while (queue->events->Next(&tag, &ok)) {
    DecodeStream::Complete(tag, ok);
    // One stream waits to be accepted until the server is shut down, so none means the end.
    if (queue->live_streams == 0) {
      return;
    }
  }
}

void MaskService::Drain(std::chrono::steady_clock::time_point deadline) {
  streams_.Drain();
  streams_.WaitUntilEmpty(deadline);
}

void MaskService::Join() {
  for (const std::unique_ptr<Queue>& queue : queues_) {
    if (queue->thread.joinable()) {
      queue->thread.join();
    }
  }
  offers_.Close();
}

}  // namespace maskd::service
