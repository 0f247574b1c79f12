#include "service/health_service.h"

#include <chrono>
#include <utility>

namespace maskd::service {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

// How often a watcher looks whether its caller has left.
constexpr std::chrono::milliseconds kWatchSlice{100};

}  // namespace

void HealthService::Set(const std::string& name, bool serving) {
  const MutexLock lock(&mutex_);
  statuses_[name] = serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
  changed_.NotifyAll();
}

void HealthService::Stop() {
  const MutexLock lock(&mutex_);
  stopped_ = true;
  changed_.NotifyAll();
}

HealthService::Status HealthService::Find(const std::string& name) const {
  const auto found = statuses_.find(name);
  return found == statuses_.end() ? HealthCheckResponse::SERVICE_UNKNOWN : found->second;
}

grpc::Status HealthService::Check(grpc::ServerContext* /*context*/,
                                  const HealthCheckRequest* request,
                                  HealthCheckResponse* response) {
  const MutexLock lock(&mutex_);
  const Status status = Find(request->service());
  if (status == HealthCheckResponse::SERVICE_UNKNOWN) {
    return {grpc::StatusCode::NOT_FOUND, "service: is not one of this server's names"};
  }
  response->set_status(status);
  return grpc::Status::OK;
}

bool HealthService::WaitForChange(const grpc::ServerContext& context, const std::string& name,
                                  Status* known) {
  const MutexLock lock(&mutex_);
  for (;;) {
    if (const Status now = Find(name); std::exchange(*known, now) != now) {
      return true;
    }
    if (stopped_ || context.IsCancelled()) {
      return false;
    }
    changed_.WaitUntil(&mutex_, std::chrono::steady_clock::now() + kWatchSlice);
  }
}

grpc::Status HealthService::Watch(grpc::ServerContext* context, const HealthCheckRequest* request,
                                  grpc::ServerWriter<HealthCheckResponse>* writer) {
  HealthCheckResponse response;
  Status known = HealthCheckResponse::UNKNOWN;
  while (WaitForChange(*context, request->service(), &known)) {
    response.set_status(known);
    if (!writer->Write(response)) {
      break;
    }
  }
  return {grpc::StatusCode::UNAVAILABLE, "the server is stopping"};
}

}  // namespace maskd::service
