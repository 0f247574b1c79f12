// The server that is attacked, as far as it can be reached and watched from here.
#ifndef MASKD_TOOLS_ATTACK_TARGETS_SERVER_ACCESS_H_
#define MASKD_TOOLS_ATTACK_TARGETS_SERVER_ACCESS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/attack/targets/process_watch.h"

namespace maskd::attack {

// Where a field is not known, checks that need it are left out, and the report says so.
struct ServerAccess {
  // Where it listens, "unix:/path" or host:port.
  std::string address;
  // The name of a tokenizer of it; empty: its default one.
  std::string tokenizer = {};
  // host:port of its metrics; empty: not known, and what needs them is not seen.
  std::string metrics = {};
  // The file that its log goes to; empty: not known.
  std::string log_path = {};
  // After how long it ends what is idle; 0: never.
  std::int64_t idle_s = 0;
  // Its process, where it is one of this machine.
  std::optional<ProcessWatch> process = std::nullopt;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_TARGETS_SERVER_ACCESS_H_
