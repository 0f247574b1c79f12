// Many calls at once from one thread, over a few connections that no other client shares. A call's
// time is what its caller would see: from its start to the answer's taking.
#include "bench/heavy_calls.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include <grpcpp/grpcpp.h>

#include "bench/samples.h"
#include "maskd/v1/compile_service.grpc.pb.h"

namespace maskd::bench {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr int kConnections = 8;
// Calls of a load: a server that is slow to refuse would fill this machine's memory with more.
constexpr std::size_t kMostOpen = 2000;
constexpr absl::Duration kCallTimeout = absl::Seconds(60);

double MillisSince(Clock::time_point start) { return MicrosSince(start) / 1e3; }

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // shared with nobody
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// Variants of schemas, each new to the server.
class NewGrammars {
 public:
  NewGrammars(std::string tokenizer, CompileCalls calls)
      : tokenizer_(std::move(tokenizer)), calls_(std::move(calls)) {}

  v1::CompileRequest Next() {
    const std::size_t number = sent_++ / static_cast<std::size_t>(calls_.same);
    std::string schema = calls_.schemas[number % calls_.schemas.size()];
    schema.insert(schema.find('{') + 1,
                  absl::StrCat("\"x-", absl::ToUnixMicros(begun_), "-", number, "\":0,"));
    v1::CompileRequest request;
    request.set_tokenizer(tokenizer_);
    request.mutable_grammar()->set_kind("json_schema");
    request.mutable_grammar()->set_source(std::move(schema));
    return request;
  }

 private:
  const std::string tokenizer_;
  const CompileCalls calls_;
  const absl::Time begun_ = absl::Now();  // a later run's variants are new, too
  std::size_t sent_ = 0;
};

// Calls that are open, and what became of the others.
class OpenCalls {
 public:
  explicit OpenCalls(const std::string& address) {
    for (int i = 0; i < kConnections; ++i)
      stubs_.push_back(v1::CompileService::NewStub(Connect(address)));
  }
  ~OpenCalls() {
    for (auto& [tag, call] : open_) call->context.TryCancel();
    while (!open_.empty()) Take(absl::InfiniteFuture(), false);
    queue_.Shutdown();
  }
  OpenCalls(const OpenCalls&) = delete;
  OpenCalls& operator=(const OpenCalls&) = delete;

  [[nodiscard]] std::size_t size() const { return open_.size(); }

  void Send(const v1::CompileRequest& request) {
    auto call = std::make_unique<Call>();
    call->context.set_deadline(absl::ToChronoTime(absl::Now() + kCallTimeout));
    const std::size_t stub = static_cast<std::size_t>(times_.sent++) % stubs_.size();
    call->reader = stubs_[stub]->AsyncCompile(&call->context, request, &queue_);
    call->reader->Finish(&call->response, &call->status, call.get());
    open_.emplace(call.get(), std::move(call));
  }
  // Waits for the next call's end, until then.
  void Take(absl::Time until, bool counts = true) {
    void* tag = nullptr;
    bool ok = false;
    if (queue_.AsyncNext(&tag, &ok, absl::ToChronoTime(until)) != grpc::CompletionQueue::GOT_EVENT)
      return;
    const auto found = open_.find(tag);
    if (counts) Count(*found->second);
    open_.erase(found);
  }
  CallTimes TakeTimes() { return std::move(times_); }

 private:
  struct Call {
    const Clock::time_point start = Clock::now();
    grpc::ClientContext context;
    v1::CompileResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::CompileResponse>> reader;
  };

  void Count(const Call& call) {
    if (call.status.ok())
      times_.done.push_back(MillisSince(call.start));
    else if (call.status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED)
      times_.refused.push_back(MillisSince(call.start));
    else if (times_.failed++ == 0)
      times_.fault = call.status.error_message();
  }

  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<v1::CompileService::Stub>> stubs_;
  absl::flat_hash_map<void*, std::unique_ptr<Call>> open_;
  CallTimes times_;
};

// Runs the load for its time. `send` begins the calls that are due, and says until when to wait for
// the next end of one.
CallTimes RunLoad(const HeavyOptions& options,
                  absl::FunctionRef<absl::Time(OpenCalls* open, absl::Time end)> send) {
  OpenCalls open(options.address);
  const auto start = Clock::now();
  const absl::Time end = absl::Now() + options.time;
  while (absl::Now() < end) open.Take(send(&open, end));
  CallTimes times = open.TakeTimes();
  times.seconds = MillisSince(start) / 1e3;
  return times;
}

}  // namespace

