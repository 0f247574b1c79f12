// What a client does with the row forms of a stream, written from the proto's words alone.
#ifndef MASKD_TESTS_SERVICE_SEQUENCES_FORM_READER_H_
#define MASKD_TESTS_SERVICE_SEQUENCES_FORM_READER_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "grammar_core/mask/token_mask.h"
#include "service/sequences/mask_forms.h"

namespace maskd::service {

class FormReader {
 public:
  explicit FormReader(int dictionary_size) : slots_(static_cast<std::size_t>(dictionary_size)) {}

  // The mask that `form` says; `said` is what the server meant, looked at for its size and where
  // the form is dense.
  TokenMask Read(const MaskForm& form, const TokenMask& said) {
    TokenMask mask = ReadForm(form, said);
    if (form.put.has_value()) slots_.at(static_cast<std::size_t>(*form.put)) = mask;
    return mask;
  }

 private:
  using Kind = MaskForm::Kind;

  TokenMask ReadForm(const MaskForm& form, const TokenMask& said) {
    if (form.kind == Kind::kDense) return said;
    if (form.kind == Kind::kSameAs) return slots_.at(static_cast<std::size_t>(form.slot)).value();
    if (form.kind == Kind::kDelta) return Changed(*form.delta);
    TokenMask mask(said.vocab_size());
    if (form.kind == Kind::kAllowedIds) {
      for (const TokenId id : *form.ids) mask.Allow(id);
      return mask;
    }
    for (TokenId id = 0; id < said.vocab_size(); ++id) mask.Allow(id);
    for (const TokenId id : *form.ids) mask.Forbid(id);
    return mask;
  }

  TokenMask Changed(const MaskDelta& delta) {
    TokenMask mask = slots_.at(static_cast<std::size_t>(delta.base)).value();
    for (std::size_t i = 0; i < delta.words.size(); ++i)
      mask.mutable_words()[delta.word_indices[i]] = static_cast<std::int32_t>(delta.words[i]);
    return mask;
  }

  std::vector<std::optional<TokenMask>> slots_;
};

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_SEQUENCES_FORM_READER_H_
