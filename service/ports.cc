#include "service/ports.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include <grpcpp/server_posix.h>

#include "memory/process_memory.h"
#include "service/log.h"

namespace maskd::service {
namespace {

using metrics::Figure;

// Descriptors that connections leave free: for shared memory on its way, scrapes, files in /proc.
constexpr std::int64_t kSpareFds = 16;
// Without and with --socket_group.
constexpr mode_t kOwnerOnly = 0700;
constexpr mode_t kOwnerAndGroup = 0770;

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
  for (std::size_t i = 0; i < config_.listen.size(); ++i) {
    const std::string& address = config_.listen[i];
    absl::StatusOr<ListenSocket> socket = ListenSocket::Open(address, SocketRightsOf(config_));
    if (!socket.ok()) {
      return absl::UnavailableError(absl::StrCat("--listen: cannot listen on ", address, ": ",
                                                 socket.status().message()));
    }
    ports_[i] = socket->port();
    sockets_.push_back(*std::move(socket));
  }
  return absl::OkStatus();
}

absl::Status Ports::Start(grpc::Server* server) {
  const memory::ProcessFigures process = memory::ReadProcessFigures();
  const Connections::Limits limits =
      Connections::LimitsFor(config_.max_connections, config_.max_peer_connections,
                             process.max_fds - process.open_fds - kSpareFds);
  connections_->SetLimits(limits);
  std::vector<int> listeners;
  for (const ListenSocket& socket : sockets_) {
    for (const ring::UniqueFd& fd : socket.fds()) listeners.push_back(fd.get());
  }
  auto loop = AcceptLoop::Start(
      std::move(listeners),
      [this, server](ring::UniqueFd connection) { Take(server, std::move(connection)); },
      &shortages_);
  if (!loop.ok()) {
    return absl::UnavailableError(absl::StrCat("--listen: ", loop.status().message()));
  }
  loop_ = *std::move(loop);
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    LogEvent("listening", {{"address", config_.listen[i]}, {"port", absl::StrCat(ports_[i])}});
  }
  LogEvent("connections", {{"max", absl::StrCat(limits.in_all)},
                           {"max_peer", absl::StrCat(limits.of_a_peer)},
                           {"descriptors", absl::StrCat(process.max_fds)}});
  return absl::OkStatus();
}

// One that is refused is closed, which is all that can be said before the HTTP/2 of it.
void Ports::Take(grpc::Server* server, ring::UniqueFd connection) {
  const Activity::Work work(&activity_);
  if (connections_->Admit(connection.get()) == Connections::Verdict::kAdmitted) {
    grpc::AddInsecureChannelFromFd(server, connection.Release());
  }
}

void Ports::Close() {
  loop_.reset();
  sockets_.clear();
}

std::vector<Figure> Ports::ReadFigures() const {
  using Verdict = Connections::Verdict;
  return {
      {.name = metrics::kConnectionsOpen, .value = static_cast<double>(connections_->CountOpen())},
      Refusals("max_connections", connections_->refused(Verdict::kTooMany)),
      Refusals("max_peer_connections", connections_->refused(Verdict::kTooManyOfPeer)),
      {.name = metrics::kAcceptShortagesTotal,
       .type = Figure::Type::kCounter,
       .value = static_cast<double>(shortages_)},
  };
}

}  // namespace maskd::service
