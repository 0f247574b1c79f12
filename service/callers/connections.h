// The connections that are open now: who has them, and how many there may be, in all and of one
// peer.
//
// Peer     over a Unix socket the user that connected; over TCP the address, of IPv6 its first 64
//          bits, which is what one machine is given.
// Ends     whoever was handed a connection closes it and tells nobody. So each is known by its
//          descriptor's number and its socket's inode: one whose number stands for another file by
//          now is gone. They are looked at when there is no room, every kSweep at most.
// Cost     a system call a connection and look; at most 100 looks a second.
// Threads  any.
#ifndef MASKD_SERVICE_CALLERS_CONNECTIONS_H_
#define MASKD_SERVICE_CALLERS_CONNECTIONS_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include <sys/types.h>

#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"
#include "service/base/pools.h"

namespace maskd::service {

// Who is at the other end of a connection.
struct Peer {
  bool is_local = false;   // over a Unix socket
  std::string name;        // "uid:1000", "10.0.0.7", "2001:db8:0:1::/64"; empty: unknown
  std::int64_t user = -1;  // over a Unix socket, if it is known
};

// The peer of a connected socket.
Peer PeerOfSocket(int fd);

// The connections that are open, as far as is known.
class Connections {
 public:
  // How many may be open at once.
  struct Limits {
    int in_all = 1024;
    int of_a_peer = 1024;
  };
  // What is asked for, and for a process with `free_fds` descriptors to spare: where those are
  // fewer, both limits shrink alike.
  static Limits LimitsFor(std::int64_t in_all, std::int64_t of_a_peer, std::int64_t free_fds);

  // What becomes of a connection.
  enum class Verdict : std::uint8_t { kAdmitted, kTooMany, kTooManyOfPeer, kNotAllowed };

  static constexpr std::chrono::milliseconds kSweep{10};

  // `clock` must outlive this.
  explicit Connections(Clock* clock = Clock::Steady()) : clock_(clock) {}
  // Before the first connection.
  void SetLimits(Limits limits) ABSL_LOCKS_EXCLUDED(mutex_);

  // Who may connect over a Unix socket; called with the lock held. Before the first connection.
  void SetMayConnect(std::function<bool(std::int64_t user)> may_connect)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Counts the connection `fd`, if there is room for it and its peer may connect.
  Verdict Admit(int fd) ABSL_LOCKS_EXCLUDED(mutex_);

  // A call's peer, by what gRPC says of it: "fd:7"; with TLS its address, "ipv4:10.0.0.7:80".
  [[nodiscard]] Peer PeerOf(absl::string_view grpc_peer) const ABSL_LOCKS_EXCLUDED(mutex_);

  // How many may be.
  [[nodiscard]] Limits limits() const ABSL_LOCKS_EXCLUDED(mutex_);
  // How many are open now.
  [[nodiscard]] int CountOpen() ABSL_LOCKS_EXCLUDED(mutex_);
  // The same in all and of the peer that has most.
  [[nodiscard]] std::vector<Pool> pools() ABSL_LOCKS_EXCLUDED(mutex_);
  // Those that were refused, for that reason.
  [[nodiscard]] std::int64_t refused(Verdict why) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Open {
    ino_t inode = 0;
    Peer peer;
  };

  Verdict Judge(const Peer& peer) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(int fd) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock* const clock_;
  mutable Mutex mutex_;
  Limits limits_ ABSL_GUARDED_BY(mutex_);
  std::function<bool(std::int64_t user)> may_connect_ ABSL_GUARDED_BY(mutex_);  // empty: all may
  absl::flat_hash_map<int, Open> open_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, int> of_peer_ ABSL_GUARDED_BY(mutex_);
  std::array<std::int64_t, 4> counts_ ABSL_GUARDED_BY(mutex_) = {};  // by verdict
  Clock::TimePoint swept_ ABSL_GUARDED_BY(mutex_) = Clock::TimePoint::min();
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLERS_CONNECTIONS_H_
