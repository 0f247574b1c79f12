// What a grammar's id is a hash of, by its version: ids of one format can be compared.
#ifndef MASKD_GRAMMAR_CORE_COMPILE_GRAMMAR_FORMAT_H_
#define MASKD_GRAMMAR_CORE_COMPILE_GRAMMAR_FORMAT_H_

#include "absl/strings/string_view.h"

namespace maskd {

// Raised whenever the same source comes to mean another grammar. Part of every id.
constexpr absl::string_view kGrammarFormat = "maskd-grammar-2";

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_GRAMMAR_FORMAT_H_
