// A completion queue for operations of calls whose sockets others look at.
#ifndef MASKD_SERVICE_CALLS_EVENT_QUEUE_H_
#define MASKD_SERVICE_CALLS_EVENT_QUEUE_H_

#include <memory>

#include <grpcpp/completion_queue.h>

namespace maskd::service {

// One whose thread waits for its events alone, and for no socket.
std::unique_ptr<grpc::CompletionQueue> MakeEventQueue();

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_EVENT_QUEUE_H_
