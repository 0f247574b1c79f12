// What a stream's rows that end alike share of their masks near the end: those of one grammar with
// the same stop ids.
//
// Threads  one thread at a time.
#ifndef MASKD_SERVICE_SHARED_CLOSING_H_
#define MASKD_SERVICE_SHARED_CLOSING_H_

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
  // `stop_ids`: empty for the tokenizer's. An address may come again for another grammar, but then
  // the first one's rows are gone, and what they shared with them.
  std::shared_ptr<ClosingMasks> Of(const CompiledGrammar* grammar,
                                   const std::vector<TokenId>& stop_ids) {
    const Ends ends = {grammar, stop_ids};
    std::shared_ptr<ClosingMasks> closing = closing_[ends].lock();
    if (closing != nullptr) return closing;
    absl::erase_if(closing_, [](const auto& entry) { return entry.second.expired(); });
    closing = std::make_shared<ClosingMasks>();
    closing_[ends] = closing;
    return closing;
  }

 private:
  using Ends = std::pair<const CompiledGrammar*, std::vector<TokenId>>;

  absl::flat_hash_map<Ends, std::weak_ptr<ClosingMasks>> closing_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SHARED_CLOSING_H_
