// Where the end of an unfinished text stands that a structural tag writes not as JSON, but as
// elements or literals (written_style.h).
//
// Input    the beginning of such a text, as a grammar has taken it; it is not validated. Behind the
//          last element anything may stand.
// Exactness  of elements the outermost member is found, and the place within JSON in it; arrays
//          and objects that are elements, too, count as text.
// Threads  pure functions.
#ifndef MASKD_REASONS_STYLED_POSITION_H_
#define MASKD_REASONS_STYLED_POSITION_H_

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/structural_tag/written_style.h"
#include "reasons/json_position.h"

namespace maskd::reasons {

JsonPosition FindStyledPosition(const WrittenStyle& style, absl::string_view text);

}  // namespace maskd::reasons

#endif  // MASKD_REASONS_STYLED_POSITION_H_
