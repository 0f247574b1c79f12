// How a tokenizer cuts a text into its own, canonical tokens, as far as its file says it: byte-pair
// encoding whose merges are in the order of ids.
//
//   1. `atoms` are cut out of the text, the longest where several begin at one place.
//   2. What is between them is cut at the matches of each pattern in turn; matches and what lies
//      between them are pieces.
//   3. A piece becomes symbols. Of all pairs of neighbours that together are a token, the one with
//      the lowest id is merged, the leftmost first, until there is none.
//
// Threads  a plain value.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_ENCODING_RULES_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_ENCODING_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace maskd {

struct EncodingRules {
  enum class Symbols : std::uint8_t {
    kUnknown,     // the file says too little, or something else: there are no canonical tokens
    kBytes,       // the bytes of a piece
    kCharacters,  // its characters; the bytes of one that is no token
  };
  Symbols symbols = Symbols::kUnknown;
  // A piece that is a token is that token, merges or not.
  bool whole_pieces = false;
  // The rules hold for ASCII texts alone: others are normalised first.
  bool ascii_only = false;
  // In the syntax of Oniguruma; see piece_pattern.h for what of it is understood.
  std::vector<std::string> patterns;
  // Ids of ordinary tokens that no merge makes.
  std::vector<std::int32_t> atoms;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_ENCODING_RULES_H_
