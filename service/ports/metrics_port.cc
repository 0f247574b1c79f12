// A small HTTP server in one poll loop: a few peers, each with the bytes that have come and those
// that are to go. It serves scrapes, which come every few seconds from one program, and is not to
// fall to anything else that finds the port.
//
// Invariant  each step of a peer does what its socket allows without blocking, and a peer that has
//            had kPatience is closed whatever it was doing.
// May block  in poll alone, until a socket is ready, the next peer's time is over, or the stop
// event.
// Cost       a scrape reads every figure anew; nothing is kept between two.
#include "service/ports/metrics_port.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include <prometheus/collectable.h>
#include <prometheus/text_serializer.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace maskd::service {
namespace {

using std::chrono::milliseconds;

constexpr absl::string_view kEndOfHead = "\r\n\r\n";
// While there are no descriptors, a listener stays readable and must not keep this busy.
constexpr milliseconds kPause{20};

std::string Response(absl::string_view status, absl::string_view body, bool with_body) {
  return absl::StrCat("HTTP/1.1 ", status,
                      "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8"
                      "\r\nConnection: close\r\nContent-Length: ",
                      body.size(), kEndOfHead, with_body ? body : "");
}

std::string HealthResponse(bool serving, bool with_body) {
  return serving ? Response("200 OK", "SERVING\n", with_body)
                 : Response("503 Service Unavailable", "NOT_SERVING\n", with_body);
}

bool WouldBlock() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

std::string MetricsText(const metrics::Metrics& metrics) {
  return prometheus::TextSerializer().Serialize(metrics.scraped()->Collect());
}

absl::StatusOr<std::unique_ptr<MetricsPort>> MetricsPort::Start(const std::string& address,
                                                                MetricsPages pages) {
  const auto failed = [&](absl::string_view why) {
    return absl::UnavailableError(absl::StrCat("cannot serve metrics on ", address, ": ", why));
  };
  absl::StatusOr<ListenSocket> socket = ListenSocket::Open(address, {});
  if (!socket.ok()) return failed(socket.status().message());
  ring::UniqueFd stop(eventfd(0, EFD_CLOEXEC));
  if (!stop.is_open()) return failed(std::strerror(errno));
  try {
    return std::unique_ptr<MetricsPort>(
        new MetricsPort(std::move(pages), *std::move(socket), std::move(stop)));
  } catch (const std::system_error& error) {
    return failed(error.what());
  }
}

MetricsPort::MetricsPort(MetricsPages pages, ListenSocket socket, ring::UniqueFd stop)
    : pages_(std::move(pages)),
      socket_(std::move(socket)),
      stop_(std::move(stop)),
      thread_([this] { Serve(); }) {}

MetricsPort::~MetricsPort() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void MetricsPort::Serve() {
  for (;;) {
    std::vector<pollfd> watched = Watched();
    if (poll(watched.data(), watched.size(), PatienceMs()) < 0) continue;  // a signal
    if (watched.front().revents != 0) return;
    const std::size_t listeners = socket_.fds().size();
    const Clock::TimePoint now = Clock::Steady()->Now();
    // Peers first, in the order they were watched in: accepting may close the oldest.
    auto peer = peers_.begin();
    for (std::size_t i = 1 + listeners; i < watched.size(); ++i) {
      const bool is_over = peer->end <= now || (watched[i].revents != 0 && GoOn(&*peer));
      peer = is_over ? peers_.erase(peer) : std::next(peer);
    }
    for (std::size_t i = 1; i <= listeners; ++i)
      if (watched[i].revents != 0) Accept(watched[i].fd);
  }
}

std::vector<pollfd> MetricsPort::Watched() const {
  std::vector<pollfd> watched = {{stop_.get(), POLLIN, 0}};
  for (const ring::UniqueFd& fd : socket_.fds()) watched.push_back({fd.get(), POLLIN, 0});
  for (const Peer& peer : peers_) {
    const int events = peer.answer.empty() ? POLLIN : POLLOUT;
    watched.push_back({peer.fd.get(), static_cast<short>(events), 0});
  }
  return watched;
}

int MetricsPort::PatienceMs() const {
  // Peers have equal patience, so the oldest is the first whose time is over.
  if (peers_.empty()) return -1;
  const auto left = peers_.front().end - Clock::Steady()->Now();
  return static_cast<int>(std::max(std::chrono::ceil<milliseconds>(left), milliseconds(0)).count());
}

void MetricsPort::Accept(int listener) {
  ring::UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.is_open()) {
    pollfd stop = {stop_.get(), POLLIN, 0};
    if (!WouldBlock()) poll(&stop, 1, static_cast<int>(kPause.count()));
    return;
  }
  // Who has been here longest has had the most time; a scrape takes milliseconds.
  if (peers_.size() == kMostPeers) peers_.pop_front();
  peers_.push_back({std::move(fd), Clock::Steady()->Now() + kPatience, "", ""});
}

bool MetricsPort::GoOn(Peer* peer) const {
  if (peer->answer.empty()) {
    const bool is_over = Read(peer);
    if (is_over || peer->answer.empty()) return is_over;
  }
  const ssize_t sent =
      send(peer->fd.get(), peer->answer.data(), peer->answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return !WouldBlock();
  peer->answer.erase(0, static_cast<std::size_t>(sent));
  return peer->answer.empty();
}

bool MetricsPort::Read(Peer* peer) const {
  std::array<char, 4096> buffer;
  const ssize_t count = recv(peer->fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0) return !WouldBlock();
  if (count == 0) return true;
  peer->head.append(buffer.data(), static_cast<std::size_t>(count));
  if (absl::StrContains(peer->head, kEndOfHead))
    peer->answer = Answer(peer->head);
  else if (peer->head.size() > kMostHead)
    peer->answer = Response("431 Request Header Fields Too Large", "too long\n", true);
  return false;
}

std::string MetricsPort::Answer(absl::string_view head) const {
  const std::vector<absl::string_view> words =
      absl::StrSplit(head.substr(0, head.find("\r\n")), ' ');
  if (words.size() != 3 || !absl::StartsWith(words[2], "HTTP/1."))
    return Response("400 Bad Request", "no request of HTTP/1.1\n", true);
  const bool is_get = words[0] == "GET";
  if (!is_get && words[0] != "HEAD") return Response("405 Method Not Allowed", "GET alone\n", true);
  const absl::string_view path = words[1].substr(0, words[1].find('?'));
  if (path == "/metrics") return Response("200 OK", MetricsText(*pages_.metrics), is_get);
  if (path == "/livez") return HealthResponse(pages_.is_live(), is_get);
  if (path == "/readyz") return HealthResponse(pages_.is_ready(), is_get);
  return Response("404 Not Found", "see /metrics, /livez, /readyz\n", is_get);
}

}  // namespace maskd::service
