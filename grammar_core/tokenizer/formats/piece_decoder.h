// From a piece as tokenizer.json spells it to the bytes it stands for in running text.
//
// Steps    what the file's own decoder does to one token, in its order: Replace and Metaspace put
//          spaces for their mark, ByteFallback makes "<0x0A>" a byte, ByteLevel reads the alphabet
//          of 256 printable characters. What a decoder does only to the ends of a whole text (a
//          leading space dropped) is left out: these are the bytes in the middle of one.
// Errors   UNIMPLEMENTED, at the pointer of the component, where neighbours or white space that the
//          file does not keep would decide the bytes. So do neighbours where bytes of ByteFallback
//          are put together before a mark of several bytes, or an alphabet, is looked for.
// Threads  a plain value.
// Source   the documentation of the `tokenizers` library for the components; its output is compared
//          id by id in tests/tokenizer/compare_vocabularies.py.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_PIECE_DECODER_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_PIECE_DECODER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace maskd {

// What a part of a normalizer or a pre-tokenizer writes for each space; empty: it leaves spaces.
std::string SpaceMarkOf(const nlohmann::json& part);

// Made once for a file, used for each of its pieces.
class PieceDecoder {
 public:
  // For the file whose tree this is.
  static absl::StatusOr<PieceDecoder> FromTree(const nlohmann::json& tree);

  // The exact bytes, which need not be UTF-8.
  [[nodiscard]] std::string Decode(absl::string_view piece) const;

 private:
  friend class PieceDecoderBuilder;

  struct Step {
    // One step of the file's decoder.
    enum class Kind { kReplace, kByteFallback, kByteLevel };
    Kind kind;
    std::string from;  // of kReplace; not empty
    std::string to;
  };

  std::vector<Step> steps_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_PIECE_DECODER_H_
