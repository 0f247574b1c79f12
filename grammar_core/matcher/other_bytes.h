// Another byte at one place of a text, by which the text has fewer tokens: `":"/"` may be one token
// where `":"!"` is three.
//
// Cost     a look at each byte of the text for each token that begins there, twice; and for the
//          place each token over it, whatever it has there.
// Threads  any number.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_OTHER_BYTES_H_
#define MASKD_GRAMMAR_CORE_MATCHER_OTHER_BYTES_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/completion/fewest_tokens.h"

namespace maskd {

// One byte in the place of another.
struct ByteChoice {
  unsigned char byte;
  int tokens;  // the fewest that spell the whole text then
  bool operator==(const ByteChoice&) const = default;
};

// The bytes at `at` of `text` by which it has fewer tokens than as it is, whether or not a grammar
// takes them there. The fewest tokens come first.
std::vector<ByteChoice> BytesOfFewerTokens(const TokenSearch& search, absl::string_view text,
                                           std::size_t at);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_OTHER_BYTES_H_
