#include "tools/playground/vocabularies.h"

#include <algorithm>
#include <utility>

namespace maskd::playground {

bool Vocabulary::IsStop(client::TokenId id) const {
  return std::ranges::find(tokenizer.stop_ids(), id) != tokenizer.stop_ids().end();
}

absl::StatusOr<VocabularyPtr> Vocabularies::Get(const std::string& name) {
  const absl::MutexLock lock(&mutex_);
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  auto tokenizer = client_.GetTokenizer(name);
  if (!tokenizer.ok()) return tokenizer.status();
  auto tokens = client_.ListTokens(name);
  if (!tokens.ok()) return tokens.status();
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->tokenizer = *std::move(tokenizer);
  vocabulary->tokens = *std::move(tokens);
  for (std::size_t id = 0; id < vocabulary->tokens.size(); ++id) {
    const v1::Token& token = vocabulary->tokens[id];
    if (!token.special()) vocabulary->splitter.Add(token.text(), static_cast<client::TokenId>(id));
  }
  known_.emplace(name, vocabulary);
  return vocabulary;
}

}  // namespace maskd::playground
