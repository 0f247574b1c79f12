// The flags of one command: "--name=value", "--name value", or "--name" for a switch.
//
// Errors   INVALID_ARGUMENT; the message starts with the flag that is wrong.
// Threads  plain values.
#ifndef MASKD_TOOLS_CLI_FLAGS_H_
#define MASKD_TOOLS_CLI_FLAGS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd::cli {

// A flag that a command knows.
struct Flag {
  absl::string_view name;
  // Of its value, for --help, such as "FILE". Empty: a switch.
  absl::string_view shape;
  absl::string_view help;
  // The value when it is not given. A switch has none.
  absl::string_view default_value = "";
};

// What a command was given. Flags not given have their defaults.
class Flags {
 public:
  // Reads a command's arguments. What does not begin with "-" is an argument, and so is all that
  // follows a "--" alone, and "-" (standard input). A value that begins with "--" needs "=".
  static absl::StatusOr<Flags> Parse(std::vector<Flag> known, std::span<const std::string> words);

  // The value given, or the default. The flag must be known.
  [[nodiscard]] const std::string& Get(absl::string_view name) const;
  [[nodiscard]] bool Has(absl::string_view name) const { return given_.contains(name); }
  [[nodiscard]] absl::StatusOr<std::int64_t> GetNumber(absl::string_view name, std::int64_t min,
                                                       std::int64_t max) const;
  // INVALID_ARGUMENT when the value is not one of `values`; else its index.
  [[nodiscard]] absl::StatusOr<int> GetChoice(absl::string_view name,
                                              std::span<const absl::string_view> values) const;
  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  absl::Status Set(absl::string_view word, std::span<const std::string>& rest);
  [[nodiscard]] std::string UnknownText(absl::string_view name) const;

  std::vector<Flag> known_;
  absl::flat_hash_map<std::string, std::string> values_;  // defaults and given ones
  absl::flat_hash_map<std::string, bool> given_;
  std::vector<std::string> arguments_;
};

// The one of `known` that is spelled most like `word`; empty where none is near.
absl::string_view Nearest(absl::string_view word, std::span<const absl::string_view> known);

// One line a flag, for --help.
std::string FlagHelp(std::span<const Flag> flags);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_FLAGS_H_
