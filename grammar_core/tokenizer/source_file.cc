#include "grammar_core/tokenizer/source_file.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

constexpr std::size_t kShownBytes = 64;

// OK, with the size, when `path` is a regular file that is neither empty nor too large.
absl::StatusOr<std::int64_t> CheckedSize(const std::string& path, std::int64_t max_bytes) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return ErrorAt(absl::StatusCode::kNotFound, path, "NO_SUCH_FILE", "no such file");
  }
  if (error) {
    return absl::ErrnoToStatus(error.value(), path);
  }
  if (!std::filesystem::is_regular_file(status)) {
    return InvalidTokenizer(path, "not a regular file");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) {
    return absl::ErrnoToStatus(error.value(), path);
  }
  if (size > static_cast<std::uintmax_t>(max_bytes)) {
    return LimitExceeded(path, "vocabulary_file_bytes", max_bytes, static_cast<std::int64_t>(size));
  }
  if (size == 0) {
    return InvalidTokenizer(path, "the file is empty");
  }
  return static_cast<std::int64_t>(size);
}

bool IsContinuationByte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

absl::StatusOr<std::string> ReadSourceFile(const std::string& path, std::int64_t max_bytes) {
  const absl::StatusOr<std::int64_t> size = CheckedSize(path, max_bytes);
  if (!size.ok()) {
    return size.status();
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
  }
  std::string content(static_cast<std::size_t>(*size), '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (static_cast<std::size_t>(file.gcount()) != content.size()) {
    return ErrorAt(absl::StatusCode::kUnavailable, path, "FILE_CHANGED",
                   "the file became shorter while it was read");
  }
  return content;
}

std::string LineColumn(absl::string_view text, std::size_t offset) {
  const absl::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t last_end = before.rfind('\n');
  const std::size_t line_start = last_end == absl::string_view::npos ? 0 : last_end + 1;
  return absl::StrCat(1 + std::count(before.begin(), before.end(), '\n'), ":",
                      1 + before.size() - line_start);
}

absl::Status InvalidTokenizer(absl::string_view place, absl::string_view message) {
  return ErrorAt(absl::StatusCode::kInvalidArgument, place, "INVALID_TOKENIZER", message);
}

absl::Status InFile(absl::string_view file, const absl::Status& status) {
  return ErrorAt(status.code(), file, ErrorReason(status), status.message());
}

std::string Shortened(absl::string_view text) {
  if (text.size() <= kShownBytes) {
    return std::string(text);
  }
  std::size_t end = kShownBytes - 3;
  while (end > 0 && IsContinuationByte(text[end])) {
    --end;
  }
  return absl::StrCat(text.substr(0, end), "...");
}

}  // namespace maskd
