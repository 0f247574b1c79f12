// What a stream's rows that end alike share of their masks near the end: those of one grammar with
// the same stop ids. What was learnt outlives the last of such rows: an engine that serves one
// request after the other learns it once.
//
// Memory   of the last kMaxKept, as far as they hold kMaxBytes, and of those that rows have. What
//          they hold is looked at by some of the uses.
// Threads  one thread at a time.
#ifndef MASKD_SERVICE_SEQUENCES_SHARED_CLOSING_H_
#define MASKD_SERVICE_SEQUENCES_SHARED_CLOSING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/matcher/closing.h"

namespace maskd::service {

// Closing masks of one stream, shared by rows of one grammar and the same stop ids.
class SharedClosing {
 public:
  static constexpr std::size_t kMaxKept = 32;
  static constexpr std::int64_t kMaxBytes = 16 << 20;

  // `stop_ids`: empty for the tokenizer's. An address may come again for another grammar: what was
  // learnt goes by numbers that no two automatons have, and is forgotten then.
  std::shared_ptr<ClosingMasks> Of(const CompiledGrammar* grammar,
                                   const std::vector<TokenId>& stop_ids) {
    const Ends ends = {grammar, stop_ids};
    std::shared_ptr<ClosingMasks> closing = closing_[ends].lock();
    if (closing == nullptr) {
      absl::erase_if(closing_, [](const auto& entry) { return entry.second.expired(); });
      closing = std::make_shared<ClosingMasks>();
      closing_[ends] = closing;
    }
    Keep(closing);
    return closing;
  }

 private:
  using Ends = std::pair<const CompiledGrammar*, std::vector<TokenId>>;

  // As the last one used; those used longest ago go.
  void Keep(const std::shared_ptr<ClosingMasks>& closing) {
    const auto at = std::ranges::find(kept_, closing);
    if (at == kept_.end())
      kept_.insert(kept_.begin(), closing);
    else
      std::rotate(kept_.begin(), at, at + 1);
    if (kept_.size() > kMaxKept) kept_.pop_back();
    if (++uses_ % kUsesALook == 0) DropBeyondBytes();
  }
  void DropBeyondBytes() {
    std::int64_t bytes = 0;
    std::size_t count = 0;
    for (; count < kept_.size() && bytes <= kMaxBytes; ++count) bytes += kept_[count]->held_bytes();
    kept_.resize(count);
  }

  // Each look takes the lock of each that is kept.
  static constexpr std::uint64_t kUsesALook = 16;

  absl::flat_hash_map<Ends, std::weak_ptr<ClosingMasks>> closing_;
  std::vector<std::shared_ptr<ClosingMasks>> kept_;  // the last used first
  std::uint64_t uses_ = 0;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_SHARED_CLOSING_H_
