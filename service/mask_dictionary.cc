#include "service/mask_dictionary.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

namespace maskd::service {
namespace {

using Words = std::span<const std::int32_t>;

// Words compared at once: most blocks of two near masks are equal, and memcmp is fast.
constexpr std::size_t kBlockWords = 64;

// Calls visit(index) for each word that differs, until it returns false.
template <typename Visit>
bool VisitDifferences(Words a, Words b, Visit visit) {
  for (std::size_t begin = 0; begin < a.size(); begin += kBlockWords) {
    const std::size_t count = std::min(kBlockWords, a.size() - begin);
    if (std::memcmp(&a[begin], &b[begin], count * sizeof(a[0])) == 0) continue;
    for (std::size_t i = begin; i < begin + count; ++i) {
      if (a[i] != b[i] && !visit(i)) return false;
    }
  }
  return true;
}

// Candidates compared at most: the ones after them hardly ever are nearer.
constexpr std::size_t kMaxCandidates = 16;

// How many words differ; nothing when there are more than `max`.
std::optional<int> CountDifferences(Words a, Words b, int max) {
  int count = 0;
  const bool all = VisitDifferences(a, b, [&](std::size_t) { return ++count <= max; });
  return all ? std::optional<int>(count) : std::nullopt;
}

}  // namespace

MaskDictionary::Place MaskDictionary::Put(const TokenMask& mask, std::int64_t cost_bytes) {
  if (static_cast<int>(slots_.size()) < slot_count_) {
    slots_.push_back(Slot{mask, mask.CountAllowed(), cost_bytes, floor_ + cost_bytes});
    return {static_cast<int>(slots_.size()) - 1, false};
  }
  const auto least = std::ranges::min_element(slots_, {}, &Slot::worth);
  floor_ = least->worth;
  *least = Slot{mask, mask.CountAllowed(), cost_bytes, floor_ + cost_bytes};
  return {static_cast<int>(least - slots_.begin()), true};
}

void MaskDictionary::Touch(int slot) {
  Slot& used = slots_[static_cast<std::size_t>(slot)];
  used.worth = floor_ + used.cost_bytes;
}

std::vector<int> MaskDictionary::Candidates(int allowed_count) const {
  std::vector<int> candidates(slots_.size());
  std::iota(candidates.begin(), candidates.end(), 0);
  const auto distance = [&](int slot) {
    return std::abs(slots_[static_cast<std::size_t>(slot)].allowed_count - allowed_count);
  };
  const std::size_t count = std::min(kMaxCandidates, candidates.size());
  std::ranges::partial_sort(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(count), {},
                            distance);
  candidates.resize(count);
  return candidates;
}

std::optional<MaskDelta> MaskDictionary::FindNearest(const TokenMask& mask, int max_words) const {
  const int allowed_count = mask.CountAllowed();
  int nearest = -1;
  for (const int slot : Candidates(allowed_count)) {
    const Slot& candidate = slots_[static_cast<std::size_t>(slot)];
    // A word holds no more differences than bits.
    if (std::abs(candidate.allowed_count - allowed_count) > max_words * kBitsPerWord) break;
    const Words known = candidate.mask.words();
    if (const auto count = CountDifferences(mask.words(), known, max_words); count.has_value()) {
      nearest = slot;
      max_words = *count - 1;
    }
  }
  if (nearest < 0) return std::nullopt;
  MaskDelta delta{nearest, {}, {}};
  const Words words = mask.words();
  VisitDifferences(words, slots_[static_cast<std::size_t>(nearest)].mask.words(),
                   [&](std::size_t i) {
                     delta.word_indices.push_back(static_cast<std::uint32_t>(i));
                     delta.words.push_back(static_cast<std::uint32_t>(words[i]));
                     return true;
                   });
  return delta;
}

}  // namespace maskd::service
