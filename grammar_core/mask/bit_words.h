// Loops over packed words, in a file of their own so that the compiler vectorises them.
//
// Layout   words as in TokenMask. Both spans of a call have the same length.
#ifndef MASKD_GRAMMAR_CORE_MASK_BIT_WORDS_H_
#define MASKD_GRAMMAR_CORE_MASK_BIT_WORDS_H_

#include <cstdint>
#include <span>

namespace maskd {

void OrInto(std::span<std::int32_t> into, std::span<const std::int32_t> words);
void AndInto(std::span<std::int32_t> into, std::span<const std::int32_t> words);
void AndNotInto(std::span<std::int32_t> into, std::span<const std::int32_t> words);
std::int64_t CountBits(std::span<const std::int32_t> words);
// Equal words, equal hash; made for speed, not against an adversary.
std::uint64_t HashWords(std::span<const std::int32_t> words);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_BIT_WORDS_H_
