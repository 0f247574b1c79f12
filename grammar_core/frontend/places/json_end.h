// Where a JSON value ends in a text.
//
// Input    the beginning of a text that a grammar has taken; the JSON in it is not validated.
// Threads  pure functions.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_PLACES_JSON_END_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_PLACES_JSON_END_H_

#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"

namespace maskd {

// Neither: no JSON value begins there.
struct JsonEnd {
  std::optional<std::size_t> end = std::nullopt;  // the byte behind it; absent where it is open
  bool may_go_on = false;                         // it is open, or a number at the text's end
};

// Looks at the value that begins at the byte `at` of `text`, behind white space. One pass.
JsonEnd FindJsonEnd(absl::string_view text, std::size_t at);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_PLACES_JSON_END_H_
