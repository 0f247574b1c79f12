// Bytes as people read them.
#ifndef MASKD_GRAMMAR_CORE_BASE_QUOTED_H_
#define MASKD_GRAMMAR_CORE_BASE_QUOTED_H_

#include <string>

#include "absl/strings/string_view.h"

namespace maskd {

// Bytes in double quotes: printable ASCII and well-formed UTF-8 as they are, the rest as \xNN.
std::string Quoted(absl::string_view bytes);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_QUOTED_H_
