#include "grammar_core/compile/tokenizer_space.h"

#include <utility>

#include "grammar_core/compile/punctuation.h"
#include "grammar_core/frontend/json_schema/schema_store.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/tokenizer/canonical_encoder.h"
#include "grammar_core/tokenizer/marker_table.h"

namespace maskd {
namespace {

// What a vocabulary holds, roughly.
std::int64_t BytesOf(const Vocabulary& vocabulary) {
  constexpr std::size_t kInPlace = 15;  // bytes of a token that take no memory of their own
  constexpr std::size_t kAllocation = 16;
  std::size_t bytes = static_cast<std::size_t>(vocabulary.size()) * sizeof(Vocabulary::Token);
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const std::size_t size = vocabulary.TokenBytes(id).size();
    if (size > kInPlace) bytes += size + kAllocation;
  }
  const EncodingRules& rules = vocabulary.encoding_rules();
  bytes += rules.scores.capacity() * sizeof(rules.scores[0]);
  for (const auto* ids : {&rules.atoms, &rules.byte_tokens, &rules.unused, &rules.user_defined})
    bytes += ids->capacity() * sizeof(TokenId);
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

std::shared_ptr<TokenizerSpace> TokenizerSpace::Create(std::shared_ptr<const Vocabulary> vocabulary,
                                                       const Options& options) {
  std::shared_ptr<TokenizerSpace> space(new TokenizerSpace());
  space->vocabulary_ = std::move(vocabulary);
  space->index_ = std::make_unique<const TokenIndex>(space->vocabulary_);
  space->markers_ = std::make_unique<const MarkerTable>(space->vocabulary_);
  space->masks_ = std::make_unique<MaskStore>(space->index_.get(), options.mask_store_bytes);
  space->schemas_ = std::make_unique<SchemaStore>(options.schema_store_bytes);
  space->punctuation_ = FindPunctuation(*space->index_);
  space->held_bytes_ =
      BytesOf(*space->vocabulary_) + space->index_->held_bytes() +
      static_cast<std::int64_t>(space->punctuation_.capacity() * sizeof(PunctuationToken));
  return space;
}

TokenizerSpace::~TokenizerSpace() = default;

const CanonicalEncoder* TokenizerSpace::canonical_encoder() const {
  std::call_once(encoder_once_, [this] { encoder_ = CanonicalEncoder::Create(*vocabulary_); });
  return encoder_.get();
}

}  // namespace maskd
