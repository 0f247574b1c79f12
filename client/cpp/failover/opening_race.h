// Streams that are opened on several servers at once, so that silent servers are not waited for in
// turn. For FailoverStream.
//
// Order    the next attempt begins kAttemptDelay after the one before, or as soon as one has failed
//          ("Happy Eyeballs", RFC 8305).
// Cost     with several attempts on their way, one look at each in a millisecond.
// Threads  one thread at a time; the calling thread polls all connections.
#ifndef MASKD_CLIENT_CPP_FAILOVER_OPENING_RACE_H_
#define MASKD_CLIENT_CPP_FAILOVER_OPENING_RACE_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/streams/mask_stream.h"

namespace maskd::client {

class OpeningRace {
 public:
  // How long an attempt is alone before the next begins: RFC 8305, section 5, "Connection Attempt
  // Delay".
  static constexpr absl::Duration kAttemptDelay = absl::Milliseconds(250);

  // Begins to open a stream on an address.
  using Begin = std::function<std::unique_ptr<MaskStream::Opening>(const std::string&)>;
  // What has come of one.
  struct Attempt {
    std::string address;
    absl::StatusOr<std::unique_ptr<MaskStream>> stream;
  };

  OpeningRace(const std::vector<std::string>& addresses, Begin begin)
      : left_(addresses.begin(), addresses.end()), begin_(std::move(begin)) {}

  // Waits for the next attempt that ends. Absent: is_over(), or the deadline has passed.
  std::optional<Attempt> Next(SteadyTime deadline);
  // Whether all attempts have ended.
  [[nodiscard]] bool is_over() const { return left_.empty() && running_.empty(); }

 private:
  struct Running {
    std::string address;
    std::unique_ptr<MaskStream::Opening> opening;
  };

  // The first of those that run to end until `until`.
  std::optional<Attempt> Look(SteadyTime until);

  std::deque<std::string> left_;
  const Begin begin_;
  std::vector<Running> running_;
  SteadyTime due_ = SteadyTime::LongAgo();  // when the next begins
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_FAILOVER_OPENING_RACE_H_
