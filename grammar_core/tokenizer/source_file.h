// The files a vocabulary is read from: whole, bounded, and with places that a person can find.
//
// Errors   NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT (a directory, a device, an empty file),
//          RESOURCE_EXHAUSTED (over the limit; nothing has been read then). Each starts with the
//          path.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_SOURCE_FILE_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_SOURCE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd {

// The whole content of the regular file at `path`.
absl::StatusOr<std::string> ReadSourceFile(const std::string& path, std::int64_t max_bytes);

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
