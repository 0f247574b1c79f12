// Where a place that a compiler names stands in the source's text.
//
// Input    a place is "line:column", both from 1 on and columns in bytes, or a JSON Pointer
//          (RFC 6901) into a source that is JSON.
// Cost     one pass over the source.
// Threads  pure functions.
#ifndef MASKD_REASONS_SOURCE_PLACE_H_
#define MASKD_REASONS_SOURCE_PLACE_H_

#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"

namespace maskd::reasons {

// From `begin` to `end`, with line and column of the begin for people.
struct SourceSpan {
  std::size_t begin = 0;  // bytes from the start of the source
  std::size_t end = 0;    // past the last byte; a place of line:column spans one character
  int line = 1;
  int column = 1;  // in bytes, from 1 on
};

// `span` with the line and column of its begin, which is in `source` or at its end.
SourceSpan WithLine(absl::string_view source, SourceSpan span);

// The name of the member at `pointer`, quotes included. Nothing where there is none.
std::optional<SourceSpan> FindName(absl::string_view source, absl::string_view pointer);

// Nothing where the source has no such place, or the place is of another form (a field of the
// request, such as "options.indent").
std::optional<SourceSpan> FindPlace(absl::string_view source, absl::string_view place);

}  // namespace maskd::reasons

#endif  // MASKD_REASONS_SOURCE_PLACE_H_