absl::StatusOr<CallTimes> KeepCompiling(const HeavyOptions& options, const CompileCalls& calls,
                                        int at_once) {
  NewGrammars grammars(options.tokenizer, calls);
  return RunLoad(options, [&](OpenCalls* open, absl::Time end) {
    while (open->size() < static_cast<std::size_t>(at_once)) open->Send(grammars.Next());
    return end;
  });
}

absl::StatusOr<CallTimes> SendCompiles(const HeavyOptions& options, const CompileCalls& calls,
                                       double per_second) {
  NewGrammars grammars(options.tokenizer, calls);
  absl::Time next = absl::Now();
  return RunLoad(options, [&](OpenCalls* open, absl::Time end) {
    for (; next <= absl::Now(); next += absl::Seconds(1 / per_second))
      if (open->size() < kMostOpen) open->Send(grammars.Next());
    return std::min(next, end);
  });
}

namespace {

class OpenWatchers final : public Watchers {
 public:
  ~OpenWatchers() override {
    for (const auto& call : calls_) call->context.TryCancel();
  }

  absl::Status Add(const std::string& address, int count) {
    std::vector<std::shared_ptr<grpc::Channel>> channels;
    for (int i = 0; i < kConnections; ++i) channels.push_back(Connect(address));
    for (int i = 0; i < count; ++i) {
      const auto stub = Health::NewStub(channels[static_cast<std::size_t>(i) % channels.size()]);
      auto& call = calls_.emplace_back(std::make_unique<Call>());
      HealthCheckRequest request;
      request.set_service("readiness");
      call->reader = stub->Watch(&call->context, request);
      HealthCheckResponse response;
      if (!call->reader->Read(&response) || response.status() != HealthCheckResponse::SERVING)
        return absl::UnavailableError(absl::StrCat("watcher ", i, " is not told of readiness"));
    }
    return absl::OkStatus();
  }

 private:
  struct Call {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader;
  };
  std::vector<std::unique_ptr<Call>> calls_;
};

// Milliseconds of one call. Errors: its own.
absl::StatusOr<double> TimeCall(absl::FunctionRef<grpc::Status(grpc::ClientContext*)> call) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + kCallTimeout));
  const auto start = Clock::now();
  const grpc::Status status = call(&context);
  if (!status.ok())
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  return MillisSince(start);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Watchers>> Watchers::Open(const std::string& address, int count) {
  auto watchers = std::make_unique<OpenWatchers>();
  if (absl::Status added = watchers->Add(address, count); !added.ok()) return added;
  return watchers;
}

absl::StatusOr<ProbeTimes> Probe(const HeavyOptions& options) {
  constexpr absl::Duration kPause = absl::Milliseconds(20);
  const auto health = Health::NewStub(Connect(options.address));
  const auto compile = v1::CompileService::NewStub(Connect(options.address));
  HealthCheckRequest readiness;
  readiness.set_service("readiness");
  v1::CompileRequest request;
  request.set_tokenizer(options.tokenizer);
  request.mutable_grammar()->set_kind("choice");
  ProbeTimes times;
  const absl::Time end = absl::Now() + options.time;
  for (; absl::Now() < end; absl::SleepFor(kPause)) {
    auto asked = TimeCall([&](grpc::ClientContext* context) {
      HealthCheckResponse response;
      return health->Check(context, readiness, &response);
    });
    if (!asked.ok()) return asked.status();
    times.health.push_back(*asked);
    request.mutable_grammar()->set_source(
        absl::StrCat(R"(["a","b)", absl::ToUnixMicros(absl::Now()), R"("])"));
    auto compiled = TimeCall([&](grpc::ClientContext* context) {
      v1::CompileResponse response;
      return compile->Compile(context, request, &response);
    });
    if (!compiled.ok()) return compiled.status();
    times.compile.push_back(*compiled);
  }
  return times;
}

}  // namespace maskd::bench
