// The two dialects, and what each lets stand behind a backslash.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_EBNF_DIALECT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_EBNF_DIALECT_H_

#include <cstdint>

#include "grammar_core/frontend/notation/literal.h"

namespace maskd {

// Of llama.cpp, and of xgrammar.
enum class EbnfDialect : std::uint8_t { kGbnf, kEbnf };

// In literals; macros have those of EBNF.
constexpr LiteralStyle LiteralStyleOf(EbnfDialect dialect) {
  if (dialect == EbnfDialect::kGbnf)
    return {.plain = "\\\"[]-", .controls = "nrt", .hex_digits = 2, .newlines = true};
  return {.plain = "\\\"/'?", .controls = "0abefnrtv", .hex_digits = 0};
}

// In classes.
constexpr LiteralStyle ClassStyleOf(EbnfDialect dialect) {
  LiteralStyle style = LiteralStyleOf(dialect);
  if (dialect == EbnfDialect::kEbnf) style.plain = "\\\"/'?^$.*+()[]{}|-";
  return style;
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_EBNF_DIALECT_H_
