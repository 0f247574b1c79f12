// Characters as they are spelled, byte by byte, for the prefix oracle: which characters a few bytes
// can still become, and which one they are.
//
// Source   RFC 3629 (UTF-8: shortest forms, no surrogates) and RFC 8259, section 7 (JSON strings:
//          raw except '"', '\' and control characters, or escaped; a pair of surrogate escapes is
//          one character, and half a pair is none). In canonical spelling an escape is one that
//          nlohmann::json writes.
// Threads  no state; any thread.
#ifndef MASKD_TESTS_ORACLE_SPELLED_CHARACTERS_H_
#define MASKD_TESTS_ORACLE_SPELLED_CHARACTERS_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// The characters that have a spelling which begins with `bytes`.
CharSet CharactersBeginning(absl::string_view bytes, Spelling spelling);

// The character that `bytes` spells, neither more nor less.
std::optional<std::uint32_t> SpelledCharacter(absl::string_view bytes, Spelling spelling);

}  // namespace maskd

#endif  // MASKD_TESTS_ORACLE_SPELLED_CHARACTERS_H_
