// maskctl completion: what a shell needs to complete the words of maskctl.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "tools/cli/command.h"
#include "tools/cli/completion.h"

namespace maskd::cli {
namespace {

std::vector<Flag> CompletionFlags() { return {}; }

absl::StatusOr<int> RunCompletion(const Flags& flags) {
  const bool is_one = flags.arguments().size() == 1;
  const std::string script =
      is_one ? CompletionScript(flags.arguments().front(), AllCommands()) : "";
  if (script.empty())
    return UsageError(absl::StrCat("one of ", absl::StrJoin(kShells, ", "), " is needed"));
  absl::PrintF("%s", script);
  return kExitYes;
}

}  // namespace

const Command kCompletionCommand = {
    "completion",
    "bash|zsh|fish",
    "prints a script that completes the words of maskctl in a shell",
    "The Debian package installs all three. Elsewhere:\n\n"
    "  source <(maskctl completion bash)\n"
    "  maskctl completion fish > ~/.config/fish/completions/maskctl.fish\n",
    &CompletionFlags,
    &RunCompletion,
};

}  // namespace maskd::cli
