// What maskctl top shows, as text: one line a limit, a stream, a grammar.
//
// Threads  no state.
#ifndef MASKD_TOOLS_CLI_TOP_SCREEN_H_
#define MASKD_TOOLS_CLI_TOP_SCREEN_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"

#include "maskd/v1/admin_service.pb.h"

namespace maskd::cli {

// What a server said, at one time.
struct ServerLook {
  absl::Time at;
  v1::GetServerResponse server;
  v1::ListStreamsResponse streams;
  v1::ListGrammarsResponse grammars;
};

// How busy streams are: of the time between two looks, what their steps took.
class BusyShares {
 public:
  // Takes a look; what is asked from then on is between it and the one before. For a new stream it
  // is since its begin.
  void Take(const ServerLook& look);
  // In percent.
  [[nodiscard]] double Of(std::uint64_t stream) const;

 private:
  std::map<std::uint64_t, std::int64_t> step_us_;
  std::map<std::uint64_t, double> shares_;
  absl::Time at_ = absl::InfinitePast();
};

// Lines, each ended, coloured where standard output shows colours.
std::string ScreenText(const ServerLook& look, const BusyShares& shares);

// "1.5 GiB", "12.0 KiB", "17 B".
std::string BytesText(std::int64_t bytes);
// "3.2 s", "5.0 min", "12 us".
std::string TimeText(std::int64_t microseconds);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_TOP_SCREEN_H_
