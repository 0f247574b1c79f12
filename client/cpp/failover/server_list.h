// The servers of a stream in the order in which they are tried, and when a server that refused for
// load may be asked again. For FailoverStream.
//
// Order    stays as it is; servers that come get a place by chance.
// Threads  one thread at a time.
#ifndef MASKD_CLIENT_CPP_FAILOVER_SERVER_LIST_H_
#define MASKD_CLIENT_CPP_FAILOVER_SERVER_LIST_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/random/bit_gen_ref.h"
#include "absl/status/status.h"

#include "client/cpp/base/steady_time.h"

namespace maskd::client {

class ServerList {
 public:
  // An error with a time of the server's own, and when that is over.
  struct Refusal {
    absl::Status error;
    SteadyTime until;
  };

  explicit ServerList(std::vector<std::string> addresses) : all_(std::move(addresses)) {}

  // The server in use, or the next to be tried.
  [[nodiscard]] const std::string& address() const { return all_[at_]; }
  [[nodiscard]] const std::vector<std::string>& all() const { return all_; }

  // Makes a server the one in use.
  void Use(const std::string& address);
  // Leaves the server in use for the next one.
  void GoOn() { at_ = (at_ + 1) % all_.size(); }
  // The server in use stays the one in use.
  void Shuffle(absl::BitGenRef random);
  // Takes the servers that there are now, in ascending order; none: those of before stay.
  void Replace(const std::vector<std::string>& now, absl::BitGenRef random);

  // Keeps what a server has said, at `now`, of the time after which it may be asked again.
  void Note(const std::string& address, const absl::Status& said, SteadyTime now);
  // Those that may be asked at `now`; first the server that is tried next.
  [[nodiscard]] std::vector<std::string> ToAsk(SteadyTime now) const;
  // The refusal that is over first, where all servers have refused for load.
  [[nodiscard]] std::optional<Refusal> First() const;

 private:
  std::vector<std::string> all_;
  std::size_t at_ = 0;
  std::map<std::string, Refusal> refusals_;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_FAILOVER_SERVER_LIST_H_
