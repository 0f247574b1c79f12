#include "service/calls/event_queue.h"

#include <grpc/grpc.h>

namespace maskd::service {

std::unique_ptr<grpc::CompletionQueue> MakeEventQueue() {
  grpc_init();
  const grpc_completion_queue_attributes attributes = {GRPC_CQ_CURRENT_VERSION, GRPC_CQ_NEXT,
                                                       GRPC_CQ_NON_POLLING, nullptr};
  auto queue = std::make_unique<grpc::CompletionQueue>(grpc_completion_queue_create(
      grpc_completion_queue_factory_lookup(&attributes), &attributes, nullptr));
  grpc_shutdown();  // the queue has the library's use of its own
  return queue;
}

}  // namespace maskd::service
