#include "playground/streams.h"

#include <algorithm>

#include "absl/time/time.h"

namespace maskd::playground {
namespace {

constexpr absl::Duration kGoodbye = absl::Milliseconds(100);

}  // namespace

absl::StatusOr<TakenStream> Streams::Take(const std::string& tokenizer,
                                          const Vocabulary& vocabulary) {
  {
    const absl::MutexLock lock(&mutex_);
    // The server may have another vocabulary under the name by now: its masks have other tokens.
    const auto found = std::ranges::find_if(idle_, [&](const auto& each) {
      return each.first == tokenizer &&
             each.second->welcome().tokenizer().hash() == vocabulary.tokenizer.hash();
    });
    if (found != idle_.end()) {
      TakenStream taken = {std::move(found->second), true};
      idle_.erase(found);
      return taken;
    }
  }
  auto stream =
      client_.OpenStream({.tokenizer = tokenizer,
                          .tokenizer_hash = vocabulary.tokenizer.hash(),
                          .logits_width = static_cast<std::uint32_t>(vocabulary.tokens.size()),
                          .dictionary_size = 0});
  if (!stream.ok()) return stream.status();
  return TakenStream{*std::move(stream), false};
}

void Streams::Give(const std::string& tokenizer, std::unique_ptr<client::MaskStream> stream) {
  std::unique_ptr<client::MaskStream> ended;
  {
    const absl::MutexLock lock(&mutex_);
    idle_.emplace_back(tokenizer, std::move(stream));
    // The one that has waited longest may be of a tokenizer that is asked for no more.
    if (idle_.size() > (is_closed_ ? 0 : most_idle_)) {
      ended = std::move(idle_.front().second);
      idle_.erase(idle_.begin());
    }
  }
  if (ended != nullptr) End(std::move(ended));
}

void Streams::End(std::unique_ptr<client::MaskStream> stream) {
  stream->Close(kGoodbye).IgnoreError();
}

void Streams::Close() {
  std::vector<std::pair<std::string, std::unique_ptr<client::MaskStream>>> ended;
  {
    const absl::MutexLock lock(&mutex_);
    is_closed_ = true;
    ended.swap(idle_);
  }
  for (auto& each : ended) End(std::move(each.second));
}

}  // namespace maskd::playground
