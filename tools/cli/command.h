// The commands of maskctl: one file and one row in the table of command.cc each.
//
// Exit     0: done, and the answer is yes. 1: the answer is no, or the call failed. 2: the command
//          line is wrong.
// Output   answers go to standard output; errors, one line each, to standard error.
#ifndef MASKD_TOOLS_CLI_COMMAND_H_
#define MASKD_TOOLS_CLI_COMMAND_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "tools/cli/flags.h"

namespace maskd::cli {

inline constexpr int kExitYes = 0;
inline constexpr int kExitNo = 1;
inline constexpr int kExitUsage = 2;

// A row of the table; all views are of constants.
struct Command {
  absl::string_view name;
  absl::string_view arguments;  // for --help, such as "SCHEMA"
  absl::string_view summary;
  // More for --help: what comes out, an example.
  absl::string_view details;
  std::vector<Flag> (*flags)();
  // The exit status, or what kept the command from its answer.
  absl::StatusOr<int> (*run)(const Flags& flags);
};

extern const Command kCompileCommand;
extern const Command kCheckCommand;
extern const Command kExplainCommand;
extern const Command kTokensCommand;
extern const Command kSimulateCommand;
extern const Command kBenchCommand;
extern const Command kVectorsCommand;
extern const Command kSchemasCommand;
extern const Command kAttackCommand;
extern const Command kPlaygroundCommand;
extern const Command kLintCommand;
extern const Command kTopCommand;
extern const Command kVersionCommand;
extern const Command kFamilyCommand;
extern const Command kApplierCommand;
extern const Command kCompletionCommand;

// All of them, in the order of --help.
std::span<const Command* const> AllCommands();

// Runs what `words` (the arguments of the program) say and gives the exit status.
int RunProgram(std::span<const std::string> words);

// An error of the command line: its exit status is kExitUsage.
absl::Status UsageError(absl::string_view message);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_COMMAND_H_
