// How a tokenizer.json says that texts are cut, as EncodingRules.
// Understood  models of byte-pair encoding whose merges order tokens (merge_order.h).
//             Models of bytes may have the pre-tokenizers ByteLevel, Split at matches, Digits, and
//             sequences that end with ByteLevel. Models of characters have byte fallback, and no
//             pre-tokenizer that cuts: Split at spaces does not where a normalizer has marked
//             them. NFC holds for ASCII alone. Anything else gives rules of unknown symbols, which
//             is no error: masks need none.
// Threads     no state.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_HUGGINGFACE_RULES_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_HUGGINGFACE_RULES_H_

#include "nlohmann/json.hpp"

#include "grammar_core/tokenizer/encoding_rules.h"
#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/formats/tokenizer_document.h"

namespace maskd {

// `tree` is the document's; `raw` holds all tokens already.
EncodingRules ReadHuggingFaceRules(const nlohmann::json& tree, const TokenizerDocument& document,
                                   const RawVocabulary& raw);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_HUGGINGFACE_RULES_H_
