// Gathers a mask from parts: stored masks and single tokens.
//
// Most masks that an engine meets are a stored mask and a few tokens more, and most of those have
// been met before. So the parts are kept as they come, and the store is asked for a mask of the
// same parts before any word is written; only a mask of many tokens becomes words at once.
//
// The mask  (the stored masks without the tokens taken away), and the single tokens.
// Threads   one use each.
#ifndef MASKD_GRAMMAR_CORE_MASK_MASK_BUILDER_H_
#define MASKD_GRAMMAR_CORE_MASK_MASK_BUILDER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/mask/token_trie.h"

namespace maskd {

// Use it for one mask: gather parts, then Finish().
class MaskBuilder {
 public:
  // `masks` must outlive this.
  explicit MaskBuilder(MaskStore* masks);

  // Adds a token, or those of a trie's node. Twice is as good as once.
  void Allow(TokenId id) {
    if (words_.has_value()) return words_->Allow(id);
    parts_.ids.push_back(id);
    if (parts_.ids.size() >= kMaxIds) ToWords();
  }
  void AllowTokens(const TokenTrie& trie, const TrieNode& node) {
    if (node.token == TokenTrie::kNoToken) return;
    trie.VisitTokens(node, [&](TokenId id) { Allow(id); });
  }
  // Adds a stored mask, or nothing if it is null.
  void Merge(MaskRef mask);
  // Adds what another builder has gathered.
  void Merge(MaskBuilder&& other);
  // Takes a token out of the stored masks merged so far; no single token may be it.
  void Forbid(TokenId id);

  // All of it as words, from now on.
  TokenMask& ToWords();

  // The stored mask. Leaves the builder empty.
  MaskRef Finish();

 private:
  // A list of more tokens is longer than the search for its like is worth.
  static constexpr std::size_t kMaxIds = 1024;

  MaskStore* masks_;
  MaskParts parts_;
  std::optional<TokenMask> words_;
  std::vector<MaskRef> like_;  // some of the masks within the words
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_MASK_BUILDER_H_
