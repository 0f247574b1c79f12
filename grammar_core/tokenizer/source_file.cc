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
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

constexpr std::size_t kShownBytes = 64;

// OK, with the size, when `path` is a regular file that is not empty.
absl::StatusOr<std::int64_t> CheckedSize(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    return ErrorAt(absl::StatusCode::kNotFound, path, "NO_SUCH_FILE", "no such file");
  if (error) return absl::ErrnoToStatus(error.value(), path);
  if (!std::filesystem::is_regular_file(status))
    return InvalidTokenizer(path, "not a regular file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return absl::ErrnoToStatus(error.value(), path);
  if (size == 0) return InvalidTokenizer(path, "the file is empty");
  return static_cast<std::int64_t>(size);
}

bool IsContinuationByte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

absl::StatusOr<SourceFile> SourceFile::Open(const std::string& path) {
  const absl::StatusOr<std::int64_t> size = CheckedSize(path);
  if (!size.ok()) return size.status();
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
  return SourceFile(path, std::move(stream), *size);
}

absl::StatusOr<std::string> SourceFile::ReadHead(std::int64_t max_bytes) {
  return ReadFromStart(std::min(max_bytes, size_));
}

absl::StatusOr<std::string> SourceFile::ReadWhole(absl::string_view limit_name,
                                                  std::int64_t max_bytes) {
  if (size_ > max_bytes) return LimitExceeded(path_, limit_name, max_bytes, size_);
  return ReadFromStart(size_);
}

absl::StatusOr<std::string> SourceFile::ReadFromStart(std::int64_t count) {
  std::string content(static_cast<std::size_t>(count), '\0');
  stream_.clear();
  stream_.seekg(0);
  stream_.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (static_cast<std::size_t>(stream_.gcount()) != content.size()) {
    return ErrorAt(absl::StatusCode::kUnavailable, path_, "FILE_CHANGED",
                   "the file became shorter while it was read");
  }
  stream_.seekg(0);
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
  if (text.size() <= kShownBytes) return std::string(text);
  std::size_t end = kShownBytes - 3;
  while (end > 0 && IsContinuationByte(text[end])) --end;
  return absl::StrCat(text.substr(0, end), "...");
}

}  // namespace maskd
