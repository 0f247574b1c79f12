// Completion scripts for shells, made of the table of commands: what --help lists is what a shell
// offers.
//
// Threads  no state.
#ifndef MASKD_TOOLS_CLI_COMPLETION_H_
#define MASKD_TOOLS_CLI_COMPLETION_H_

#include <array>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "tools/cli/command.h"
#include "tools/cli/flags.h"

namespace maskd::cli {

inline constexpr std::array<absl::string_view, 3> kShells = {"bash", "zsh", "fish"};

// The script for one of kShells; empty for any other.
std::string CompletionScript(absl::string_view shell, std::span<const Command* const> commands);

// The values of a flag whose shape lists them, as "wall|cpu|none" does.
std::vector<std::string> ValuesOf(const Flag& flag);

// Whether its value is the name of a file or folder.
bool TakesFile(const Flag& flag);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_COMPLETION_H_
