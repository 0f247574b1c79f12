// A set of Unicode code points (U+0000 to U+10FFFF without the surrogates), as sorted ranges.
//
// Layout   ranges ascend, do not touch, and hold no surrogate; so equal sets have equal ranges.
// Threads  a plain value.
#ifndef MASKD_GRAMMAR_CORE_BASE_CHAR_SET_H_
#define MASKD_GRAMMAR_CORE_BASE_CHAR_SET_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace maskd {

// First and last code point, both included.
struct CharRange {
  std::uint32_t lo;
  std::uint32_t hi;
  bool operator==(const CharRange&) const = default;
};

inline constexpr std::uint32_t kMaxCodePoint = 0x10FFFF;

// Each operation gives a new set, in time linear in the ranges of both.
class CharSet {
 public:
  // The empty set.
  CharSet() = default;
  // The union of `ranges`, in any order, overlapping or not; surrogates are dropped.
  explicit CharSet(std::vector<CharRange> ranges);

  // Every character, and a set of one. A surrogate is in none, so One() of it is empty.
  static CharSet All() { return CharSet({{0, kMaxCodePoint}}); }
  static CharSet One(std::uint32_t code_point) { return CharSet({{code_point, code_point}}); }

  // In the layout above. Contains() is a binary search of them.
  [[nodiscard]] const std::vector<CharRange>& ranges() const { return ranges_; }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] bool Contains(std::uint32_t code_point) const;
  // How many code points of the set are in `range`.
  [[nodiscard]] std::uint32_t CountWithin(const CharRange& range) const;

  // Within all characters, so a surrogate is in no complement either.
  [[nodiscard]] CharSet Complement() const;
  [[nodiscard]] CharSet Union(const CharSet& other) const;
  [[nodiscard]] CharSet Intersect(const CharSet& other) const;

  bool operator==(const CharSet&) const = default;

 private:
  std::vector<CharRange> ranges_;
};

// White space and ends of lines beyond ASCII, as any dialect of regular expressions has them: of
// all characters beyond ASCII those that `.` and `\S` leave out.
const CharSet& SpacesBeyondAscii();

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_CHAR_SET_H_
