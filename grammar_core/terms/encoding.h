// From bytes to characters: how a partly read character goes on, and which characters it may
// become.
//
// Source   UTF-8: RFC 3629. JSON strings: RFC 8259 section 7; a pair of escaped surrogates is one
//          character, an escaped surrogate without its other half is refused. What
//          serializers write of it (kCanonicalJson): ECMA-262, QuoteJSONString, without lone
//          surrogates.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_TERMS_ENCODING_H_
#define MASKD_GRAMMAR_CORE_TERMS_ENCODING_H_

#include <array>
#include <cstdint>
#include <optional>

#include "grammar_core/base/char_set.h"
#include "grammar_core/ir/facts/measure.h"
#include "grammar_core/terms/term.h"

namespace maskd {

// Whether a character is written as itself in one byte, in UTF-8 and in a JSON string.
constexpr bool IsPlain(std::uint32_t character) {
  return character >= ' ' && character <= '~' && character != '"' && character != '\\';
}

// What one byte makes of a partly read character.
struct CharStep {
  // kRefused: no character is spelled so. kPartial: more bytes are due. kCharacter: it is whole.
  enum class Result : std::uint8_t { kRefused, kPartial, kCharacter };
  Result result = Result::kRefused;
  PartialChar partial;          // kPartial
  std::uint32_t character = 0;  // kCharacter
};

// Requires partial.phase to be one in which `byte` is part of a character: the quote that ends a
// JSON string is refused here.
CharStep StepChar(const PartialChar& partial, unsigned char byte);

// The characters that a partly read one (not kStart) may become, as at most three ranges.
struct Completions {
  std::array<CharRange, 3> ranges;
  int count = 0;
  // If not 0: every string of so many continuation bytes (kUtf8) or hexadecimal digits (kHex)
  // completes a character, so states that differ only in the bits so far may be one state.
  int free_units = 0;
};
Completions CompletionsOf(const PartialChar& partial);

// The fewest bytes that complete a partly read character, or those of them that are characters.
std::uint32_t MinBytesLeft(const PartialChar& partial, Measure measure);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_ENCODING_H_
