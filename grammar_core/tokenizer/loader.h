// Reads vocabularies from files, and has a built-in one for when there is none.
//
// Formats  one row each in loader.cc: "huggingface" (tokenizer.json: byte-level BPE, byte fallback
//          and metaspace, added and special tokens), "gguf" (its tensors are not read),
//          "sentencepiece" (a .model file), "tekken" (tekken.json), "tiktoken" (lines "BASE64
//          RANK").
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_LOADER_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_LOADER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// One file with all that a caller may say about it.
struct VocabularySource {
  // The name callers will use. Must not be empty.
  std::string name;
  // A file, or empty for the embedded vocabulary of 256 bytes and one end token.
  std::string path;
  // A format's name, or empty to tell it from the content.
  std::string format;
  // Special tokens the file does not list (a tiktoken rank file lists none): spelling and id.
  std::vector<std::pair<std::string, TokenId>> extra_special;
  // A known family of rank files, whose special and stop tokens are then added: one of
  // SpecialPresets(). Empty for none.
  std::string special_preset;
  // Spellings of the tokens that end a text. Empty: the ones of the files beside `path`, or of the
  // preset, or else the file's own and the well-known spellings in it (docs/tokenizers.md).
  std::vector<std::string> stop_tokens;
};

// Errors: NOT_FOUND (no such file); INVALID_ARGUMENT with the file and the place in it. That is
// line:column, a JSON Pointer or "byte N". UNIMPLEMENTED (a model whose bytes cannot be told
// exactly); RESOURCE_EXHAUSTED (a bound of kVocabularyLimits).
absl::StatusOr<std::shared_ptr<const Vocabulary>> LoadVocabulary(const VocabularySource& source);

// Ids 0 to 255 are the single bytes, 256 is "<|end|>", the stop token.
std::shared_ptr<const Vocabulary> EmbeddedByteVocabulary();

// The format names, for --help and errors.
std::vector<std::string> VocabularyFormats();

// The names for VocabularySource::special_preset.
std::vector<std::string> SpecialPresets();

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_LOADER_H_
