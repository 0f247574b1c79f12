// The terminals of Lark's library "common", which %import takes.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_LARK_COMMON_TERMINALS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_LARK_COMMON_TERMINALS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace maskd {

// The pattern of the terminal `name`, such as "INT"; empty for a name that the library lacks.
std::string CommonTerminal(absl::string_view name);

// All names, for errors: "CNAME, CPP_COMMENT, ...".
std::string CommonTerminalNames();

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_COMMON_TERMINALS_H_
