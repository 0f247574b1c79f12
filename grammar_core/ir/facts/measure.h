// What the lower bounds of terms count: bytes or, where a grammar bounds the characters of its
// texts, those. A byte counts as a character if it begins one, so a character counts once.
#ifndef MASKD_GRAMMAR_CORE_IR_FACTS_MEASURE_H_
#define MASKD_GRAMMAR_CORE_IR_FACTS_MEASURE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// The unit of a grammar's lower bounds, one for all its terms.
enum class Measure : std::uint8_t { kBytes, kCharacters };

// What one byte adds to a text: nothing, where it goes on with a character.
inline std::uint32_t SizeOf(Measure measure, unsigned char byte) {
  return measure == Measure::kCharacters && IsContinuationByte(byte) ? 0 : 1;
}

// Of bytes in UTF-8.
inline std::uint32_t SizeOf(Measure measure, absl::string_view bytes) {
  return measure == Measure::kCharacters ? CharactersIn(bytes)
                                         : static_cast<std::uint32_t>(bytes.size());
}

// Of one character, written as UTF-8.
inline std::uint32_t SizeOf(Measure measure, std::uint32_t code_point) {
  return measure == Measure::kCharacters ? 1 : Utf8Bytes(code_point);
}

// Of characters, likewise.
inline std::uint32_t SizeOf(Measure measure, std::u32string_view characters) {
  std::uint32_t size = 0;
  for (const char32_t c : characters) size += SizeOf(measure, static_cast<std::uint32_t>(c));
  return size;
}

// The size of the smallest byte of the set.
inline std::uint32_t SizeOf(Measure measure, const ByteBits& set) {
  if (measure == Measure::kBytes) return 1;
  for (int byte = 0x80; byte <= 0xBF; ++byte)
    if (set[byte]) return 0;
  return 1;
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_FACTS_MEASURE_H_
