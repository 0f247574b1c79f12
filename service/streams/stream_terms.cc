// What a stream has is what its client offers, less what this server does not do: nothing is
// refused for being offered. What cannot work (another tokenizer, logits narrower than the
// vocabulary) is refused, with both values.
#include "service/streams/stream_terms.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "service/base/errors.h"

namespace maskd::service {
namespace {

// Tokens by which logits may be wider than the vocabulary: models pad to what suits their kernels.
constexpr std::int64_t kMostPadding = 65'536;

// Who has forgotten --tokenizer sees this first.
std::string NameText(const Vocabulary& vocabulary) {
  return absl::StrCat("the tokenizer \"", vocabulary.name(), "\": is it the model's?");
}

// With another vocabulary every mask would be about other tokens, and nothing else would tell.
absl::Status CheckTokenizer(const Hello& hello, const Vocabulary& vocabulary) {
  if (!hello.tokenizer_hash.empty() && hello.tokenizer_hash != vocabulary.hash()) {
    return ErrorAt(absl::StatusCode::kFailedPrecondition, "hello.tokenizer_hash",
                   "TOKENIZER_DIFFERS",
                   absl::StrCat("the server's tokenizer has hash ", vocabulary.hash()));
  }
  if (hello.logits_width < vocabulary.size()) {
    return ErrorAt(absl::StatusCode::kInvalidArgument, "hello.logits_width",
                   "WIDTH_BELOW_VOCABULARY",
                   absl::StrCat(hello.logits_width, " is below ", vocabulary.size(),
                                ", the size of ", NameText(vocabulary)));
  }
  if (const std::int64_t most = vocabulary.size() + kMostPadding; hello.logits_width > most) {
    return ErrorAt(absl::StatusCode::kInvalidArgument, "hello.logits_width",
                   "WIDTH_ABOVE_VOCABULARY",
                   absl::StrCat(hello.logits_width, " is above ", most, ", which is ", kMostPadding,
                                " and the size of ", NameText(vocabulary)));
  }
  return absl::OkStatus();
}

// What is used of a client's offer.
FormTerms UsedForms(FormTerms offer, int mask_words, const StreamLimits& limits) {
  const std::int64_t mask_bytes = mask_words * std::int64_t{sizeof(std::int32_t)};
  const std::int64_t room = limits.max_dictionary_bytes / mask_bytes;
  offer.mask_words = mask_words;
  offer.dictionary_size = static_cast<int>(std::min<std::int64_t>(offer.dictionary_size, room));
  // Each needs the other: forms that name a slot, and slots to be named.
  if (offer.dictionary_size == 0) offer.same_as = offer.delta = false;
  if (!offer.same_as && !offer.delta) offer.dictionary_size = 0;
  return offer;
}

}  // namespace

absl::StatusOr<StreamTerms> AgreeOnTerms(const Hello& hello, TokenizerStorePtr tokenizers,
                                         const StreamLimits& limits) {
  const absl::StatusOr<const LoadedTokenizer*> tokenizer = tokenizers->Find(hello.tokenizer);
  if (!tokenizer.ok()) return tokenizer.status();
  if (absl::Status checked = CheckTokenizer(hello, (*tokenizer)->vocabulary()); !checked.ok())
    return checked;
  const int mask_words = MaskWordCount(hello.logits_width);
  return StreamTerms{std::move(tokenizers),
                     *tokenizer,
                     mask_words,
                     UsedForms(hello.forms, mask_words, limits),
                     {},
                     nullptr};
}

StreamLimits LimitsOf(const Config& config) {
  StreamLimits limits;
  limits.max_rows = static_cast<int>(config.max_rows);
  limits.max_named_rows = NamedRows(config.max_rows);
  limits.max_row_tokens = static_cast<int>(config.max_row_tokens);
  limits.max_step_bytes = config.max_message_bytes;
  limits.max_reply_bytes = config.max_reply_bytes;
  limits.max_wait_ms = config.max_wait_for_compile_ms;
  return limits;
}

}  // namespace maskd::service
