#include "grammar_core/derivatives/class_sets.h"

#include <array>
#include <bit>
#include <cassert>

#include "absl/hash/hash.h"

namespace maskd {
namespace {

constexpr int kBitsPerWord = 64;
// In the order of the classes.
using Words = std::array<std::uint64_t, ClassSet().size() / kBitsPerWord>;

}  // namespace

ClassSets::ClassSets(int classes)
    : words_per_set_(
          std::bit_ceil((static_cast<std::uint32_t>(classes) + kBitsPerWord - 1) / kBitsPerWord)) {
  assert(words_per_set_ <= Words().size());
}

std::uint32_t ClassSets::Keep(const ClassSet& set) {
  const auto [known, hash] = numbers_.Find(set);
  if (known != IndexTable<ByBits>::kNone) return known;
  const std::uint32_t number = numbers_.size();
  const auto words = std::bit_cast<Words>(set);
  for (std::uint32_t i = 0; i < words_per_set_; ++i) words_.Append() = words[i];
  assert(this->set(number) == set && "a class that the grammar does not have");
  numbers_.Add(hash);
  return number;
}

ClassSet ClassSets::set(std::uint32_t number) const {
  Words all = {};
  for (std::uint32_t i = 0; i < words_per_set_; ++i) all[i] = words(number)[i];
  return std::bit_cast<ClassSet>(all);
}

std::size_t ClassSets::ByBits::operator()(const ClassSet& set) const {
  return absl::HashOf(std::bit_cast<Words>(set));
}

}  // namespace maskd
