// The table of maskd's flags. For config_reader.cc, which reads them.
#ifndef MASKD_SERVICE_CONFIG_CONFIG_FLAGS_H_
#define MASKD_SERVICE_CONFIG_CONFIG_FLAGS_H_

#include <span>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "service/config/config.h"

namespace maskd::service {

// Errors: INVALID_ARGUMENT, without the flag's name.
using Setter = absl::Status (*)(absl::string_view value, Config* config);

// A row of the table of flags.
struct Flag {
  absl::string_view name;
  absl::string_view shape;  // of its value, for --help; empty for a switch
  absl::string_view help;
  Setter set;
};

// In the order of --help.
std::span<const Flag> AllFlags();

// Flags of earlier releases, and what took their place.
struct RetiredFlag {
  absl::string_view name;
  absl::string_view instead;
};

// Flags of earlier versions: they are refused with what to say instead.
std::span<const RetiredFlag> RetiredFlags();

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CONFIG_CONFIG_FLAGS_H_
