// The special tokens of families whose rank files list none, and how they cut texts.
//
// Source   for each row, the tokenizer code of the family's own package (docs/tokenizers.md).
// Threads  constants.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_SPECIAL_PRESETS_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_SPECIAL_PRESETS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd {

// One family of models. The tokens are in the order in which the family numbers them.
struct SpecialPreset {
  // Ids the rank file must hold, 0 to rank_count - 1. The special tokens follow.
  int rank_count;
  // In order of id, from rank_count on.
  std::vector<std::string> special;
  // Spellings of the ones that end a text.
  std::vector<std::string> stop;
  // At whose matches the family's tokenizer cuts texts.
  std::string pattern;
};

// Errors: INVALID_ARGUMENT for an unknown name, with the known ones.
absl::StatusOr<SpecialPreset> FindSpecialPreset(absl::string_view name);

// For --help and errors, in the order of the table.
std::vector<std::string> SpecialPresetNames();

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_SPECIAL_PRESETS_H_
