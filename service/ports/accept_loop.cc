// One poll for all listeners and the stop event, then a few connections of each in turn, so that a
// flood at one socket leaves the others their share.
//
// What accept(2) reports is either of one connection, and then the next one is tried at once, or a
// shortage of the process (descriptors, memory). A shortage keeps the listener readable, and a loop
// that polled again would spin: it waits kPause on the stop event alone.
#include "service/ports/accept_loop.h"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace maskd::service {
namespace {

// Connections of one listener before the next has its turn.
constexpr int kInTurn = 32;
constexpr std::chrono::milliseconds kForEver{-1};

// What accept(2) says of this one connection, or of none being there.
bool IsOfTheConnection(int error) {
  switch (error) {
    case EAGAIN:
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<AcceptLoop>> AcceptLoop::Start(
    std::vector<int> listeners, Take take, std::atomic<std::int64_t>* shortages) {
  ring::UniqueFd stop(eventfd(0, EFD_CLOEXEC));
  if (!stop.is_open()) return absl::UnavailableError(std::strerror(errno));
  try {
    return std::unique_ptr<AcceptLoop>(
        new AcceptLoop(std::move(listeners), std::move(take), shortages, std::move(stop)));
  } catch (const std::system_error& error) {
    return absl::UnavailableError(absl::StrCat("no thread: ", error.what()));
  }
}

AcceptLoop::AcceptLoop(std::vector<int> listeners, Take take, std::atomic<std::int64_t>* shortages,
                       ring::UniqueFd stop)
    : listeners_(std::move(listeners)),
      take_(std::move(take)),
      shortages_(shortages),
      stop_(std::move(stop)),
      thread_([this] { Run(); }) {}

AcceptLoop::~AcceptLoop() {
  // Wakes the poll, whatever it waits for; the loop ends at its next look.
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void AcceptLoop::Run() {
  while (!Wait(kForEver, /*for_listeners=*/true)) {
    for (const int listener : listeners_) {
      Outcome outcome = Outcome::kTaken;
      for (int i = 0; i < kInTurn && outcome == Outcome::kTaken; ++i) outcome = AcceptOne(listener);
      if (outcome != Outcome::kShortage) continue;
      ++*shortages_;
      if (Wait(kPause, /*for_listeners=*/false)) return;
    }
  }
}

bool AcceptLoop::Wait(std::chrono::milliseconds pause, bool for_listeners) {
  std::vector<pollfd> watched = {{stop_.get(), POLLIN, 0}};
  for (std::size_t i = 0; for_listeners && i < listeners_.size(); ++i)
    watched.push_back({listeners_[i], POLLIN, 0});
  const int ready = poll(watched.data(), watched.size(), static_cast<int>(pause.count()));
  return ready > 0 && watched.front().revents != 0;
}

AcceptLoop::Outcome AcceptLoop::AcceptOne(int listener) {
  ring::UniqueFd connection(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection.is_open()) return IsOfTheConnection(errno) ? Outcome::kNone : Outcome::kShortage;
  take_(std::move(connection), listener);
  return Outcome::kTaken;
}

}  // namespace maskd::service
