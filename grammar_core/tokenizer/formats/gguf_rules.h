// How the model of a GGUF file cuts texts, as EncodingRules.
//
// Shape    of the model "llama", pieces with scores are merged; of "gpt2", bytes, at the pattern of
//          its pre-tokenizer, by name; of "gemma4", characters of the whole text.
// Source   the patterns are those of the models' own tokenizer.json files, by the names that
//          llama.cpp has for them (src/llama-vocab.cpp, llm_tokenizer_bpe).
//          tests/matcher/compare_forced_tokens.py compares the ids that their tokenizers give for
//          sample texts, tests/tokenizer/compare_made.py those of `tokenizers` for made files.
// Threads  a function without state.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_GGUF_RULES_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_GGUF_RULES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/formats/scored_pieces.h"

namespace maskd {

// What a file says besides its tokens.
struct GgufFacts {
  std::string model;
  std::string pre;
  std::vector<std::string> merges;  // two pieces with a space between them
  // For the model "llama"; no pieces where the file has no scores.
  ScoredPieces scored;
};

// Unknown rules for what is not understood. `raw` has the tokens.
EncodingRules RulesOf(const GgufFacts& facts, const RawVocabulary& raw);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_GGUF_RULES_H_
