// Loops over packed words, by the kernels in use (word_kernels.h). Copies and comparisons of words
// have none: memcpy and memcmp are at the speed of memory already (bench/kernels_bench).
//
// Layout   words as in TokenMask. Both spans of a call have the same length.
#ifndef MASKD_GRAMMAR_CORE_MASK_BIT_WORDS_H_
#define MASKD_GRAMMAR_CORE_MASK_BIT_WORDS_H_

#include <cstdint>
#include <span>

#include "grammar_core/mask/word_kernels.h"

namespace maskd {

inline void OrInto(std::span<std::int32_t> into, std::span<const std::int32_t> words) {
  UsedWordKernels().or_into(into.data(), words.data(), words.size());
}
inline void AndInto(std::span<std::int32_t> into, std::span<const std::int32_t> words) {
  UsedWordKernels().and_into(into.data(), words.data(), words.size());
}
inline void AndNotInto(std::span<std::int32_t> into, std::span<const std::int32_t> words) {
  UsedWordKernels().and_not_into(into.data(), words.data(), words.size());
}
inline std::int64_t CountBits(std::span<const std::int32_t> words) {
  return UsedWordKernels().count_bits(words.data(), words.size());
}
inline bool AnyBit(std::span<const std::int32_t> words) {
  return UsedWordKernels().find_nonzero(words.data(), words.size()) < words.size();
}
// Equal words, equal hash; made for speed, not against an adversary.
std::uint64_t HashWords(std::span<const std::int32_t> words);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_BIT_WORDS_H_
