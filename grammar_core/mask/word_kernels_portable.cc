// The kernels for any processor, and those that the others are compared with.
#include <bit>

#include "grammar_core/mask/word_kernels.h"

namespace maskd {
namespace {

void OrInto(std::int32_t* into, const std::int32_t* words, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) into[i] |= words[i];
}

void AndInto(std::int32_t* into, const std::int32_t* words, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) into[i] &= words[i];
}

void AndNotInto(std::int32_t* into, const std::int32_t* words, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) into[i] &= ~words[i];
}

std::int64_t CountBits(const std::int32_t* words, std::size_t count) {
  std::int64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i)
    bits += std::popcount(static_cast<std::uint32_t>(words[i]));
  return bits;
}

std::size_t FindNonzero(const std::int32_t* words, std::size_t count) {
  std::size_t i = 0;
  while (i < count && words[i] == 0) ++i;
  return i;
}

std::uint64_t Differences(const std::int32_t* words, const std::int32_t* others,
                          std::size_t count) {
  std::uint64_t different = 0;
  for (std::size_t i = 0; i < count; ++i)
    different |= std::uint64_t{words[i] != others[i] ? 1U : 0U} << i;
  return different;
}

}  // namespace

constinit const WordKernels kPortableWordKernels = {
    "portable", &OrInto, &AndInto, &AndNotInto, &CountBits, &FindNonzero, &Differences};

}  // namespace maskd
