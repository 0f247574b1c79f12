// A reload hands over what has not changed: a tokenizer whose source is described alike is the same
// object, with its index, its masks and the grammars that were compiled over it.
//
// Invariant  the first tokenizer is the one for requests that name none; there is always one.
#include "service/grammars/tokenizer_store.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/compile/warm_families.h"
#include "grammar_core/compile/warm_up.h"
#include "service/base/errors.h"
#include "service/config/tokenizer_flag.h"

namespace maskd::service {
namespace {

auto PartsOf(const VocabularySource& source) {
  return std::tie(source.name, source.path, source.format, source.extra_special,
                  source.special_preset, source.stop_tokens);
}

// Null without one. By how the source is described and not by what the file holds: a file that has
// changed under the same path is not read again.
const LoadedTokenizer* SameIn(const TokenizerStore* store, const VocabularySource& source) {
  if (store == nullptr) return nullptr;
  for (const LoadedTokenizer& tokenizer : store->all())
    if (PartsOf(tokenizer.source()) == PartsOf(source)) return &tokenizer;
  return nullptr;
}

}  // namespace

LoadedTokenizer::LoadedTokenizer(VocabularySource source, std::shared_ptr<TokenizerSpace> space)
    : source_(std::move(source)), space_(std::move(space)) {
  const Vocabulary& vocabulary = space_->vocabulary();
  auto by_text = std::make_shared<absl::flat_hash_map<absl::string_view, TokenId>>();
  by_text->reserve(static_cast<std::size_t>(vocabulary.size()));
  for (TokenId id = 0; id < vocabulary.size(); ++id)
    if (!vocabulary.IsSpecial(id) && !vocabulary.TokenBytes(id).empty())
      by_text->emplace(vocabulary.TokenBytes(id), id);
  by_text_ = std::move(by_text);
}

TokenId LoadedTokenizer::LongestPrefix(absl::string_view text) const {
  const auto longest = static_cast<std::size_t>(vocabulary().max_token_bytes());
  for (std::size_t length = std::min(longest, text.size()); length > 0; --length)
    if (const auto found = by_text_->find(text.substr(0, length)); found != by_text_->end())
      return found->second;
  return -1;
}

// On main's thread; a large vocabulary may take seconds. After an error `before` serves on.
absl::StatusOr<std::unique_ptr<const TokenizerStore>> TokenizerStore::Load(
    const std::vector<VocabularySource>& sources, std::int64_t mask_store_bytes,
    const TokenizerStore* before) {
  std::unique_ptr<TokenizerStore> store(new TokenizerStore());
  TokenizerSpace::Options options;
  options.mask_store_bytes = mask_store_bytes;
  if (sources.empty()) {
    VocabularySource embedded;
    embedded.name = std::string(kEmbeddedTokenizer);
    const LoadedTokenizer* const same = SameIn(before, embedded);
    store->tokenizers_.push_back(
        same != nullptr
            ? *same
            : LoadedTokenizer(embedded, TokenizerSpace::Create(EmbeddedByteVocabulary(), options)));
  }
  for (const VocabularySource& source : sources) {
    if (const LoadedTokenizer* const same = SameIn(before, source); same != nullptr) {
      store->tokenizers_.push_back(*same);
      continue;
    }
    absl::StatusOr<std::shared_ptr<const Vocabulary>> vocabulary = LoadVocabulary(source);
    if (!vocabulary.ok()) {
      return absl::Status(
          vocabulary.status().code(),
          absl::StrCat("--tokenizer: ", source.name, ": ", vocabulary.status().message()));
    }
    std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(*std::move(vocabulary), options);
    // Before the server says that it is ready: each grammar would else pay for the same masks.
    WarmUpTokenizer(space);
    WarmFamilies(space);
    store->tokenizers_.emplace_back(source, std::move(space));
  }
  return std::unique_ptr<const TokenizerStore>(std::move(store));
}

absl::StatusOr<const LoadedTokenizer*> TokenizerStore::Find(absl::string_view name) const {
  if (name.empty()) return &tokenizers_.front();
  for (const LoadedTokenizer& tokenizer : tokenizers_)
    if (tokenizer.name() == name) return &tokenizer;
  const std::string names =
      absl::StrJoin(tokenizers_, ", ",
                    [](std::string* out, const LoadedTokenizer& one) { out->append(one.name()); });
  return NotFound("tokenizer", ValidUtf8(name), absl::StrCat("loaded: ", names));
}

}  // namespace maskd::service
