// The file of --config: server_config.proto in protobuf's text format.
//
//   # maskd.conf
//   listen: "0.0.0.0:7411"
//   memory_bytes: "4GiB"
//   tenant { name: "red" identity: "token:red" compiles_per_minute: 60 }
//
// Errors   INVALID_ARGUMENT: "PATH:LINE: KEY: why", where the text is broken with its column.
// Threads  no state.
#ifndef MASKD_SERVICE_PROCESS_CONFIG_FILE_H_
#define MASKD_SERVICE_PROCESS_CONFIG_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "service/config/config_reader.h"

namespace maskd::service {

// Sets in `config` what the text says, which is that of the file `path`.
absl::Status ReadConfigText(const std::string& text, absl::string_view path, Config* config);

// The same for what the file `path` has.
absl::Status ReadConfigFileAt(const std::string& path, Config* config);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PROCESS_CONFIG_FILE_H_
