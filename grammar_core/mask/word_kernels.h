// Variants of the loops over packed words, and the one in use.
//
// Meaning  every variant gives, bit for bit, what the portable one gives, for any number of words
//          at any address that is aligned to a word; `into` may be `words`, and not overlap it
//          otherwise.
// Choice   the best variant of this processor, unless UseWordKernels() names another.
// Threads  the kernels are pure functions; the choice is made before other threads use masks.
#ifndef MASKD_GRAMMAR_CORE_MASK_WORD_KERNELS_H_
#define MASKD_GRAMMAR_CORE_MASK_WORD_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace maskd {

using WordsIntoWords = void (*)(std::int32_t* into, const std::int32_t* words, std::size_t count);

// One variant: its loops, all of the same instruction set.
struct WordKernels {
  absl::string_view level;  // see cpu/level.h
  WordsIntoWords or_into;
  WordsIntoWords and_into;
  WordsIntoWords and_not_into;  // into &= ~words
  // Bits that are 1.
  std::int64_t (*count_bits)(const std::int32_t* words, std::size_t count);
  // The first word that is not 0; `count` if there is none.
  std::size_t (*find_nonzero)(const std::int32_t* words, std::size_t count);
  // Which words are others in `others`, a bit for each; `count` is 64 at most.
  std::uint64_t (*differences)(const std::int32_t* words, const std::int32_t* others,
                               std::size_t count);
};

// All variants of this build, best first.
std::span<const WordKernels* const> AllWordKernels();

// Those in use.
const WordKernels& UsedWordKernels();

// Uses the variant of that name from now on, or for "auto" the best one. Errors: INVALID_ARGUMENT
// (no such variant), UNIMPLEMENTED (not on this processor); both list what there is.
absl::Status UseWordKernels(absl::string_view level);

extern const WordKernels kPortableWordKernels;
#if defined(__x86_64__)
extern const WordKernels kAvx2WordKernels;
extern const WordKernels kAvx512WordKernels;
#elif defined(__aarch64__)
extern const WordKernels kNeonWordKernels;
#endif

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_WORD_KERNELS_H_
