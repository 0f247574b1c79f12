// The spellings that formats share: how a piece writes spaces, and bytes that texts cannot hold.
//
// Threads  functions without state.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_PIECE_BYTES_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_PIECE_BYTES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace maskd {

// U+2581, which stands for a space.
inline constexpr char kMetaspace[] = "\xE2\x96\x81";

// The piece with each metaspace a space.
std::string FromMetaspace(absl::string_view piece);

// The byte of "<0x0A>"; nothing for another piece.
std::optional<std::string> FromByteFallback(absl::string_view piece);

// The bytes of a piece of the byte-level alphabet: 256 printable characters, one a byte. Nothing
// where a character is not of the alphabet: such a piece stands for itself.
std::optional<std::string> FromByteLevel(absl::string_view piece);

// The bytes of `base64`, at least one, or nothing. It must be as an encoder writes it: padded,
// without loose bits or white space.
std::optional<std::string> FromBase64(absl::string_view base64);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_PIECE_BYTES_H_
