// How the streams of many clients spread over many servers, each client deciding for its own alone.
//
// Goal     each server has the mean: rounded up where there are most now, else down.
// Who goes the youngest of a server that has more. A stream knows its rank there, so of a server
//          with two too many exactly two go, and each takes another of the places that are free: no
//          chance is in it, and a herd does not swing.
// Still    nobody moves unless its server has at least two more than the one it goes to.
// Threads  pure functions; one thread at a time.
#ifndef MASKD_CLIENT_CPP_FAILOVER_BALANCE_H_
#define MASKD_CLIENT_CPP_FAILOVER_BALANCE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "absl/random/distributions.h"
#include "absl/time/time.h"

namespace maskd::client {

// Where the stream of `rank`, 1 the oldest, of server `own` goes: an index of `streams`, which has
// how many each server has. Absent: it stays. Clients that have the servers in the same order and
// see the same figures choose different places.
std::optional<std::size_t> PlaceToGo(std::span<const int> streams, std::size_t own, int rank);

// The servers by what they have, the least first; a server of which nothing is known comes last.
// Where they have the same, the order of before stays.
std::vector<std::size_t> LeastFirst(std::span<const std::optional<int>> streams);

// When a stream looks at the servers.
class LookPace {
 public:
  explicit LookPace(absl::Duration every) : every_(every) {}

  // How long until the next look: `every` or less, half of it at least, so that streams that began
  // together part. An eighth of that a few times in a row, where a stream has just come to a server
  // or saw that streams were uneven and others had to go.
  template <typename Random>
  absl::Duration Next(Random& random) const {
    return every_ * (soon_ > 0 ? 0.125 : 1) * absl::Uniform(random, 0.5, 1.0);
  }
  // The stream has come to a server.
  void Came() { soon_ = kMostSoon; }
  // It has looked and stays.
  void Looked(bool is_uneven) { soon_ = soon_ > 0 ? soon_ - 1 : is_uneven ? kMostSoon : 0; }

 private:
  static constexpr int kMostSoon = 4;

  absl::Duration every_;
  int soon_ = 0;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_FAILOVER_BALANCE_H_
