// A whole run of `maskctl attack`: which cases, against what, and what is said of them.
//
// Rooms    cases/ what a case says, and how it went; targets/ the engine or a server, and what is
//          watched there; grammars/ cases of hostile grammars, against either; servers/ cases of a
//          server alone: its calls and its wire.
// Output   to standard output, each case as it ends. A death of this process names its case.
// Threads  one.
#ifndef MASKD_TOOLS_ATTACK_ATTACK_RUN_H_
#define MASKD_TOOLS_ATTACK_ATTACK_RUN_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "tools/attack/cases/report.h"
#include "tools/attack/targets/server_access.h"

namespace maskd::attack {

// As the command line says it.
struct RunOptions {
  // Files of cases, or folders of them.
  std::vector<std::string> files = {};
  // The only cases to run; empty: all.
  std::vector<std::string> only = {};
  CaseClock clock = CaseClock::kWall;
  // Cases that are known to fail, and why.
  std::map<std::string, std::string> known = {};
};

// Whether nothing failed. Errors: of reading the files; of reaching the server, at the start.
absl::StatusOr<bool> AttackServer(const ServerAccess& server, const RunOptions& options);
// `tokenizer` is a vocabulary file; empty: the embedded bytes. `special` is its preset.
absl::StatusOr<bool> AttackLibrary(const std::string& tokenizer, const std::string& special,
                                   const RunOptions& options);

// A line a case: id, bytes and SHA-256 of its payload, SHA-256 of its texts. Runs nothing.
absl::Status PrintPayloads(const RunOptions& options);

// The lines "ID REASON" of a file.
absl::StatusOr<std::map<std::string, std::string>> ReadKnown(const std::string& path);

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_ATTACK_RUN_H_
