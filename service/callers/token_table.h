// The bearer tokens of --tokens: whose is it that a call shows.
//
//   # name   token, or its SHA-256
//   vllm-a   f3b1c0...
//   vllm-b   sha256:9d5e...
//
// Secrets  a token is kept as its SHA-256 alone. Find() compares with every entry, each in the same
//          time whether it is equal or not.
// Lines    a name of 1 to 128 characters (letters, digits, '-', '_', '.', ':', '/', '@'), spaces,
//          and a token of at least 16 visible ASCII characters; '#' begins a comment. A name may
//          have several.
// Threads  immutable.
#ifndef MASKD_SERVICE_CALLERS_TOKEN_TABLE_H_
#define MASKD_SERVICE_CALLERS_TOKEN_TABLE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd::service {

// The tokens of one file, and whose each is.
class TokenTable {
 public:
  static constexpr std::size_t kMinTokenBytes = 16;
  static constexpr std::size_t kMaxTokenBytes = 4096;

  TokenTable() = default;

  // Errors: INVALID_ARGUMENT with the line; never with what it says.
  static absl::StatusOr<TokenTable> Parse(absl::string_view text);
  // The same for a file. Errors: as above, and what cannot be read; a message starts with the path.
  static absl::StatusOr<TokenTable> Read(const std::string& path);

  // The name of the token.
  [[nodiscard]] std::optional<std::string> Find(absl::string_view token) const;

  // Tokens there are.
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string name;
    std::string sha256;  // hexadecimal
  };

  absl::Status AddLine(absl::string_view line);

  std::vector<Entry> entries_;
};

// The file's bytes. Never waits for a pipe. Errors: INVALID_ARGUMENT with path and reason; also for
// one of over 16 MiB, and for what is no regular file.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLERS_TOKEN_TABLE_H_
