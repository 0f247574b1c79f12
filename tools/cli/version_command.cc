// maskctl version: which release this is.
#include "absl/strings/str_format.h"

#include "tools/cli/command.h"

namespace maskd::cli {
namespace {

std::vector<Flag> VersionFlags() { return {{"json", "", "print JSON instead of a line"}}; }

absl::StatusOr<int> RunVersion(const Flags& flags) {
  if (!flags.arguments().empty()) return UsageError("no argument is taken");
  if (flags.Has("json"))
    absl::PrintF("{\"version\": \"%s\"}\n", MASKD_VERSION);
  else
    absl::PrintF("maskctl %s\n", MASKD_VERSION);
  return kExitYes;
}

}  // namespace

const Command kVersionCommand = {
    "version",
    "",
    "prints the release of this program",
    "A server says its own in the metric maskd_build_info, and by maskd --version.\n",
    &VersionFlags,
    &RunVersion,
};

}  // namespace maskd::cli
