// What the streams of one process share, whatever carries their bytes. Nothing is owned.
#ifndef MASKD_SERVICE_STREAMS_STREAM_HOST_H_
#define MASKD_SERVICE_STREAMS_STREAM_HOST_H_

#include "cache/work_pool.h"
#include "metrics/registry.h"
#include "service/grammars/grammar_store.h"
#include "service/sequences/stream_types.h"
#include "service/streams/step_threads.h"
#include "service/streams/stream_registry.h"

namespace maskd::service {

// What every stream uses. Nothing is owned.
struct StreamHost {
  StreamLimits limits;
  GrammarStore* grammars = nullptr;
  metrics::Metrics* metrics = nullptr;  // null where nobody counts
  StepThreads* threads = nullptr;       // for steps that wait for a compile
  StreamRegistry* streams = nullptr;    // null where nobody lists them
  // For masks of steps whose thread has other things to do, and of steps of many rows; null: each
  // step's own thread makes its masks.
  cache::WorkPool* mask_makers = nullptr;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_STREAM_HOST_H_
