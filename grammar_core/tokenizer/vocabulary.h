// A tokenizer's vocabulary: what each token id stands for. Immutable after Create().
//
// Layout   ids are 0 .. size() - 1; a gap in the source file is an id with no bytes, never allowed.
//          The logits of a model may be wider (padding); that width is not known here.
// Bytes    TokenBytes() is the exact text of a token as bytes: not the piece as a file spells it
//          (byte-level alphabet, metaspace, <0xNN>), and not always valid UTF-8 by itself.
// Special  special ids never match text; a grammar may name them. Stop ids are special ids that end
//          a text, legal only where the text may end.
// Hash     SHA-256 over the format version, every token's bytes and kind, and the stop ids: equal
//          hash means equal masks. The name is not part of it.
// Threads  immutable; any number of readers.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_VOCABULARY_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_VOCABULARY_H_

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/encoding_rules.h"

namespace maskd {

using TokenId = std::int32_t;

// Shared as a pointer to const by all that is made from it.
class Vocabulary {
 public:
  // One token as a format's reader hands it over.
  struct Token {
    // Exact bytes for an ordinary token; the literal spelling (as "<|eot_id|>") for a special one.
    std::string bytes;
    bool special = false;
  };

  // `tokens[i]` is id i. Errors: INVALID_ARGUMENT when there is no token, more than kMaxTokens, or
  // a token longer than kMaxTokenBytes; when a special token has no spelling or another's; when a
  // stop id is out of range or not special.
  static absl::StatusOr<std::shared_ptr<const Vocabulary>> Create(std::string name,
                                                                  std::vector<Token> tokens,
                                                                  std::vector<TokenId> stop_ids,
                                                                  EncodingRules rules = {});

  static constexpr int kMaxTokens = 1 << 21;
  static constexpr int kMaxTokenBytes = 4096;

  // What callers ask for it by; two vocabularies of one hash may have two names.
  [[nodiscard]] const std::string& name() const { return name_; }
  // 64 lower-case hexadecimal digits.
  [[nodiscard]] const std::string& hash() const { return hash_; }
  [[nodiscard]] int size() const { return static_cast<int>(tokens_.size()); }
  // Requires 0 <= id < size(). Empty for a gap.
  [[nodiscard]] absl::string_view TokenBytes(TokenId id) const {
    assert(id >= 0 && id < size());
    return tokens_[id].bytes;
  }
  // Requires 0 <= id < size(). A gap is not special.
  [[nodiscard]] bool IsSpecial(TokenId id) const {
    assert(id >= 0 && id < size());
    return tokens_[id].special;
  }
  // Ascending.
  [[nodiscard]] const std::vector<TokenId>& stop_ids() const { return stop_ids_; }
  [[nodiscard]] const std::vector<TokenId>& special_ids() const { return special_ids_; }
  // The id of the special token spelled `text`, or -1.
  [[nodiscard]] TokenId FindSpecial(absl::string_view text) const;
  // How the tokenizer cuts texts. Not part of the hash: masks do not depend on it.
  [[nodiscard]] const EncodingRules& encoding_rules() const { return encoding_rules_; }
  // The longest ordinary token, in bytes.
  [[nodiscard]] int max_token_bytes() const { return max_token_bytes_; }

 private:
  Vocabulary() = default;

  absl::Status IndexTokens();

  std::string name_;
  std::string hash_;
  std::vector<Token> tokens_;
  std::vector<TokenId> stop_ids_;
  std::vector<TokenId> special_ids_;
  EncodingRules encoding_rules_;
  absl::flat_hash_map<std::string, TokenId> special_by_text_;
  int max_token_bytes_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_VOCABULARY_H_
