// Every address is one listening socket of ours, and one loop accepts for all; an accepted
// connection is handed to gRPC by its descriptor. So a bound on connections, and who made each, are
// known before gRPC reads a byte.
//
// Order    Open() before gRPC is built, Start() after: a connection that came in between waits in
//          the socket's backlog.
//
// Invariant  a descriptor is ours until it was admitted, then gRPC's; nothing is closed twice.
// Cost       one look-up of the peer for each connection, none for each byte of it.
#include "service/ports/ports.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include <grpcpp/server_posix.h>

#include "memory/process_memory.h"
#include "service/base/log.h"
#include "service/ports/tls.h"

namespace maskd::service {
namespace {

using metrics::Figure;

// Descriptors that connections leave free: for shared memory on its way, scrapes, files in /proc.
constexpr std::int64_t kSpareFds = 16;
// Without and with --socket_group.
constexpr mode_t kOwnerOnly = 0700;
constexpr mode_t kOwnerAndGroup = 0770;

// Of whoever runs the server, who has connections of his own: one peer, such as the user that an
// engine and an operator share, is left room for others.
constexpr Connections::Limits kAdminConnections = {.in_all = 32, .of_a_peer = 16};

std::string NameOf(Guard guard) {
  switch (guard) {
    case Guard::kFile:
      return "file";
    case Guard::kTls:
      return "tls";
    case Guard::kNothing:
      break;
  }
  return "none";
}

Figure Refusals(const char* reason, std::int64_t count) {
  return {.name = metrics::kConnectionsRefusedTotal,
          .type = Figure::Type::kCounter,
          .value = static_cast<double>(count),
          .label = "reason",
          .label_value = reason};
}

}  // namespace

ring::SocketRights SocketRightsOf(const Config& config) {
  ring::SocketRights rights;
  if (config.socket_group.has_value()) rights.group = static_cast<gid_t>(*config.socket_group);
  const mode_t unsaid = config.socket_group.has_value() ? kOwnerAndGroup : kOwnerOnly;
  rights.mode = static_cast<mode_t>(config.socket_mode.value_or(unsaid));
  return rights;
}

absl::Status Ports::Open() {
  if (absl::Status checked = CheckAddresses(config_); !checked.ok()) return checked;
  if (absl::Status checked = CheckTlsFiles(config_); !checked.ok()) return checked;
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const auto& [address, guard, flag] = addresses_[i];
    absl::StatusOr<ListenSocket> socket = ListenSocket::Open(address, SocketRightsOf(config_));
    if (!socket.ok()) {
      return absl::UnavailableError(
          absl::StrCat(flag, ": cannot listen on ", address, ": ", socket.status().message()));
    }
    ports_[i] = socket->port();
    for (const ring::UniqueFd& fd : socket->fds())
      if (guard == Guard::kTls) tls_listeners_.insert(fd.get());
    sockets_.push_back(*std::move(socket));
  }
  return absl::OkStatus();
}

void Ports::SetUp(grpc::ServerBuilder* builder) {
  if (tls_listeners_.empty()) return;
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                              static_cast<int>(config_.hello_ms));
  tls_ = builder->experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      MakeTlsCredentials(config_));
}

absl::Status Ports::Start(grpc::Server* server) {
  const memory::ProcessFigures process = memory::ReadProcessFigures();
  // By the descriptors that are left now: everything else that the process opens at its start is
  // open.
  const Connections::Limits limits =
      audience_ == Audience::kAdmins
          ? kAdminConnections
          : Connections::LimitsFor(config_.max_connections, config_.max_peer_connections,
                                   process.max_fds - process.open_fds - kSpareFds);
  connections_->SetLimits(limits);
  std::vector<int> listeners;
  for (const ListenSocket& socket : sockets_)
    for (const ring::UniqueFd& fd : socket.fds()) listeners.push_back(fd.get());
  auto loop = AcceptLoop::Start(
      std::move(listeners),
      [this, server](ring::UniqueFd connection, int listener) {
        Take(server, std::move(connection), listener);
      },
      &shortages_);
  if (!loop.ok()) {
    return absl::UnavailableError(
        absl::StrCat(addresses_.front().flag, ": ", loop.status().message()));
  }
  loop_ = *std::move(loop);
  LogStart(limits, process.max_fds);
  return absl::OkStatus();
}

void Ports::LogStart(Connections::Limits limits, std::int64_t max_fds) const {
  const bool for_admins = audience_ == Audience::kAdmins;
  const absl::string_view event = for_admins ? "admin_listening" : "listening";
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const std::string& address = addresses_[i].text;
    const std::string guard(NameOf(addresses_[i].guard));
    if (SocketPathOf(address).has_value())
      LogEvent(event, {{"address", address}, {"guard", guard}});
    else
      LogEvent(event, {{"address", address}, {"port", absl::StrCat(ports_[i])}, {"guard", guard}});
  }
  if (for_admins) return;
  LogEvent("connections", {{"max", absl::StrCat(limits.in_all)},
                           {"max_peer", absl::StrCat(limits.of_a_peer)},
                           {"descriptors", absl::StrCat(max_fds)}});
}

// One that is refused is closed, which is all that can be said before the HTTP/2 of it.
void Ports::Take(grpc::Server* server, ring::UniqueFd connection, int listener) {
  const Activity::Work work(&activity_, Clock::Steady()->Now());
  if (connections_->Admit(connection.get()) != Connections::Verdict::kAdmitted) return;
  // From here on the descriptor is gRPC's, which closes it and tells nobody (connections.h).
  if (!tls_listeners_.contains(listener)) {
    grpc::AddInsecureChannelFromFd(server, connection.Release());
    return;
  }
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters taken;
  taken.listener_fd = listener;
  taken.fd = connection.Release();
  tls_->HandleNewConnection(&taken);
}

void Ports::Close() {
  // First the loop, then the sockets it waits on.
  loop_.reset();
  sockets_.clear();
}

std::vector<Figure> Ports::ReadFigures() const {
  using Verdict = Connections::Verdict;
  return {
      {.name = metrics::kConnectionsOpen, .value = static_cast<double>(connections_->CountOpen())},
      Refusals("max_connections", connections_->refused(Verdict::kTooMany)),
      Refusals("max_peer_connections", connections_->refused(Verdict::kTooManyOfPeer)),
      Refusals("socket_users", connections_->refused(Verdict::kNotAllowed)),
      {.name = metrics::kAcceptShortagesTotal,
       .type = Figure::Type::kCounter,
       .value = static_cast<double>(shortages_)},
  };
}

}  // namespace maskd::service
