// One poll loop for all connections, as service/ports/metrics_port.cc has one, and threads for what
// the page asks. The loop never waits for a handler: who is done leaves its answer and wakes the
// loop.
//
// Invariant  each step of a peer does what its socket allows without blocking. A peer whose time is
//            over is closed, but for one that waits for its handler.
// May block  the loop in poll alone, until a socket is ready, a peer's time is over, or `wake_`.
#include "playground/http_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include "absl/strings/str_cat.h"
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "playground/request_guard.h"

namespace maskd::playground {
namespace {

using std::chrono::milliseconds;

// How long a peer that was answered may leave its end open.
constexpr milliseconds kEnd{1'000};
// While there are no descriptors, a listener stays readable and must not keep the loop busy.
constexpr milliseconds kPause{20};

HttpResponse Refused(int status, absl::string_view why) {
  return {status, "text/plain; charset=utf-8", absl::StrCat(why, "\n")};
}

bool WouldBlock() { return errno == EAGAIN || errno == EINTR; }

Clock::TimePoint Now() { return Clock::Steady()->Now(); }

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address,
                                                              Options options, Handler handler) {
  const auto failed = [&](absl::string_view why) {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", address, ": ", why));
  };
  auto socket = service::ListenSocket::Open(address, {});
  if (!socket.ok()) return failed(socket.status().message());
  ring::UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open()) return failed(std::strerror(errno));
  try {
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(options), std::move(handler),
                                                      *std::move(socket), std::move(wake)));
  } catch (const std::system_error& error) {
    return failed(error.what());
  }
}

HttpServer::HttpServer(Options options, Handler handler, service::ListenSocket socket,
                       ring::UniqueFd wake)
    : options_(std::move(options)),
      handler_(std::move(handler)),
      socket_(std::move(socket)),
      port_(socket_->port()),
      wake_(std::move(wake)),
      handlers_(options_.role),
      loop_([this] { Serve(); }) {}

HttpServer::~HttpServer() { Stop(); }

void HttpServer::Stop() {
  if (stopping_.exchange(true)) return;
  eventfd_write(wake_.get(), 1);
  loop_.join();
  peers_.clear();
  socket_.reset();
}

void HttpServer::Serve() {
  while (!stopping_) {
    std::vector<pollfd> watched = Watched();
    if (poll(watched.data(), watched.size(), PatienceMs()) < 0) continue;  // a signal
    short_of_fds_ = false;
    if (watched.front().revents != 0) TakeAnswers();
    const std::size_t listeners = socket_->fds().size();
    const Clock::TimePoint now = Now();
    // Peers first, in the order they were watched in: accepting may close the oldest.
    auto peer = peers_.begin();
    for (std::size_t i = 1 + listeners; i < watched.size(); ++i) {
      const bool is_late = watched[i].fd >= 0 && peer->end <= now;
      const bool is_over = is_late || (watched[i].revents != 0 && GoOn(&*peer));
      peer = is_over ? peers_.erase(peer) : std::next(peer);
    }
    StartHandlers();
    for (std::size_t i = 1; i <= listeners; ++i)
      if (watched[i].revents != 0) Accept(watched[i].fd);
  }
}

// Whom poll is not to look at has the descriptor -1.
std::vector<pollfd> HttpServer::Watched() const {
  std::vector<pollfd> watched = {{wake_.get(), POLLIN, 0}};
  const bool has_room = HasRoom();
  for (const ring::UniqueFd& fd : socket_->fds())
    watched.push_back({has_room && !short_of_fds_ ? fd.get() : -1, POLLIN, 0});
  for (const Peer& peer : peers_) {
    const bool is_ours = peer.state == State::kWaiting || peer.state == State::kRunning;
    const int events = peer.state == State::kWriting ? POLLOUT : POLLIN;
    watched.push_back({is_ours ? -1 : peer.fd.get(), static_cast<short>(events), 0});
  }
  return watched;
}

