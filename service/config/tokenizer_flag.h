// The value of one --tokenizer flag.
#ifndef MASKD_SERVICE_CONFIG_TOKENIZER_FLAG_H_
#define MASKD_SERVICE_CONFIG_TOKENIZER_FLAG_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/loader.h"

namespace maskd::service {

// The name that stands for the embedded vocabulary, which has no file.
inline constexpr absl::string_view kEmbeddedTokenizer = "bytes";

// "bytes", "NAME=PATH" or "NAME=PATH,key=value..." with the keys format, preset (one of
// SpecialPresets()), special (SPELLING:ID, may repeat) and stop (SPELLING, may repeat). NAME is
// UTF-8, as replies have it. Errors: INVALID_ARGUMENT.
absl::StatusOr<VocabularySource> ParseTokenizerFlag(absl::string_view value);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CONFIG_TOKENIZER_FLAG_H_
