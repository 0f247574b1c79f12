// The files a vocabulary is read from: bounded, and with places that a person can find.
//
// Errors   NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT (a directory, a device, an empty file),
//          RESOURCE_EXHAUSTED (over the limit; nothing has been read then). Each starts with the
//          path.
// Threads  one thread reads one SourceFile; no other state.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_SOURCE_FILE_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_SOURCE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <istream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd {

// A regular file with at least one byte, open for reading.
class SourceFile {
 public:
  // Reads no content yet but what tells that there is some.
  static absl::StatusOr<SourceFile> Open(const std::string& path);

  // As it was given, for messages.
  [[nodiscard]] const std::string& path() const { return path_; }
  // At its start, unless the caller has read from it.
  std::istream& stream() { return stream_; }

  // The first `max_bytes` bytes, or all there are.
  absl::StatusOr<std::string> ReadHead(std::int64_t max_bytes);
  // The whole content; `limit_name` is the name of the bound `max_bytes`.
  absl::StatusOr<std::string> ReadWhole(absl::string_view limit_name, std::int64_t max_bytes);

 private:
  SourceFile(std::string path, std::ifstream stream, std::int64_t size)
      : path_(std::move(path)), stream_(std::move(stream)), size_(size) {}

  absl::StatusOr<std::string> ReadFromStart(std::int64_t count);

  std::string path_;
  std::ifstream stream_;
  std::int64_t size_;
};

// "LINE:COLUMN" of a byte of `text`, both from 1, the column in bytes.
std::string LineColumn(absl::string_view text, std::size_t offset);

// INVALID_ARGUMENT, reason INVALID_TOKENIZER.
absl::Status InvalidTokenizer(absl::string_view place, absl::string_view message);

// `status` with "`file`: " before its message; its code and reason stay, its place is then `file`.
absl::Status InFile(absl::string_view file, const absl::Status& status);

// At most 64 bytes of `text`, for a message; cut between characters.
std::string Shortened(absl::string_view text);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_SOURCE_FILE_H_
