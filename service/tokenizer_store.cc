#include "service/tokenizer_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/compile/warm_up.h"
#include "service/errors.h"

namespace maskd::service {

LoadedTokenizer::LoadedTokenizer(std::string name, std::shared_ptr<TokenizerSpace> space)
    : name_(std::move(name)), space_(std::move(space)) {
  const Vocabulary& vocabulary = space_->vocabulary();
  by_text_.reserve(static_cast<std::size_t>(vocabulary.size()));
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (!vocabulary.IsSpecial(id) && !vocabulary.TokenBytes(id).empty()) {
      by_text_.emplace(vocabulary.TokenBytes(id), id);
    }
  }
}

TokenId LoadedTokenizer::LongestPrefix(absl::string_view text) const {
  const auto longest = static_cast<std::size_t>(vocabulary().max_token_bytes());
  for (std::size_t length = std::min(longest, text.size()); length > 0; --length) {
    if (const auto found = by_text_.find(text.substr(0, length)); found != by_text_.end()) {
      return found->second;
    }
  }
  return -1;
}

absl::StatusOr<std::unique_ptr<const TokenizerStore>> TokenizerStore::Load(
    const std::vector<VocabularySource>& sources, std::int64_t mask_store_bytes) {
  std::unique_ptr<TokenizerStore> store(new TokenizerStore());
  TokenizerSpace::Options options;
  options.mask_store_bytes = mask_store_bytes;
  if (sources.empty()) {
    store->tokenizers_.emplace_back("bytes",
                                    TokenizerSpace::Create(EmbeddedByteVocabulary(), options));
  }
  for (const VocabularySource& source : sources) {
    absl::StatusOr<std::shared_ptr<const Vocabulary>> vocabulary = LoadVocabulary(source);
    if (!vocabulary.ok()) {
      return absl::Status(
          vocabulary.status().code(),
          absl::StrCat("--tokenizer: ", source.name, ": ", vocabulary.status().message()));
    }
    std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(*std::move(vocabulary), options);
    WarmUpTokenizer(space);
    store->tokenizers_.emplace_back(source.name, std::move(space));
  }
  return std::unique_ptr<const TokenizerStore>(std::move(store));
}

absl::StatusOr<const LoadedTokenizer*> TokenizerStore::Find(absl::string_view name) const {
  if (name.empty()) {
    return &tokenizers_.front();
  }
  for (const LoadedTokenizer& tokenizer : tokenizers_) {
    if (tokenizer.name() == name) {
      return &tokenizer;
    }
  }
  const std::string names =
      absl::StrJoin(tokenizers_, ", ",
                    [](std::string* out, const LoadedTokenizer& one) { out->append(one.name()); });
  return NotFound("tokenizer", ValidUtf8(name), absl::StrCat("loaded: ", names));
}

}  // namespace maskd::service
