// A server of gRPC's synchronous calls, whose threads wait for calls and for no socket: gRPC makes
// them so when the server has a queue that somebody else looks at.
//
// Who wakes whom  whichever thread looks at the sockets hands a call to one of this server's
//                 threads, which answers it and writes.
// Order           the end: nobody new, the calls that are open cancelled and waited for, then the
//                 queue, and with it the thread that looks at it.
#include "service/admin/admin_server.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include "service/admin/server_plugins.h"

namespace maskd::service {
namespace {

constexpr int kConnectionCalls = 4;
// For each call of each connection (see ports.cc), and those that wait for one to come.
constexpr int kThreads = kConnectionCalls * 32 + 8;
constexpr int kMaxRequestBytes = 64 << 10;
constexpr int kKeepaliveMs = 10'000;
constexpr int kKeepaliveTimeoutMs = 5'000;

void SetArguments(const Config& config, grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(kMaxRequestBytes);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kConnectionCalls);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                              static_cast<int>(config.hello_ms));
  builder->SetDefaultCompressionAlgorithm(GRPC_COMPRESS_NONE);
  for (const auto algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP})
    builder->SetCompressionAlgorithmSupportStatus(algorithm, false);
  grpc::ResourceQuota quota("maskd admin");
  quota.SetMaxThreads(kThreads);
  builder->SetResourceQuota(quota);
  builder->SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(const Config& config,
                                                                AdminView::Parts parts,
                                                                std::string version,
                                                                Admission* admission) {
  std::unique_ptr<AdminServer> server(
      new AdminServer(config, std::move(parts), std::move(version), admission));
  server->connections_.SetMayConnect(
      [admission](std::int64_t user) { return admission->MayConnect(user); });
  if (absl::Status opened = server->ports_.Open(); !opened.ok()) return opened;
  const auto builder = BuilderWithPlugins();
  SetArguments(config, builder.get());
  builder->RegisterService(&server->service_);
  server->sockets_ = builder->AddCompletionQueue();
  server->ports_.SetUp(builder.get());
  server->server_ = builder->BuildAndStart();
  if (server->server_ == nullptr) return absl::InternalError("gRPC's server does not start");
  if (absl::Status listening = server->Listen(); !listening.ok()) return listening;
  return server;
}

AdminServer::AdminServer(const Config& config, AdminView::Parts parts, std::string version,
                         Admission* admission)
    : gate_(&connections_, admission),
      service_(
          AdminView(std::move(parts)), std::move(version),
          [this](const grpc::ServerContextBase& context) {
            return gate_.AdmitAdmin(context).status();
          },
          kThreads),
      ports_(config, &connections_, Audience::kAdmins) {}

absl::Status AdminServer::Listen() {
  try {
    looker_ = std::thread([this] { LookUntilStopped(); });
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat("--admin_listen: no thread: ", error.what()));
  }
  return ports_.Start(server_.get());
}

// Nothing ever comes by the queue itself. A look that finds another thread looking returns at once.
void AdminServer::LookUntilStopped() {
  void* tag = nullptr;
  bool ok = false;
  while (sockets_->AsyncNext(&tag, &ok, gpr_inf_past(GPR_CLOCK_MONOTONIC)) !=
         grpc::CompletionQueue::SHUTDOWN) {
    std::this_thread::sleep_for(kLook);
  }
}

AdminServer::~AdminServer() {
  ports_.Close();
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }
  if (sockets_ == nullptr) return;
  sockets_->Shutdown();
  if (looker_.joinable())
    looker_.join();
  else
    LookUntilStopped();
}

}  // namespace maskd::service
