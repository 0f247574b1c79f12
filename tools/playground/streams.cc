#include "tools/playground/streams.h"

#include <algorithm>

namespace maskd::playground {

absl::StatusOr<TakenStream> Streams::Take(const std::string& tokenizer,
                                          const Vocabulary& vocabulary) {
  {
    const absl::MutexLock lock(&mutex_);
    const auto found =
        std::ranges::find_if(idle_, [&](const auto& each) { return each.first == tokenizer; });
    if (found != idle_.end()) {
      TakenStream taken = {std::move(found->second), true};
      idle_.erase(found);
      return taken;
    }
  }
  auto stream =
      client_.OpenStream({.tokenizer = tokenizer,
                          .logits_width = static_cast<std::uint32_t>(vocabulary.tokens.size()),
                          .dictionary_size = 0});
  if (!stream.ok()) return stream.status();
  return TakenStream{*std::move(stream), false};
}

void Streams::Give(const std::string& tokenizer, std::unique_ptr<client::MaskStream> stream) {
  const absl::MutexLock lock(&mutex_);
  if (idle_.size() < kMostIdle) idle_.emplace_back(tokenizer, std::move(stream));
}

}  // namespace maskd::playground
