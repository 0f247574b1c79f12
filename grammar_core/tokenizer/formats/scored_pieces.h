// How models whose pieces have scores cut texts, as EncodingRules: SentencePiece files, and the
// models of that family in GGUF files.
//
// Threads  plain values and a function without state.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_SCORED_PIECES_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_SCORED_PIECES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/formats/format.h"

namespace maskd {

// What a piece is, as both kinds of files number it: SentencePiece.Type, tokenizer.ggml.token_type.
struct PieceType {
  // Only those that a reader has to tell apart.
  enum : std::uint8_t {
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,
    kUserDefined = 4,
    kUnused = 5,
    kByte = 6,
  };
};

// What both readers fill in, so that one function decides how such a model cuts texts.
struct ScoredPieces {
  // TrainerSpec.ModelType.
  enum class Model : std::uint64_t { kUnigram = 1, kMerges = 2, kWords = 3, kCharacters = 4 };
  enum class Kind : std::uint8_t { kNormal, kUserDefined, kByte, kUnused, kOther };
  // The kind of a PieceType; kUnused of a number that is none.
  static Kind KindOf(std::uint64_t type);

  // One of them, by its id.
  struct Piece {
    float score = 0;
    Kind kind = Kind::kOther;
  };

  Model model = Model::kUnigram;
  bool has_byte_fallback = false;
  // What the normaliser does.
  bool joins_spaces = true;
  bool marks_spaces = true;
  std::string character_map;
  // Whether what begins words in other models ends them.
  bool marks_ends = false;
  // By id. Special ones are of the kind kOther.
  std::vector<Piece> pieces;
};

// Unknown rules for what is not understood: words, spaces that are not marked, scores that are no
// numbers, and merges that make unused pieces, which every library takes in its own way. `raw` has
// the pieces.
EncodingRules RulesOf(const ScoredPieces& model, const RawVocabulary& raw);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_SCORED_PIECES_H_
