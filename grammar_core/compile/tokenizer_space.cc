#include "grammar_core/compile/tokenizer_space.h"

#include <utility>

#include "grammar_core/compile/punctuation.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/tokenizer/canonical_encoder.h"

namespace maskd {

std::shared_ptr<TokenizerSpace> TokenizerSpace::Create(std::shared_ptr<const Vocabulary> vocabulary,
                                                       const Options& options) {
  std::shared_ptr<TokenizerSpace> space(new TokenizerSpace());
  space->vocabulary_ = std::move(vocabulary);
  space->index_ = std::make_unique<const TokenIndex>(space->vocabulary_);
  space->masks_ = std::make_unique<MaskStore>(space->index_.get(), options.mask_store_bytes);
  space->punctuation_ = FindPunctuation(*space->index_);
  return space;
}

TokenizerSpace::~TokenizerSpace() = default;

const CanonicalEncoder* TokenizerSpace::canonical_encoder() const {
  std::call_once(encoder_once_, [this] { encoder_ = CanonicalEncoder::Create(*vocabulary_); });
  return encoder_.get();
}

}  // namespace maskd
