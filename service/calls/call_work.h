// What a method does for one unary call, whatever brings its message.
#ifndef MASKD_SERVICE_CALLS_CALL_WORK_H_
#define MASKD_SERVICE_CALLS_CALL_WORK_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include <grpcpp/support/byte_buffer.h>

#include "cache/single_flight.h"
#include "service/callers/caller.h"

namespace maskd::service {

// A call, as its method sees it.
class CallView {
 public:
  // Who makes it.
  [[nodiscard]] virtual const Caller& caller() const = 0;
  // Counts `bytes` of its reply, before it is made or as soon as its size is known, until it is
  // sent. Errors: those of UnreadReplies::Add(), and nothing is counted.
  virtual absl::Status CountReply(std::int64_t bytes) = 0;

 protected:
  ~CallView() = default;
};

// One call's work, in two steps; between them it may wait for a compile. One thread at a time.
class CallWork {
 public:
  CallWork() = default;
  virtual ~CallWork() = default;
  CallWork(const CallWork&) = delete;
  CallWork& operator=(const CallWork&) = delete;

  // Reads the message, which may be emptied. An error ends the call.
  virtual absl::Status Begin(CallView& call, grpc::ByteBuffer* message) = 0;
  // What Answer() waits for; null: nothing. After Begin().
  virtual cache::Ticket* awaited() { return nullptr; }
  // Writes the reply. `left` says why the caller waits no more; OK: it does, and what is awaited is
  // there.
  virtual absl::Status Answer(CallView& call, const absl::Status& left,
                              grpc::ByteBuffer* reply) = 0;
  // Whether Answer() takes microseconds, whatever is asked.
  [[nodiscard]] virtual bool answers_quickly() const { return false; }
};

// What a method does for one more call.
using CallMethod = std::function<std::unique_ptr<CallWork>()>;

// Errors: INVALID_ARGUMENT for bytes that are no such message.
absl::Status ReadMessage(grpc::ByteBuffer* bytes, google::protobuf::Message* message);
absl::Status WriteMessage(const google::protobuf::Message& message, grpc::ByteBuffer* bytes);

// Work that waits for nothing: run(request, call, &response), an absl::Status.
template <typename Request, typename Response, typename Run>
class WorkAtOnce final : public CallWork {
 public:
  explicit WorkAtOnce(const Run* run) : run_(run) {}

  absl::Status Begin(CallView& /*call*/, grpc::ByteBuffer* message) override {
    return ReadMessage(message, &request_);
  }
  absl::Status Answer(CallView& call, const absl::Status& /*left*/,
                      grpc::ByteBuffer* reply) override {
    Response response;
    const absl::Status status = (*run_)(request_, call, &response);
    return status.ok() ? WriteMessage(response, reply) : status;
  }

 private:
  const Run* const run_;
  Request request_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_CALL_WORK_H_
