#include "grammar_core/base/char_set.h"

#include <algorithm>

namespace maskd {
namespace {

constexpr CharRange kSurrogates = {0xD800, 0xDFFF};

// Appends `range` without its surrogates.
void AppendScalar(CharRange range, std::vector<CharRange>* out) {
  if (range.lo < kSurrogates.lo && range.lo <= range.hi)
    out->push_back({range.lo, std::min(range.hi, kSurrogates.lo - 1)});
  const std::uint32_t lo = std::max(range.lo, kSurrogates.hi + 1);
  if (lo <= range.hi) out->push_back({lo, range.hi});
}

}  // namespace

CharSet::CharSet(std::vector<CharRange> ranges) {
  std::vector<CharRange> scalar;
  for (const CharRange& range : ranges) AppendScalar(range, &scalar);
  std::sort(scalar.begin(), scalar.end(),
            [](const CharRange& x, const CharRange& y) { return x.lo < y.lo; });
  for (const CharRange& range : scalar)
    if (!ranges_.empty() && range.lo <= ranges_.back().hi + 1)
      ranges_.back().hi = std::max(ranges_.back().hi, range.hi);
    else
      ranges_.push_back(range);
}

bool CharSet::Contains(std::uint32_t code_point) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), code_point,
                                      [](std::uint32_t c, const CharRange& r) { return c < r.lo; });
  return after != ranges_.begin() && code_point <= std::prev(after)->hi;
}

std::uint32_t CharSet::CountWithin(const CharRange& range) const {
  std::uint32_t count = 0;
  for (const CharRange& own : ranges_) {
    const std::uint32_t lo = std::max(own.lo, range.lo);
    const std::uint32_t hi = std::min(own.hi, range.hi);
    if (lo <= hi) count += hi - lo + 1;
  }
  return count;
}

CharSet CharSet::Complement() const {
  std::vector<CharRange> gaps;
  std::uint32_t next = 0;
  for (const CharRange& range : ranges_) {
    if (range.lo > next) gaps.push_back({next, range.lo - 1});
    next = range.hi + 1;
  }
  if (next <= kMaxCodePoint) gaps.push_back({next, kMaxCodePoint});
  return CharSet(std::move(gaps));
}

CharSet CharSet::Union(const CharSet& other) const {
  std::vector<CharRange> both = ranges_;
  both.insert(both.end(), other.ranges_.begin(), other.ranges_.end());
  return CharSet(std::move(both));
}

CharSet CharSet::Intersect(const CharSet& other) const {
  std::vector<CharRange> common;
  for (auto x = ranges_.begin(), y = other.ranges_.begin();
       x != ranges_.end() && y != other.ranges_.end();) {
    const std::uint32_t lo = std::max(x->lo, y->lo);
    const std::uint32_t hi = std::min(x->hi, y->hi);
    if (lo <= hi) common.push_back({lo, hi});
    if (x->hi < y->hi)
      ++x;
    else
      ++y;
  }
  return CharSet(std::move(common));
}

const CharSet& SpacesBeyondAscii() {
  static const CharSet* const spaces = new CharSet({{0x85, 0x85},
                                                    {0xA0, 0xA0},
                                                    {0x1680, 0x1680},
                                                    {0x2000, 0x200A},
                                                    {0x2028, 0x2029},
                                                    {0x202F, 0x202F},
                                                    {0x205F, 0x205F},
                                                    {0x3000, 0x3000},
                                                    {0xFEFF, 0xFEFF}});
  return *spaces;
}

}  // namespace maskd
