// What the Decode streams of a server share. Nothing is owned.
#ifndef MASKD_SERVICE_STREAM_HOST_H_
#define MASKD_SERVICE_STREAM_HOST_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

#include "cache/work_pool.h"
#include "metrics/registry.h"
#include "service/gate.h"
#include "service/grammar_store.h"
#include "service/memory_offers.h"
#include "service/step_threads.h"
#include "service/stream_registry.h"
#include "service/stream_types.h"
#include "service/tokenizer_shelf.h"

namespace maskd::service {

// What all streams of a server use. Nothing is owned.
struct StreamHost {
  StreamLimits limits;
  std::int64_t drain_ms = 0;
  // How long a stream may take to say hello, and may then send nothing; 0: for ever.
  std::int64_t hello_ms = 0;
  std::int64_t idle_ms = 0;
  // How long a stream's thread looks for the next step before it sleeps.
  absl::Duration awake;
  const TokenizerShelf* tokenizers = nullptr;
  GrammarStore* grammars = nullptr;
  metrics::Metrics* metrics = nullptr;
  StreamRegistry* streams = nullptr;
  StepThreads* threads = nullptr;
  StepThreads* long_step_threads = nullptr;  // of a low priority
  MemoryOffers* offers = nullptr;
  const Gate* gate = nullptr;
  // Bytes of replies of all streams that wait to be written.
  std::atomic<std::int64_t>* queued_bytes = nullptr;
  cache::WorkPool* mask_makers = nullptr;  // null: each stream's own thread makes its masks
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAM_HOST_H_