int HttpServer::PatienceMs() const {
  auto first = Clock::TimePoint::max();
  for (const Peer& peer : peers_)
    if (peer.state != State::kWaiting && peer.state != State::kRunning)
      first = std::min(first, peer.end);
  if (short_of_fds_) first = std::min(first, Now() + kPause);
  if (first == Clock::TimePoint::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(first - Now());
  return static_cast<int>(std::max(left, milliseconds(0)).count());
}

bool HttpServer::HasRoom() const {
  if (peers_.size() < options_.most_connections) return true;
  return std::ranges::any_of(peers_, [](const Peer& peer) {
    return peer.state != State::kWaiting && peer.state != State::kRunning;
  });
}

void HttpServer::Accept(int listener) {
  ring::UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  short_of_fds_ = !fd.is_open() && !WouldBlock();
  if (!fd.is_open()) return;
  if (peers_.size() >= options_.most_connections) {
    const auto oldest = std::ranges::find_if(peers_, [](const Peer& peer) {
      return peer.state != State::kWaiting && peer.state != State::kRunning;
    });
    if (oldest == peers_.end()) return;  // two listeners, and one has taken the last room
    peers_.erase(oldest);
  }
  Peer& peer = peers_.emplace_back();
  peer.id = next_id_++;
  peer.fd = std::move(fd);
  peer.end = Now() + kPatience;
}

bool HttpServer::GoOn(Peer* peer) const {
  switch (peer->state) {
    case State::kHead:
    case State::kBody:
      return Read(peer);
    case State::kWriting:
      return Write(peer);
    case State::kEnding:
      return AwaitEnd(*peer);
    case State::kWaiting:
    case State::kRunning:
      break;
  }
  return false;
}

bool HttpServer::Read(Peer* peer) const {
  std::array<char, 1 << 16> part;
  const ssize_t count = recv(peer->fd.get(), part.data(), part.size(), MSG_DONTWAIT);
  if (count < 0) return !WouldBlock();
  if (count == 0) return true;
  peer->bytes.append(part.data(), static_cast<std::size_t>(count));
  if (peer->state == State::kHead) TakeHead(peer);
  if (peer->state == State::kBody) TakeBody(peer);
  return false;
}

void HttpServer::TakeHead(Peer* peer) const {
  const std::size_t end = absl::string_view(peer->bytes).find(kEndOfHead);
  if (end == absl::string_view::npos || end > kMostHead) {
    if (peer->bytes.size() > kMostHead) Answer(peer, Refused(431, "the head is too long"));
    return;
  }
  auto head = ReadHead(absl::string_view(peer->bytes).substr(0, end));
  if (!head.has_value()) return Answer(peer, Refused(400, "no request of HTTP/1.1"));
  peer->head = *std::move(head);
  if (const auto refused = Refuse(peer->head); refused.has_value()) return Answer(peer, *refused);
  peer->bytes.erase(0, end + kEndOfHead.size());
  peer->state = State::kBody;
}

void HttpServer::TakeBody(Peer* peer) const {
  const bool has_body = peer->head.method == "POST";
  const std::size_t length = has_body ? *peer->head.content_length : 0;
  if (peer->bytes.size() < length) return;
  peer->bytes.resize(length);
  peer->state = State::kWaiting;
}

std::optional<HttpResponse> HttpServer::Refuse(const HttpHead& head) const {
  if (!HostIsAllowed(head.host, options_.names))
    return Refused(403, "the Host header is none of the names that this page may be asked for by");
  if (!OriginIsAllowed(head.origin, head.host))
    return Refused(403, "another site's page may not ask");
  if (head.method == "GET") return std::nullopt;
  if (head.method != "POST") return Refused(405, "GET and POST alone");
  if (!IsJson(head.content_type)) return Refused(415, "the body must be JSON");
  if (!head.content_length.has_value()) return Refused(411, "the length must be given");
  if (*head.content_length > options_.most_body)
    return Refused(413, absl::StrCat("the body is larger than ", options_.most_body, " bytes"));
  return std::nullopt;
}

void HttpServer::Answer(Peer* peer, const HttpResponse& response) {
  peer->bytes = WriteResponse(response);
  peer->sent = 0;
  peer->state = State::kWriting;
  peer->end = Now() + kPatience;
}

bool HttpServer::Write(Peer* peer) {
  const absl::string_view left = absl::string_view(peer->bytes).substr(peer->sent);
  const ssize_t count = send(peer->fd.get(), left.data(), left.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0) return !WouldBlock();
  peer->sent += static_cast<std::size_t>(count);
  if (peer->sent < peer->bytes.size()) return false;
  // What the peer still sends is read: a socket that is closed with unread bytes takes back the
  // answer, too.
  shutdown(peer->fd.get(), SHUT_WR);
  peer->bytes.clear();
  peer->state = State::kEnding;
  peer->end = Now() + kEnd;
  return false;
}

bool HttpServer::AwaitEnd(const Peer& peer) {
  std::array<char, 1 << 16> part;
  const ssize_t count = recv(peer.fd.get(), part.data(), part.size(), MSG_DONTWAIT);
  return count == 0 || (count < 0 && !WouldBlock());
}

void HttpServer::StartHandlers() {
  for (Peer& peer : peers_) {
    if (running_ >= options_.threads) return;
    if (peer.state != State::kWaiting) continue;
    peer.state = State::kRunning;
    ++running_;
    auto request = std::make_shared<HttpRequest>(peer.head.method, peer.head.path);
    request->body = std::exchange(peer.bytes, {});
    handlers_.Run([this, id = peer.id, request] { Run(id, *request); });
  }
}

void HttpServer::Run(std::uint64_t id, const HttpRequest& request) {
  HttpResponse response;
  try {
    response = handler_(request);
  } catch (const std::bad_alloc&) {
    response = Refused(503, "out of memory");
  }
  {
    const MutexLock lock(&mutex_);
    answers_.emplace_back(id, std::move(response));
  }
  eventfd_write(wake_.get(), 1);
}

void HttpServer::TakeAnswers() {
  eventfd_t ignored = 0;
  eventfd_read(wake_.get(), &ignored);
  std::vector<std::pair<std::uint64_t, HttpResponse>> answers;
  {
    const MutexLock lock(&mutex_);
    answers.swap(answers_);
  }
  for (const auto& [id, response] : answers) {
    --running_;
    const auto peer = std::ranges::find(peers_, id, &Peer::id);
    if (peer != peers_.end()) Answer(&*peer, response);
  }
}

}  // namespace maskd::playground
