// Tokens that begin with a run of bytes of one set (white space, digits), by what comes after it.
// A state takes such a run and then a tail. It allows a token exactly if the token can be cut into
// a run of a length that the state takes, and a rest that the tail takes. The runs are the same for
// every grammar; the rests are tried on the tail alone.
//
// Bounds   tokens of more than TokenTrie::kMaxDepth bytes are not in it: the caller tries them one
//          by one.
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_MASK_RUN_INDEX_H_
#define MASKD_GRAMMAR_CORE_MASK_RUN_INDEX_H_

#include <algorithm>
#include <bitset>
#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "grammar_core/mask/token_trie.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// A token, and how many of its first bytes are the run.
struct RunToken {
  int run;  // bytes of the run
  TokenId id;
};

// Made once for a set of bytes, in a pass over the vocabulary.
class RunIndex {
 public:
  // Reads every token; the vocabulary is not kept.
  RunIndex(const Vocabulary& vocabulary, const std::bitset<256>& set);

  // Tokens that are a run and nothing else.
  [[nodiscard]] const std::vector<RunToken>& whole() const { return whole_; }
  // Bytes of the longest of them.
  [[nodiscard]] int longest_whole() const { return longest_whole_; }
  // Every way to cut a token into a run of one byte or more and a rest of one byte or more.
  [[nodiscard]] const RunToken& cut(TokenId index) const {
    assert(index >= 0 && static_cast<std::size_t>(index) < cuts_.size());
    return cuts_[index];
  }
  // The rests; the trie's ids are indices of cuts.
  [[nodiscard]] const TokenTrie& rests() const { return rests_; }
  // Tokens that begin with a run of more than `bytes` bytes, longest run first. Requires bytes > 0.
  [[nodiscard]] std::span<const RunToken> LongerThan(std::uint32_t bytes) const {
    assert(bytes > 0 && "nearly all runs are of one byte");
    const auto end = std::ranges::partition_point(longer_, [&](const RunToken& token) {
      return static_cast<std::uint32_t>(token.run) > bytes;
    });
    return {longer_.begin(), end};
  }
  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const {
    const std::size_t tokens = whole_.capacity() + cuts_.capacity() + longer_.capacity();
    return static_cast<std::int64_t>(sizeof(*this) + tokens * sizeof(RunToken)) +
           rests_.held_bytes();
  }

 private:
  std::vector<RunToken> whole_;
  int longest_whole_ = 0;
  std::vector<RunToken> cuts_;
  std::vector<RunToken> longer_;  // each token once, whose whole run has two bytes or more
  TokenTrie rests_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_RUN_INDEX_H_
