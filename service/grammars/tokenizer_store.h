// The vocabularies a server has loaded, ready for masks. Fixed after Load().
//
// Threads   immutable; any number of readers.
// Ownership outlives every grammar store, session and service that uses it.
#ifndef MASKD_SERVICE_GRAMMARS_TOKENIZER_STORE_H_
#define MASKD_SERVICE_GRAMMARS_TOKENIZER_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/compile/tokenizer_space.h"
#include "grammar_core/tokenizer/loader.h"

namespace maskd::service {

// One loaded vocabulary.
class LoadedTokenizer {
 public:
  // `source` is what `space` was loaded from.
  LoadedTokenizer(VocabularySource source, std::shared_ptr<TokenizerSpace> space);

  // The configuration's name for it.
  [[nodiscard]] const std::string& name() const { return source_.name; }
  [[nodiscard]] const VocabularySource& source() const { return source_; }
  [[nodiscard]] const Vocabulary& vocabulary() const { return space_->vocabulary(); }
  [[nodiscard]] const std::shared_ptr<TokenizerSpace>& space() const { return space_; }

  // The longest ordinary token that `text` begins with; -1 when there is none.
  [[nodiscard]] TokenId LongestPrefix(absl::string_view text) const;

 private:
  VocabularySource source_;
  std::shared_ptr<TokenizerSpace> space_;
  // Views into the vocabulary. A copy shares them.
  std::shared_ptr<const absl::flat_hash_map<absl::string_view, TokenId>> by_text_;
};

// The tokenizers of a configuration, loaded.
class TokenizerStore {
 public:
  // Loads `sources`, or the embedded vocabulary "bytes" when there are none. Errors: those of
  // LoadVocabulary(), the flag and the name first. What `before` has of the same sources is taken
  // from there and not read again.
  static absl::StatusOr<std::unique_ptr<const TokenizerStore>> Load(
      const std::vector<VocabularySource>& sources, std::int64_t mask_store_bytes,
      const TokenizerStore* before = nullptr);

  // The tokenizer of that name; the default one for "". Errors: NOT_FOUND, listing the loaded
  // names.
  [[nodiscard]] absl::StatusOr<const LoadedTokenizer*> Find(absl::string_view name) const;

  // The default first.
  [[nodiscard]] const std::vector<LoadedTokenizer>& all() const { return tokenizers_; }

 private:
  TokenizerStore() = default;
  std::vector<LoadedTokenizer> tokenizers_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_GRAMMARS_TOKENIZER_STORE_H_
