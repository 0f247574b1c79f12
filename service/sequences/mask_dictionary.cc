// Slots have their worth (GreedyDual): a mask is worth its bytes above floor_, and floor_ is the
// worth of the last one that gave way. So nothing is aged slot by slot, and a mask that is not used
// sinks as floor_ rises.
//
// The nearest mask is looked for among those with about as many allowed tokens: two masks differ in
// at least as many tokens as their counts do.
//
// Invariant  by_count_ has each slot in use once, with its mask's count.
// Cost       Put: a look at all slots. FindNearest: kMaxCandidates comparisons that stop early.
#include "service/sequences/mask_dictionary.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <span>
#include <utility>

namespace maskd::service {
namespace {

// How many words of `mask` are others in `words`; nothing when there are more than `max`.
std::optional<int> CountDifferences(const TokenMask& mask, std::span<const std::int32_t> words,
                                    int max) {
  int count = 0;
  const bool all =
      mask.VisitDifferences(words, [&](std::size_t, std::int32_t) { return ++count <= max; });
  return all ? std::optional<int>(count) : std::nullopt;
}

}  // namespace

MaskDictionary::Place MaskDictionary::Put(MaskRef mask, int allowed_count,
                                          std::int64_t cost_bytes) {
  const bool replaced = static_cast<int>(slots_.size()) == slot_count_;
  int at = static_cast<int>(slots_.size());
  if (replaced) {
    const auto least = std::ranges::min_element(slots_, {}, &Slot::worth);
    floor_ = least->worth;
    at = static_cast<int>(least - slots_.begin());
    by_count_.erase(std::ranges::lower_bound(by_count_, std::pair(least->allowed_count, at)));
    least->mask = std::move(mask);
    least->allowed_count = allowed_count;
    least->cost_bytes = cost_bytes;
    least->worth = floor_ + cost_bytes;
  } else {
    slots_.push_back(Slot{std::move(mask), allowed_count, cost_bytes, floor_ + cost_bytes});
  }
  const std::pair entry(allowed_count, at);
  by_count_.insert(std::ranges::lower_bound(by_count_, entry), entry);
  return {at, replaced};
}

void MaskDictionary::Touch(int slot) {
  Slot& used = slots_[static_cast<std::size_t>(slot)];
  used.worth = floor_ + used.cost_bytes;
}

absl::InlinedVector<int, MaskDictionary::kMaxCandidates> MaskDictionary::Candidates(
    int allowed_count) const {
  absl::InlinedVector<int, kMaxCandidates> candidates;
  auto above = std::ranges::lower_bound(by_count_, std::pair(allowed_count, 0));
  auto below = above;
  while (candidates.size() < kMaxCandidates &&
         (below != by_count_.begin() || above != by_count_.end())) {
    const bool upwards = below == by_count_.begin() ||
                         (above != by_count_.end() &&
                          above->first - allowed_count <= allowed_count - std::prev(below)->first);
    candidates.push_back(upwards ? (above++)->second : (--below)->second);
  }
  return candidates;
}

std::optional<MaskDelta> MaskDictionary::FindNearest(const TokenMask& mask, int allowed_count,
                                                     int max_words) const {
  int nearest = -1;
  // As words once: a compact mask would be unpacked for each comparison.
  const TokenMask copy(mask);
  const std::span<const std::int32_t> words = copy.words();
  for (const int slot : Candidates(allowed_count)) {
    const Slot& candidate = slots_[static_cast<std::size_t>(slot)];
    // A word holds no more differences than bits.
    if (std::abs(candidate.allowed_count - allowed_count) > max_words * kBitsPerWord) break;
    const auto count = CountDifferences(*candidate.mask, words, max_words);
    if (count.has_value()) {
      nearest = slot;
      max_words = *count - 1;
    }
  }
  if (nearest < 0) return std::nullopt;
  MaskDelta delta{nearest, {}, {}};
  slots_[static_cast<std::size_t>(nearest)].mask->VisitDifferences(
      words, [&](std::size_t i, std::int32_t) {
        delta.word_indices.push_back(static_cast<std::uint32_t>(i));
        delta.words.push_back(static_cast<std::uint32_t>(words[i]));
        return true;
      });
  return delta;
}

}  // namespace maskd::service
