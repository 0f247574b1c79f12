// tokenizer.json taken apart: the model's pieces in one list, its merges in another, the
// rest as a small tree.
//
// Errors   as JsonTreeReader's, and INVALID_ARGUMENT at the pointer of a piece that has no id.
// Threads  a plain value.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_TOKENIZER_DOCUMENT_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_TOKENIZER_DOCUMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

#include "grammar_core/tokenizer/formats/merge_order.h"

namespace maskd {

// An entry of the model's vocabulary, as the file spells it.
struct ModelPiece {
  std::string text;
  std::int64_t id;
};

// Large lists apart, since a tree of 200,000 values takes ten times their memory.
struct TokenizerDocument {
  // The whole file without /model/vocab and /model/merges.
  nlohmann::json tree;
  // /model/vocab, in the order of the file: {piece: id}, or [[piece, score]] with the index as id.
  std::vector<ModelPiece> pieces;
  // Each of /model/merges: ["a", "b"] or "a b".
  std::vector<MergeRule> merges;
  bool has_merges = false;
};

// `content` is a whole file; what is kept is copied out of it.
absl::StatusOr<TokenizerDocument> ReadTokenizerDocument(absl::string_view content);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_TOKENIZER_DOCUMENT_H_
