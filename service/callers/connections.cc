// gRPC closes a connection and tells nobody, so what is open is found by looking: a descriptor's
// number that stands for another inode is another connection. One that comes under a number that is
// still listed says by that alone that the old one is closed.
//
// Invariant  of_peer_ counts open_ by peer.
// Cost       fstat for each connection that comes; all are looked at only when there is no room,
//            and then once in kSweep, so that a flood cannot make it dear.
#include "service/callers/connections.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "ring/socket_file.h"

namespace maskd::service {
namespace {

// Nothing when it is closed.
std::optional<ino_t> InodeOf(int fd) {
  struct stat file{};
  if (fstat(fd, &file) != 0) return std::nullopt;
  return file.st_ino;
}

// The kernel says which user it is, as of the connection's begin; nothing that the client sends has
// a part in it.
Peer LocalPeer(int fd) {
  const std::optional<uid_t> user = ring::UserOf(fd);
  if (!user.has_value()) return {true, ""};
  return {true, absl::StrCat("uid:", *user), static_cast<std::int64_t>(*user)};
}

std::string NameOf(const in_addr& address) {
  char text[INET_ADDRSTRLEN];
  return inet_ntop(AF_INET, &address, text, sizeof(text)) == nullptr ? "" : text;
}

// A host may have any address of its /64 network, so the network counts as one peer. An IPv4
// address in IPv6 form counts as what it is.
std::string NameOf(const in6_addr& address) {
  constexpr std::size_t kNetworkBytes = 8;
  constexpr std::size_t kMappedAt = 12;  // where an IPv4 address is within an IPv6 one
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    in_addr mapped{};
    std::memcpy(&mapped, address.s6_addr + kMappedAt, sizeof(mapped));
    return NameOf(mapped);
  }
  in6_addr network = address;
  std::memset(network.s6_addr + kNetworkBytes, 0, sizeof(network) - kNetworkBytes);
  char text[INET6_ADDRSTRLEN];
  if (inet_ntop(AF_INET6, &network, text, sizeof(text)) == nullptr) return "";
  return absl::StrCat(text, "/64");
}

// "ipv4:10.0.0.7:80" or "ipv6:%5B::1%5D:80", as gRPC names a peer that it knows by its address.
Peer RemotePeer(absl::string_view grpc_peer) {
  std::string text = absl::StrReplaceAll(grpc_peer, {{"%5B", "["}, {"%5D", "]"}, {"%25", "%"}});
  absl::string_view address = text;
  address = address.substr(0, address.rfind(':'));
  if (absl::ConsumePrefix(&address, "ipv4:")) {
    in_addr at{};
    if (inet_pton(AF_INET, std::string(address).c_str(), &at) != 1) return {};
    return {false, NameOf(at)};
  }
  if (absl::ConsumePrefix(&address, "ipv6:[") && absl::ConsumeSuffix(&address, "]")) {
    in6_addr at{};
    const std::string plain(address.substr(0, address.find('%')));  // without its scope
    if (inet_pton(AF_INET6, plain.c_str(), &at) != 1) return {};
    return {false, NameOf(at)};
  }
  return {};
}

}  // namespace

Peer PeerOfSocket(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  switch (address.ss_family) {
    case AF_UNIX:
      return LocalPeer(fd);
    case AF_INET:
      return {false, NameOf(reinterpret_cast<const sockaddr_in&>(address).sin_addr)};
    case AF_INET6:
      return {false, NameOf(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)};
    default:
      return {};
  }
}

Connections::Limits Connections::LimitsFor(std::int64_t in_all, std::int64_t of_a_peer,
                                           std::int64_t free_fds) {
  const std::int64_t all = std::clamp<std::int64_t>(free_fds, 1, in_all);
  const std::int64_t each = std::max<std::int64_t>(1, std::min(of_a_peer, in_all) * all / in_all);
  return {static_cast<int>(all), static_cast<int>(each)};
}

void Connections::SetLimits(Limits limits) {
  const MutexLock lock(&mutex_);
  limits_ = limits;
}

Connections::Limits Connections::limits() const {
  const MutexLock lock(&mutex_);
  return limits_;
}

void Connections::SetMayConnect(std::function<bool(std::int64_t user)> may_connect) {
  const MutexLock lock(&mutex_);
  may_connect_ = std::move(may_connect);
}

// On the accept loop's thread, before gRPC sees the connection: a refused one costs no memory of
// gRPC's.
Connections::Verdict Connections::Admit(int fd) {
  Open open{InodeOf(fd).value_or(0), PeerOfSocket(fd)};
  const MutexLock lock(&mutex_);
  Forget(fd);  // who had this number has closed it
  Verdict verdict = Judge(open.peer);
  if (verdict == Verdict::kTooMany || verdict == Verdict::kTooManyOfPeer) {
    Sweep();  // some may be closed by now
    verdict = Judge(open.peer);
  }
  ++counts_[static_cast<std::size_t>(verdict)];
  if (verdict == Verdict::kAdmitted) {
    ++of_peer_[open.peer.name];
    open_[fd] = std::move(open);
  }
  return verdict;
}

Connections::Verdict Connections::Judge(const Peer& peer) const {
  if (peer.is_local && may_connect_ != nullptr && !may_connect_(peer.user))
    return Verdict::kNotAllowed;
  if (open_.size() >= static_cast<std::size_t>(limits_.in_all)) return Verdict::kTooMany;
  const auto found = of_peer_.find(peer.name);
  const bool has_room = found == of_peer_.end() || found->second < limits_.of_a_peer;
  return has_room ? Verdict::kAdmitted : Verdict::kTooManyOfPeer;
}

void Connections::Sweep() {
  const Clock::TimePoint now = clock_->Now();
  if (swept_ != Clock::TimePoint::min() && now - swept_ < kSweep) return;
  swept_ = now;
  std::vector<int> gone;
  for (const auto& [fd, open] : open_)
    if (InodeOf(fd) != open.inode) gone.push_back(fd);
  for (const int fd : gone) Forget(fd);
}

void Connections::Forget(int fd) {
  const auto found = open_.find(fd);
  if (found == open_.end()) return;
  const auto peer = of_peer_.find(found->second.peer.name);
  if (--peer->second == 0) of_peer_.erase(peer);
  open_.erase(found);
}

Peer Connections::PeerOf(absl::string_view grpc_peer) const {
  if (Peer remote = RemotePeer(grpc_peer); !remote.name.empty()) return remote;
  int fd = -1;
  if (!absl::ConsumePrefix(&grpc_peer, "fd:") || !absl::SimpleAtoi(grpc_peer, &fd)) return {};
  const MutexLock lock(&mutex_);
  const auto found = open_.find(fd);
  return found == open_.end() ? Peer() : found->second.peer;
}

int Connections::CountOpen() {
  const MutexLock lock(&mutex_);
  Sweep();
  return static_cast<int>(open_.size());
}

std::vector<Pool> Connections::pools() {
  const MutexLock lock(&mutex_);
  Sweep();
  int most = 0;
  for (const auto& [peer, count] : of_peer_) most = std::max(most, count);
  return {{"connections", static_cast<std::int64_t>(open_.size()), limits_.in_all},
          {"peer_connections", most, limits_.of_a_peer}};
}

std::int64_t Connections::refused(Verdict why) const {
  const MutexLock lock(&mutex_);
  return counts_[static_cast<std::size_t>(why)];
}

}  // namespace maskd::service
