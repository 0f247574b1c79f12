// One thread polls the listener and the connections that have not asked yet. A token is one packet,
// so a peer has either asked or not; it is answered with the descriptor, or with nothing, and
// closed.
//
// Invariant  no read or write of the thread waits for a peer.
// Cost       one poll over at most kMostPeers connections for each event.
// Bounds     kMostPeers connections that say nothing; one more, and the oldest goes.
// Source     unix(7), cmsg(3).
#include "ring/handover.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace maskd::ring {
namespace {

// Connections that have not asked yet; one more and the oldest is closed.
constexpr std::size_t kMostPeers = 32;
constexpr int kBacklog = 64;

absl::Status Failed(absl::string_view what, absl::string_view path) {
  return absl::UnavailableError(absl::StrCat(path, ": ", what, ": ", std::strerror(errno)));
}

absl::StatusOr<sockaddr_un> AddressOf(absl::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return absl::UnavailableError(absl::StrCat(path, ": is too long for a socket"));
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

const sockaddr* Plain(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// A message of one byte with room for one descriptor.
struct Packet {
  Packet() {
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;

  char byte = 'm';
  iovec piece = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
};

void SendFd(int socket, int fd) {
  Packet packet;
  cmsghdr* const header = CMSG_FIRSTHDR(&packet.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof(int));
  // Whoever has gone does not get it.
  [[maybe_unused]] const ssize_t sent =
      sendmsg(socket, &packet.message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// The descriptors that came with a packet: the room for one may hold two.
std::vector<UniqueFd> FdsOf(msghdr* message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* header = CMSG_FIRSTHDR(message); header != nullptr;
       header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= header->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + (at - CMSG_LEN(0)), sizeof(int));
      fds.emplace_back(fd);
    }
  }
  return fds;
}

// The descriptor of the packet that has come.
absl::StatusOr<UniqueFd> ReceiveFd(int socket) {
  Packet packet;
  if (recvmsg(socket, &packet.message, MSG_CMSG_CLOEXEC) != 1)
    return absl::UnavailableError("the token is refused");
  std::vector<UniqueFd> fds = FdsOf(&packet.message);
  if (fds.size() == 1) return std::move(fds.front());
  return absl::ResourceExhaustedError("no room for a descriptor, or two of them");
}

// What is left of a time that began with this.
class Patience {
 public:
  explicit Patience(absl::Duration time) : time_(time) {}
  [[nodiscard]] absl::Duration left() const {
    return std::max(time_ - absl::FromChrono(Steady::now() - begin_), absl::ZeroDuration());
  }

 private:
  using Steady = std::chrono::steady_clock;

  const absl::Duration time_;
  const Steady::time_point begin_ = Steady::now();
};

// A listener whose queue is full is asked again, as it empties it in a moment.
absl::Status Connect(int socket, const sockaddr_un& address, const std::string& path,
                     const Patience& patience) {
  while (connect(socket, Plain(address), sizeof(address)) != 0) {
    if (errno != EAGAIN || patience.left() == absl::ZeroDuration())
      return Failed("nobody listens", path);
    absl::SleepFor(absl::Milliseconds(1));
  }
  return absl::OkStatus();
}

// Whether something can be received in time.
bool BecomesReadable(int socket, const Patience& patience) {
  pollfd wanted = {socket, POLLIN, 0};
  for (;;) {
    const absl::Duration left = patience.left();
    const timespec timeout = absl::ToTimespec(std::min(left, absl::Hours(1)));
    const int ready = ppoll(&wanted, 1, &timeout, nullptr);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (left == absl::ZeroDuration()) return false;
  }
}

}  // namespace

absl::StatusOr<std::string> MakeToken() {
  std::string token(kTokenBytes, '\0');
  if (getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size()))
    return absl::UnavailableError("no random bytes");
  return token;
}

absl::StatusOr<UniqueFd> Fetch(const std::string& path, absl::string_view token,
                               absl::Duration longest) {
  const Patience patience(longest);
  const absl::StatusOr<sockaddr_un> address = AddressOf(path);
  if (!address.ok()) return address.status();
  const UniqueFd peer(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!peer.is_open()) return Failed("no socket", path);
  if (absl::Status connected = Connect(peer.get(), *address, path, patience); !connected.ok())
    return connected;
  if (send(peer.get(), token.data(), token.size(), MSG_NOSIGNAL) < 0)
    return Failed("cannot ask", path);
  if (!BecomesReadable(peer.get(), patience))
    return absl::DeadlineExceededError(absl::StrCat(path, ": no answer in time"));
  return ReceiveFd(peer.get());
}

absl::StatusOr<std::unique_ptr<HandoverPort>> HandoverPort::Listen(const std::string& path,
                                                                   Find find,
                                                                   const SocketRights& rights,
                                                                   MayAsk may_ask) {
  UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  UniqueFd stop(eventfd(0, EFD_CLOEXEC));
  if (!listener.is_open() || !stop.is_open()) return Failed("no socket", path);
  absl::StatusOr<SocketFile> file = SocketFile::Bind(listener.get(), path, rights);
  if (!file.ok()) return file.status();
  if (listen(listener.get(), kBacklog) != 0) return Failed("cannot listen", path);
  try {
    return std::unique_ptr<HandoverPort>(new HandoverPort(std::move(find), std::move(may_ask),
                                                          std::move(listener), *std::move(file),
                                                          std::move(stop)));
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat(path, ": no thread: ", error.what()));
  }
}

HandoverPort::HandoverPort(Find find, MayAsk may_ask, UniqueFd listener, SocketFile file,
                           UniqueFd stop)
    : find_(std::move(find)),
      may_ask_(std::move(may_ask)),
      listener_(std::move(listener)),
      file_(std::move(file)),
      stop_(std::move(stop)),
      thread_([this] { Serve(); }) {}

HandoverPort::~HandoverPort() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void HandoverPort::Serve() {
  std::vector<pollfd> watched;
  for (;;) {
    watched = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const UniqueFd& peer : peers_) watched.push_back({peer.get(), POLLIN, 0});
    if (poll(watched.data(), watched.size(), -1) < 0) continue;  // a signal
    if (watched[0].revents != 0) return;
    for (std::size_t i = watched.size(); i-- > 2;) {
      const auto peer = peers_.begin() + static_cast<std::ptrdiff_t>(i - 2);
      if (watched[i].revents != 0 && Answer(*peer)) peers_.erase(peer);
    }
    if (watched[1].revents != 0) Accept();
  }
}

void HandoverPort::Accept() {
  UniqueFd peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!peer.is_open()) {
    // Out of descriptors, it may be; the listener stays readable and must not keep this busy.
    if (errno != EAGAIN && errno != ECONNABORTED) absl::SleepFor(absl::Milliseconds(10));
    return;
  }
  if (may_ask_ != nullptr) {
    const std::optional<uid_t> user = UserOf(peer.get());
    if (!user.has_value() || !may_ask_(*user)) return;
  }
  if (peers_.size() == kMostPeers) peers_.pop_front();
  peers_.push_back(std::move(peer));
}

bool HandoverPort::Answer(const UniqueFd& peer) const {
  std::array<char, kTokenBytes + 1> asked = {};
  const ssize_t count = recv(peer.get(), asked.data(), asked.size(), MSG_DONTWAIT);
  if (count < 0) return errno != EAGAIN && errno != EINTR;
  if (count == static_cast<ssize_t>(kTokenBytes)) {
    const UniqueFd found = find_({asked.data(), kTokenBytes});
    if (found.is_open()) SendFd(peer.get(), found.get());
  }
  return true;
}

}  // namespace maskd::ring
