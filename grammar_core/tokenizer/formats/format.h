// What a tokenizer format's reader hands to the loader, and the readers. One format is one file
// here and one row in the table of loader.cc. A LooksLike function sees the start of a file.
//
// Errors   readers start their messages with the place in the content (line:column, a JSON Pointer,
//          or "byte N" of a binary file); the loader puts the path before it.
// Threads  plain values and functions without state.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_FORMAT_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_FORMAT_H_

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// A vocabulary under construction. Any field may still change until Vocabulary::Create().
struct RawVocabulary {
  // By id; an id without bytes is free.
  std::vector<Vocabulary::Token> tokens;
  // The tokens a file lists apart from the model's own, special or not.
  std::vector<TokenId> added_ids;
  // The model's tokens and the added ones as the file spells them, where that is not their bytes.
  absl::flat_hash_map<std::string, TokenId> id_by_piece;
  // How texts are cut.
  EncodingRules rules;
  // The end tokens that the files beside this one name.
  std::vector<TokenId> stop_ids;
  // The end tokens that this file names, for where neither the caller nor a file beside names any.
  std::vector<TokenId> own_stop_ids;
};

// Puts `token` at `id`. Errors, at `place`: INVALID_ARGUMENT when the id is negative, not below
// Vocabulary::kMaxTokens, or another token's.
absl::Status PutToken(absl::string_view place, std::int64_t id, Vocabulary::Token token,
                      RawVocabulary* raw);

// The ids of the pieces of which `is_one(spelling)` says so, ascending.
std::vector<TokenId> PiecesWhere(const RawVocabulary& raw,
                                 absl::FunctionRef<bool(absl::string_view)> is_one);

// The rules of rank files and tekken.json: bytes, ranks in the order of ids, one pattern; unknown
// ones where `pattern` is empty.
EncodingRules RankRules(absl::string_view pattern);

// The id of the token spelled `text` that is special or added, or -1.
TokenId FindListed(absl::string_view text, const RawVocabulary& raw);

// As FindListed(), and where there is none, the id of the model's piece spelled `text`.
TokenId FindNamed(absl::string_view text, const RawVocabulary& raw);

// Stop ids from tokenizer_config.json and generation_config.json in the folder of `path`.
absl::Status ReadModelConfigs(const std::string& path, RawVocabulary* raw);

// tokenizer.json of the `tokenizers` library.
bool LooksLikeHuggingFace(absl::string_view head);
absl::StatusOr<RawVocabulary> ReadHuggingFace(absl::string_view content);

// A GGUF file, of which the tensors are not read.
bool LooksLikeGguf(absl::string_view head);
absl::StatusOr<RawVocabulary> ReadGguf(std::istream& file);

// tekken.json of the `mistral-common` library.
bool LooksLikeTekken(absl::string_view head);
absl::StatusOr<RawVocabulary> ReadTekken(absl::string_view content);

// A model of the `sentencepiece` library.
bool LooksLikeSentencePiece(absl::string_view head);
absl::StatusOr<RawVocabulary> ReadSentencePiece(absl::string_view content);

// Lines "BASE64 RANK".
bool LooksLikeTiktoken(absl::string_view head);
absl::StatusOr<RawVocabulary> ReadTiktoken(absl::string_view content);
// Special tokens and stop ids from STEM.special.json beside `path`, where STEM is the file's name
// without what follows its last dot: {"special": {SPELLING: ID}, "stop": [SPELLING]}.
absl::Status ReadBesideTiktoken(const std::string& path, RawVocabulary* raw);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_FORMAT_H_
