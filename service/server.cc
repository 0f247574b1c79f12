#include "service/server.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "service/log.h"

namespace maskd::service {
namespace {

using std::chrono::milliseconds;

// A dead peer is found within seconds; clients may ping as often.
constexpr int kKeepaliveMs = 10'000;
constexpr int kKeepaliveTimeoutMs = 5'000;
constexpr int kMinClientPingMs = 1'000;
// Threads for calls that are no Decode streams.
constexpr int kCallThreads = 512;

constexpr const char* kServices[] = {"maskd.v1.CompileService", "maskd.v1.MaskService",
                                     "maskd.v1.TokenizerService"};

// Whether someone listens on the Unix socket `path`. gRPC takes such a path over without asking.
bool IsInUse(absl::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return false;
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  const bool connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return connected;
}

absl::Status CannotListen(absl::string_view address, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("--listen: cannot listen on ", address, why));
}

void SetArguments(const Config& config, grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
  builder->SetMaxSendMessageSize(-1);  // replies are bounded by max_reply_bytes
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                              kMinClientPingMs);
  // More calls than there are threads for could not be answered.
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                              kCallThreads + static_cast<int>(config.max_streams));
  // Or else each call would be sent more than the 64 KiB that nobody has asked for.
  builder->AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  // A message would be decompressed before its size is looked at.
  builder->SetDefaultCompressionAlgorithm(GRPC_COMPRESS_NONE);
  for (const auto algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder->SetCompressionAlgorithmSupportStatus(algorithm, false);
  }
  grpc::ResourceQuota quota("maskd");
  quota.SetMaxThreads(kCallThreads);
  builder->SetResourceQuota(quota);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Config& config) {
  absl::StatusOr<std::unique_ptr<const TokenizerStore>> tokenizers =
      TokenizerStore::Load(config.tokenizers, config.mask_store_bytes);
  if (!tokenizers.ok()) {
    return tokenizers.status();
  }
  std::unique_ptr<Server> server(new Server(config, *std::move(tokenizers)));
  if (absl::Status listening = server->Listen(); !listening.ok()) {
    return listening;
  }
  return server;
}

Server::Server(const Config& config, std::unique_ptr<const TokenizerStore> tokenizers)
    : config_(config),
      metrics_(MASKD_VERSION),
      tokenizers_(std::move(tokenizers)),
      grammars_(config, &metrics_),
      calls_(config),
      compile_service_(tokenizers_.get(), &grammars_, &calls_, &metrics_),
      mask_service_(config, tokenizers_.get(), &grammars_, &metrics_),
      tokenizer_service_(tokenizers_.get(), &calls_),
      ports_(config.listen.size()) {}

// The streams' threads use the server until their last call has ended.
Server::~Server() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  mask_service_.Join();
}

absl::Status Server::Listen() {
  grpc::EnableDefaultHealthCheckService(false);  // ours says why
  if (config_.reflection) {
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  }
  grpc::ServerBuilder builder;
  SetArguments(config_, &builder);
  for (std::size_t i = 0; i < config_.listen.size(); ++i) {
    const std::string& address = config_.listen[i];
    if (const auto path = SocketPathOf(address); path.has_value() && IsInUse(*path)) {
      return CannotListen(address, ": another server does");
    }
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &ports_[i]);
  }
  builder.RegisterService(&compile_service_);
  mask_service_.Listen(&builder);
  builder.RegisterService(&tokenizer_service_);
  builder.RegisterService(&health_);
  server_ = builder.BuildAndStart();
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (server_ == nullptr || ports_[i] == 0) {
      return CannotListen(config_.listen[i], "");
    }
    LogEvent("listening", {{"address", config_.listen[i]}, {"port", absl::StrCat(ports_[i])}});
  }
  if (!config_.metrics_listen.empty()) {
    auto exposer = metrics::Exposer::Start(config_.metrics_listen, metrics_);
    if (!exposer.ok()) {
      return absl::UnavailableError(absl::StrCat("--metrics_listen: ", exposer.status().message()));
    }
    exposer_ = *std::move(exposer);
    LogEvent("metrics",
             {{"address", config_.metrics_listen}, {"port", absl::StrCat(exposer_->port())}});
  }
  if (config_.shared_memory) LendMemory();
  mask_service_.Start();
  SetHealth(/*ready=*/true);
  return absl::OkStatus();
}

// What cannot lend serves all the same: its streams stay with gRPC.
void Server::LendMemory() {
  for (const std::string& address : config_.listen) {
    const std::optional<absl::string_view> path = SocketPathOf(address);
    if (!path.has_value()) continue;
    if (absl::Status lent = mask_service_.LendMemory(std::string(*path)); !lent.ok()) {
      LogEvent("no_shared_memory", {{"address", address}, {"reason", std::string(lent.message())}});
    }
  }
}

void Server::SetHealth(bool ready) {
  health_.Set("liveness", true);
  health_.Set("", ready);
  health_.Set("readiness", ready);
  for (const char* service : kServices) {
    health_.Set(service, ready);
  }
}

void Server::Drain() {
  LogEvent("draining", {{"ms", absl::StrCat(config_.drain_ms)}});
  SetHealth(/*ready=*/false);
  const auto deadline = std::chrono::steady_clock::now() + milliseconds(config_.drain_ms);
  // gRPC cancels a call that comes during its shutdown. So that begins when the streams have gone:
  // until then one that comes is refused with UNAVAILABLE.
  mask_service_.Drain(deadline);
  health_.Stop();
  const auto left = deadline - std::chrono::steady_clock::now();
  server_->Shutdown(std::chrono::system_clock::now() +
                    std::max(std::chrono::duration_cast<milliseconds>(left), milliseconds(0)));
  server_->Wait();
  mask_service_.Join();
  LogEvent("stopped", {});
}

int Server::metrics_port() const { return exposer_ == nullptr ? 0 : exposer_->port(); }

}  // namespace maskd::service
