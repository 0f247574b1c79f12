// References to documents: RFC 3986, as far as $id and $ref need it.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_URI_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_URI_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace maskd {

// A reference cut at its first '#'.
struct UriReference {
  std::string document;  // without '#'
  std::string fragment;  // what follows it, as it stands
};
// Without '#' the fragment is empty. Nothing is decoded.
UriReference SplitFragment(absl::string_view uri);

// `reference`, which has no fragment, as seen from `base` (section 5.2). A base that is empty or no
// URI leaves it as it is, except for steps "." and "x/..".
std::string ResolveUri(absl::string_view base, absl::string_view reference);

// Nothing where a '%' is not followed by two hexadecimal digits.
std::optional<std::string> PercentDecoded(absl::string_view text);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_READING_URI_H_
