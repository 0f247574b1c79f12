// What rows of a stream are refused with, in one place: code, reason and words.
#ifndef MASKD_SERVICE_SEQUENCES_ROW_ERRORS_H_
#define MASKD_SERVICE_SEQUENCES_ROW_ERRORS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "service/sequences/stream_types.h"

namespace maskd::service {

// Errors of a row, each with its field and its stable reason.
absl::Status RowNotFound(RowId id);
absl::Status RowExists(RowId id);
// `why` goes on after "row N".
absl::Status NotReady(RowId id, absl::string_view why);

// Whether a row may be opened with `options` on a stream of these terms.
absl::Status CheckOptions(const RowOptions& options, const FormTerms& terms, int vocab_size);

// Whether the drafts of an update are a tree of at most `max_tokens`.
absl::Status CheckDrafts(const RowToMove& move, std::int64_t max_tokens);

// A sequence's refusal of tokens[index] as callers see it: the reason says which kind.
absl::Status TokenError(const absl::Status& refused, std::size_t index);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_ROW_ERRORS_H_
