// Where an array or object ends, told without reading what is in it.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_BRACKET_END_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_BRACKET_END_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace maskd::json_internal {

struct Bracketed {
  std::size_t bytes;
  std::int64_t depth;  // brackets within one another, at most; 1 where there is no other one
};

// How far the value reaches that `text` begins with: a bracket. Right where that is JSON, and any
// answer otherwise; nothing where it does not end.
std::optional<Bracketed> FindBracketEnd(absl::string_view text);

}  // namespace maskd::json_internal

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_BRACKET_END_H_
