// How far a part of a grammar's text goes: a literal, a class, a pattern, a name.
//
// Cost     one pass over the source up to the part's end.
// Threads  pure functions.
#ifndef MASKD_REASONS_NOTATION_SPAN_H_
#define MASKD_REASONS_NOTATION_SPAN_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

#include "reasons/source_place.h"

namespace maskd::reasons {

inline constexpr std::size_t kMostNotation = 60;

// The part that begins at the byte `at` of `source`, which must be in it: up to its closing quote,
// bracket or slash; of a name up to its end; else one byte.
SourceSpan SpanOfNotation(absl::string_view source, std::size_t at);

// Its text, cut short to kMostNotation bytes and "...".
std::string NotationText(absl::string_view source, const SourceSpan& span);

}  // namespace maskd::reasons

#endif  // MASKD_REASONS_NOTATION_SPAN_H_
