// The same JSON value in another text.
#ifndef MASKD_TOOLS_CLI_SCHEMAS_RESPELLING_H_
#define MASKD_TOOLS_CLI_SCHEMAS_RESPELLING_H_

#include <string>

#include "absl/strings/string_view.h"

namespace maskd::cli {

// What a text is changed to before it is judged: the verdict must stay.
enum class Respelling {
  kGiven,    // as it is
  kSpaced,   // a space behind each comma and colon that has none
  kEscaped,  // each character of a string as \uXXXX, those beyond U+FFFF as a pair
};

// `text` must be JSON; of another text a part may stay as it is.
std::string Respelled(absl::string_view text, Respelling respelling);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_SCHEMAS_RESPELLING_H_
