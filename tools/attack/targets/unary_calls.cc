#include "tools/attack/targets/unary_calls.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "grpc/health/v1/health.pb.h"
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "client/cpp/base/wire_status.h"
#include "client/cpp/connect/channel.h"
#include "maskd/v1/compile_service.grpc.pb.h"

namespace maskd::attack {
namespace {

constexpr char kCompile[] = "/maskd.v1.CompileService/Compile";
constexpr int kAnyMessage = -1;

std::string TextOf(const grpc::ByteBuffer& buffer) {
  std::string text;
  std::vector<grpc::Slice> slices;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return text;
  for (const grpc::Slice& slice : slices)
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

struct OneCompile {
  grpc::ClientContext context;
  grpc::Status status;
  v1::CompileResponse response;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1::CompileResponse>> reader;
  std::size_t index = 0;
};

}  // namespace

absl::Status Call(const std::string& address, const RawCall& call, std::string* answer) {
  grpc::GenericStub stub(client::MakeChannel(address, kAnyMessage));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + call.deadline));
  if (call.metadata_bytes > 0)
    context.AddMetadata("x-attack", std::string(call.metadata_bytes, 'a'));
  grpc::CompletionQueue queue;
  const grpc::Slice slice(call.request);
  const grpc::ByteBuffer sent(&slice, 1);
  grpc::ByteBuffer received;
  grpc::Status status;
  const auto reader = stub.PrepareUnaryCall(&context, call.method, sent, &queue);
  reader->StartCall();
  reader->Finish(&received, &status, nullptr);
  if (call.cancel_after > absl::ZeroDuration()) {
    absl::SleepFor(call.cancel_after);
    context.TryCancel();
  }
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (answer != nullptr) *answer = TextOf(received);
  return client::FromWire(status);
}

absl::Status Compile(const std::string& address, const v1::CompileRequest& request,
                     const RawCall& call, v1::CompileResponse* response) {
  RawCall raw = call;
  raw.method = kCompile;
  raw.request = request.SerializeAsString();
  std::string answer;
  absl::Status status = Call(address, raw, &answer);
  if (status.ok() && !response->ParseFromString(answer))
    return absl::InternalError("the answer is no CompileResponse");
  return status;
}

absl::Status CheckHealth(const std::string& address, const std::string& name,
                         absl::Duration within) {
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(name);
  std::string answer;
  absl::Status status = Call(address,
                             {.method = "/grpc.health.v1.Health/Check",
                              .request = request.SerializeAsString(),
                              .deadline = within},
                             &answer);
  if (!status.ok()) return status;
  grpc::health::v1::HealthCheckResponse response;
  const bool read = response.ParseFromString(answer);
  const bool serves = read && response.status() == grpc::health::v1::HealthCheckResponse::SERVING;
  return serves ? absl::OkStatus() : absl::FailedPreconditionError("not SERVING");
}

std::vector<absl::Status> CompileMany(const std::string& address, const ManyCompiles& many) {
  std::vector<absl::Status> statuses(static_cast<std::size_t>(many.count));
  const auto stub = v1::CompileService::NewStub(client::MakeChannel(address, kAnyMessage));
  grpc::CompletionQueue queue;
  std::size_t begun = 0;
  const auto begin = [&] {
    auto* one = new OneCompile();  // its completion's
    one->index = begun++;
    one->context.set_deadline(absl::ToChronoTime(absl::Now() + many.deadline));
    one->reader = stub->AsyncCompile(&one->context, many.request(), &queue);
    one->reader->Finish(&one->response, &one->status, one);
    return one;
  };
  if (statuses.empty()) return statuses;
  OneCompile* const first = begin();
  while (begun < std::min(many.window, statuses.size())) begin();
  if (many.cancel_first) first->context.TryCancel();
  for (std::size_t ended = 0; ended < statuses.size(); ++ended) {
    void* tag = nullptr;
    bool ok = false;
    if (!queue.Next(&tag, &ok)) break;
    const std::unique_ptr<OneCompile> one(static_cast<OneCompile*>(tag));
    statuses[one->index] = client::FromWire(one->status);
    if (begun < statuses.size()) begin();
  }
  return statuses;
}

}  // namespace maskd::attack
