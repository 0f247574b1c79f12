// UTF-8 (RFC 3629: shortest form, no surrogates) to code points and back.
#ifndef MASKD_GRAMMAR_CORE_BASE_UTF8_H_
#define MASKD_GRAMMAR_CORE_BASE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace maskd {

// Decodes the code point at `text[*at]` and moves `*at` past it. Nothing, and `*at` as it was,
// where the bytes are not UTF-8.
std::optional<std::uint32_t> DecodeUtf8(absl::string_view text, std::size_t* at);

// The whole text, or nothing where it is not UTF-8.
std::optional<std::u32string> Utf8ToCodePoints(absl::string_view text);

// The way back.
std::string CodePointsToUtf8(const std::u32string& text);

// Bytes of a code point in UTF-8, 1 to 4.
constexpr std::uint32_t Utf8Bytes(std::uint32_t code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

// Whether `byte` goes on with a character that another byte has begun.
constexpr bool IsContinuationByte(unsigned char byte) { return (byte & 0xC0U) == 0x80; }

// The characters that `bytes` begin: the code points where they are UTF-8.
std::uint32_t CharactersIn(absl::string_view bytes);

// Appends 1 to 4 bytes, of a surrogate three. Requires at most U+10FFFF.
void AppendUtf8(std::uint32_t code_point, std::string* out);

// Bytes of the UTF-8 sequence that `lead` begins (1 to 4), or 0 if it begins none.
int Utf8SequenceBytes(unsigned char lead);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_UTF8_H_
