// Reads a server's configuration: flags, environment and a file, one table of flags for all
// (config_flags.h).
//
// Errors   INVALID_ARGUMENT; the message starts with the flag, the variable or the file's place.
// Threads  no state.
#ifndef MASKD_SERVICE_CONFIG_CONFIG_READER_H_
#define MASKD_SERVICE_CONFIG_CONFIG_READER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "service/config/config.h"

namespace maskd::service {

// Looks up an environment variable; nothing when it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Sets in a Config what the file at a path says. Errors: INVALID_ARGUMENT, with path and line.
using ReadConfigFile = std::function<absl::Status(const std::string& path, Config* config)>;

// `arguments` without the program's name.
absl::StatusOr<Config> ReadConfig(const std::vector<std::string>& arguments,
                                  const Environment& environment,
                                  const ReadConfigFile& read_file = nullptr);

// Sets one flag, given at `where`, with which the error begins. Errors: INVALID_ARGUMENT.
absl::Status SetFlag(absl::string_view name, absl::string_view value, absl::string_view where,
                     Config* config);

// Whether a server that runs with `now` can go on with `next`: only tenants and flags of whom
// to let in, --tokenizer, --grammars and --audit may differ. Errors: INVALID_ARGUMENT; the message
// starts with where the other value was given.
absl::Status CheckReload(const Config& now, const Config& next);

// Of all flags, as in --help.
std::vector<std::string> FlagNames();

// The text of --help.
std::string ConfigHelp();

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CONFIG_CONFIG_READER_H_
