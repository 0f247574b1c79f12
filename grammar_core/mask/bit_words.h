// Loops over packed words, by the kernels in use (word_kernels.h). Copies and comparisons of words
// have none: memcpy and memcmp are at the speed of memory already (bench/kernels_bench).
//
// Layout   words as in TokenMask. Both spans of a call have the same length.
#ifndef MASKD_GRAMMAR_CORE_MASK_BIT_WORDS_H_
#define MASKD_GRAMMAR_CORE_MASK_BIT_WORDS_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "grammar_core/mask/word_kernels.h"

namespace maskd {

// Union, intersection and difference in place, about as fast as memory is read.
inline void OrInto(std::span<std::int32_t> into, std::span<const std::int32_t> words) {
  assert(into.size() >= words.size());
  UsedWordKernels().or_into(into.data(), words.data(), words.size());
}
inline void AndInto(std::span<std::int32_t> into, std::span<const std::int32_t> words) {
  assert(into.size() >= words.size());
  UsedWordKernels().and_into(into.data(), words.data(), words.size());
}
inline void AndNotInto(std::span<std::int32_t> into, std::span<const std::int32_t> words) {
  assert(into.size() >= words.size());
  UsedWordKernels().and_not_into(into.data(), words.data(), words.size());
}
// Tokens that the words allow, and whether there are any; the second stops at the first.
inline std::int64_t CountBits(std::span<const std::int32_t> words) {
  return UsedWordKernels().count_bits(words.data(), words.size());
}
// The first word from `begin` on that is not 0, or words.size().
inline std::size_t FindNonzero(std::span<const std::int32_t> words, std::size_t begin = 0) {
  assert(begin <= words.size());
  return begin + UsedWordKernels().find_nonzero(words.data() + begin, words.size() - begin);
}
// Stops at the first word that has a bit.
inline bool AnyBit(std::span<const std::int32_t> words) {
  return FindNonzero(words) < words.size();
}
// Equal words, equal hash; made for speed, not against an adversary. It is the sum of the hashes of
// its blocks, of which the last one is filled up with zeros; that of a block of zeros is 0.
inline constexpr std::size_t kHashedWords = 16;
std::uint64_t HashBlock(std::span<const std::int32_t, kHashedWords> words, std::size_t block);
std::uint64_t HashWords(std::span<const std::int32_t> words);
// The same of so many words of all bits.
std::uint64_t HashOfFilled(std::size_t word_count);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_BIT_WORDS_H_
