// How a tokenizer cuts a text into its own, canonical tokens, as far as its file says it.
//
//   1. `atoms` are cut out of the text, the longest where several begin at one place.
//   2. What is between them is cut at the matches of each pattern in turn; matches and what lies
//      between them are pieces.
//   3. A piece becomes tokens:
//      kMerges    It becomes symbols. Neighbours that together are a token are merged pair by
//                 pair: the first in order first, and of equals the leftmost, until none is left.
//      kBestSum   Of all sequences of tokens that spell it, the one whose scores have the greatest
//                 sum. A character that is no token stands in as one of the lowest score less
//                 kUnknownPenalty.
//
// Threads  a plain value.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_ENCODING_RULES_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_ENCODING_RULES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "grammar_core/tokenizer/character_map.h"

namespace maskd {

// What a format's reader found out; part of a vocabulary. Of its hash are the added tokens alone.
struct EncodingRules {
  // What a piece is first cut into; kUnknown makes all other fields meaningless.
  enum class Symbols : std::uint8_t {
    kUnknown,     // the file says too little, or something else: there are no canonical tokens
    kBytes,       // the bytes of a piece
    kCharacters,  // its characters; the bytes of one that is no token
  };
  // How symbols become tokens, as above.
  enum class Method : std::uint8_t { kMerges, kBestSum };

  static constexpr double kUnknownPenalty = 10;

  Symbols symbols = Symbols::kUnknown;
  Method method = Method::kMerges;
  // A piece that is a token is that token, merges or not.
  bool whole_pieces = false;
  // The rules hold for ASCII texts alone: others are normalised first.
  bool ascii_only = false;
  // Of several spaces one is left, and none at the end of a text.
  bool joins_spaces = false;
  // Spaces are written as U+2581, so that one of these cannot be told from a space.
  bool marks_spaces = false;
  // What else is normalised, or null.
  std::shared_ptr<const CharacterMap> character_map;
  // In the syntax of Oniguruma; see piece_pattern.h for what of it is understood.
  std::vector<std::string> patterns;
  // Ids of ordinary tokens that no merge makes.
  std::vector<std::int32_t> atoms;
  // Those atoms that what is beside them may keep from being cut out, or that take white space
  // with them: of a text with one, only what is before that is known.
  std::vector<std::int32_t> unsure_atoms;
  // By id. Merges come in their order, the greatest first; none: in the order of ids.
  std::vector<float> scores;
  // By byte: the token that stands for it inside a character that is no token, and nowhere else.
  // None: such characters have no tokens, or (scores without) those of their bytes.
  std::vector<std::int32_t> byte_tokens;
  // Ids of ordinary tokens that no text becomes.
  std::vector<std::int32_t> unused;
  // kBestSum: ids of ordinary tokens that count more than their score (best_sum.h).
  std::vector<std::int32_t> user_defined;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_ENCODING_RULES_H_
