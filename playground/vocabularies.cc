#include "playground/vocabularies.h"

#include <algorithm>
#include <utility>

namespace maskd::playground {

bool Vocabulary::IsStop(client::TokenId id) const {
  return std::ranges::find(tokenizer.stop_ids(), id) != tokenizer.stop_ids().end();
}

absl::StatusOr<VocabularyPtr> Vocabularies::Get(const std::string& name) {
  auto tokenizer = client_.GetTokenizer(name);
  if (!tokenizer.ok()) return tokenizer.status();
  const absl::MutexLock lock(&mutex_);
  const auto found = std::ranges::find_if(known_, [&](const VocabularyPtr& each) {
    return each->tokenizer.name() == tokenizer->name() &&
           each->tokenizer.hash() == tokenizer->hash();
  });
  if (found != known_.end()) {
    known_.splice(known_.begin(), known_, found);
    return known_.front();
  }
  auto fetched = Fetch(*std::move(tokenizer));
  if (!fetched.ok()) return fetched.status();
  known_.push_front(*fetched);
  if (known_.size() > kMost) known_.pop_back();
  return known_.front();
}

absl::StatusOr<VocabularyPtr> Vocabularies::Fetch(v1::Tokenizer tokenizer) const {
  auto tokens = client_.ListTokens(tokenizer.name());
  if (!tokens.ok()) return tokens.status();
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->tokenizer = std::move(tokenizer);
  vocabulary->tokens = *std::move(tokens);
  for (std::size_t id = 0; id < vocabulary->tokens.size(); ++id) {
    const v1::Token& token = vocabulary->tokens[id];
    if (!token.special()) vocabulary->splitter.Add(token.text(), static_cast<client::TokenId>(id));
  }
  return vocabulary;
}

}  // namespace maskd::playground
