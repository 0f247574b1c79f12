// A call comes by a stream's queue, since gRPC delivers only to queues that a thread polls. That
// queue's thread only passes it on (Accepted()), by an Alarm, to the queue of events that health's
// thread waits for. From there on every event of the call comes to health's thread.
//
// Who wakes whom  Set() and Stop() tell the watchers under the lock; what they write comes back as
//                 an event. Alarms wake health's thread.
// May block       health's thread in Next() alone; Join() until the last call has ended.
// Invariant  a call deletes itself with its last operation, and calls_ counts those that were
//            begun. A watcher is in watchers_ exactly until it has begun to finish.
#include "service/calls/health_service.h"

#include <array>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>

#include "service/calls/call_event.h"
#include "service/calls/event_queue.h"

namespace maskd::service {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

grpc::Status NoSuchName() {
  return {grpc::StatusCode::NOT_FOUND, "service: is not one of this server's names"};
}

// An event that calls a method of its owner.
template <typename Owner, void (Owner::*kMethod)(bool)>
class EventOf final : public CallEvent {
 public:
  explicit EventOf(Owner* owner) : owner_(owner) {}
  void Complete(bool ok) override { (owner_->*kMethod)(ok); }
  // As a queue is to know it.
  CallEvent* tag() { return this; }

 private:
  Owner* const owner_;
};

}  // namespace

// A call of Check: it comes by the streams' queue, is passed on, answered, and gone.
class HealthService::Check {
 public:
  static void Accept(HealthService* health, grpc::ServerCompletionQueue* queue, int* live) {
    auto* const call = new Check(health, queue, live);  // deletes itself
    ++*live;
    health->service_.RequestCheck(&call->context_, &call->request_, &call->responder_,
                                  health->events_.get(), queue, call->accepted_.tag());
  }

 private:
  Check(HealthService* health, grpc::ServerCompletionQueue* queue, int* live)
      : health_(health), queue_(queue), live_(live) {}

  void Accepted(bool ok) {
    --*live_;
    if (!ok) return delete this;  // the server stops
    Accept(health_, queue_, live_);
    health_->CallBegun();
    alarm_.Set(health_->events_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC), begun_.tag());
  }

  void Begun(bool /*ok*/) {
    Status status = HealthCheckResponse::UNKNOWN;
    {
      const MutexLock lock(&health_->mutex_);
      status = health_->Find(request_.service());
    }
    if (status == HealthCheckResponse::SERVICE_UNKNOWN)
      return responder_.FinishWithError(NoSuchName(), ended_.tag());
    HealthCheckResponse response;
    response.set_status(status);
    responder_.Finish(response, grpc::Status::OK, ended_.tag());
  }

  void Ended(bool /*ok*/) {
    HealthService* const health = health_;
    delete this;
    health->CallEnded();
  }

  HealthService* const health_;
  grpc::ServerCompletionQueue* const queue_;
  int* const live_;
  grpc::ServerContext context_;
  HealthCheckRequest request_;
  grpc::ServerAsyncResponseWriter<HealthCheckResponse> responder_{&context_};
  grpc::Alarm alarm_;
  EventOf<Check, &Check::Accepted> accepted_{this};
  EventOf<Check, &Check::Begun> begun_{this};
  EventOf<Check, &Check::Ended> ended_{this};
};

// A call of Watch: while it is open, one of the service's watchers. Its state has the service's
// lock.
class HealthService::Watch {
 public:
  static void Accept(HealthService* health, grpc::ServerCompletionQueue* queue, int* live) {
    auto* const call = new Watch(health, queue, live);  // deletes itself
    ++*live;
    call->context_.AsyncNotifyWhenDone(call->done_.tag());
    health->service_.RequestWatch(&call->context_, &call->request_, &call->writer_,
                                  health->events_.get(), queue, call->accepted_.tag());
  }

  // Says how its name stands, if that is new, or ends the call, if it is to end; when nothing is on
  // its way. `health` is its service, whose lock the analysis knows by that name.
  void Advance(HealthService* health) ABSL_EXCLUSIVE_LOCKS_REQUIRED(health->mutex_) {
    // One write at a time; what changed meanwhile is seen when it has been sent.
    if (is_finishing_ || is_sending_) return;
    const Status now = health->Find(request_.service());
    if (!is_gone_ && std::exchange(known_, now) != now) {
      HealthCheckResponse response;
      response.set_status(now);
      is_sending_ = true;
      return writer_.Write(response, Begin(sent_.tag()));
    }
    if (is_gone_ || health->stopped_)
      Finish(health, {grpc::StatusCode::UNAVAILABLE, "the server is stopping"});
  }

 private:
  Watch(HealthService* health, grpc::ServerCompletionQueue* queue, int* live)
      : health_(health), queue_(queue), live_(live) {}

  void Accepted(bool ok) {
    --*live_;
    if (!ok) return delete this;  // the server stops
    Accept(health_, queue_, live_);
    health_->CallBegun();
    pending_ = 2;  // the call's end comes too
    alarm_.Set(health_->events_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC), begun_.tag());
  }

  void Begun(bool /*ok*/) {
    {
      const MutexLock lock(&health_->mutex_);
      if (is_finishing_) {  // the caller has gone already
      } else if (health_->watchers_.size() >= kMaxWatchers) {
        Finish(health_, {grpc::StatusCode::RESOURCE_EXHAUSTED,
                         absl::StrCat("there are ", kMaxWatchers, " calls of Watch already")});
      } else {
        health_->watchers_.insert(this);
        Advance(health_);
      }
    }
    Ended(true);
  }

  void Sent(bool ok) {
    {
      const MutexLock lock(&health_->mutex_);
      is_sending_ = false;
      is_gone_ |= !ok;
      Advance(health_);
    }
    Ended(true);
  }

  void Done(bool /*ok*/) {
    {
      const MutexLock lock(&health_->mutex_);
      is_gone_ = true;
      Advance(health_);
    }
    Ended(true);
  }

  // One operation less; with the last one the call is over.
  void Ended(bool /*ok*/) {
    HealthService* const health = health_;
    {
      const MutexLock lock(&health->mutex_);
      if (--pending_ > 0 || !is_finishing_) return;
    }
    delete this;
    health->CallEnded();
  }

  void Finish(HealthService* health, const grpc::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(health->mutex_) {
    is_finishing_ = true;
    health->watchers_.erase(this);
    writer_.Finish(status, Begin(finished_.tag()));
  }

  CallEvent* Begin(CallEvent* event) {
    ++pending_;
    return event;
  }

  HealthService* const health_;
  grpc::ServerCompletionQueue* const queue_;
  int* const live_;
  grpc::ServerContext context_;
  HealthCheckRequest request_;
  grpc::ServerAsyncWriter<HealthCheckResponse> writer_{&context_};
  grpc::Alarm alarm_;
  int pending_ = 0;  // operations on their way
  Status known_ = HealthCheckResponse::UNKNOWN;
  bool is_sending_ = false;
  bool is_gone_ = false;  // the caller
  bool is_finishing_ = false;
  EventOf<Watch, &Watch::Accepted> accepted_{this};
  EventOf<Watch, &Watch::Begun> begun_{this};
  EventOf<Watch, &Watch::Sent> sent_{this};
  EventOf<Watch, &Watch::Done> done_{this};
  EventOf<Watch, &Watch::Ended> finished_{this};
};

HealthService::HealthService() = default;

HealthService::~HealthService() { Join(); }

void HealthService::Set(const std::string& name, bool serving) {
  const MutexLock lock(&mutex_);
  statuses_[name] = serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
  for (Watch* const watcher : watchers_) watcher->Advance(this);
}

void HealthService::Stop() {
  const MutexLock lock(&mutex_);
  stopped_ = true;
  const std::set<Watch*> watchers = watchers_;  // one that ends takes itself out
  for (Watch* const watcher : watchers) watcher->Advance(this);
}

HealthService::Status HealthService::Find(const std::string& name) const {
  const auto found = statuses_.find(name);
  return found == statuses_.end() ? HealthCheckResponse::SERVICE_UNKNOWN : found->second;
}

void HealthService::Listen(grpc::ServerBuilder* builder) {
  builder->RegisterService(&service_);
  events_ = MakeEventQueue();
}

absl::Status HealthService::Start() {
  const auto serve = [this] {
    void* tag = nullptr;
    bool ok = false;
    while (events_->Next(&tag, &ok)) static_cast<CallEvent*>(tag)->Complete(ok);
  };
  try {
    thread_ = std::thread(serve);
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat("no thread for health: ", error.what()));
  }
  return absl::OkStatus();
}

void HealthService::Accept(grpc::ServerCompletionQueue* queue, int* live) {
  Check::Accept(this, queue, live);
  Watch::Accept(this, queue, live);
}

void HealthService::Join() {
  if (events_ == nullptr) return;
  {
    const MutexLock lock(&mutex_);
    while (calls_ > 0) call_ended_.Wait(&mutex_);
  }
  events_->Shutdown();
  if (thread_.joinable()) {
    thread_.join();
  } else {
    void* tag = nullptr;
    bool ok = false;
    while (events_->Next(&tag, &ok)) {
    }
  }
  events_ = nullptr;
}

void HealthService::CallBegun() {
  const MutexLock lock(&mutex_);
  ++calls_;
}

void HealthService::CallEnded() {
  const MutexLock lock(&mutex_);
  --calls_;
  call_ended_.NotifyAll();
}

}  // namespace maskd::service
