// Takes 64 bytes at a time, and makes words of which bit i speaks of byte i: which are quotes,
// backslashes and brackets. A byte is within a string where an odd number of quotes stand before
// it, those behind a backslash aside; that is a running sum of bits. Only brackets that are in no
// string are looked at one by one.
//
// Cost    some 100 instructions for 64 bytes, and a few for each bracket.
// Source  Langdale and Lemire, "Parsing Gigabytes of JSON per Second" (2019).
#include "grammar_core/frontend/json/bracket_end.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace maskd::json_internal {
namespace {

constexpr std::size_t kBlockBytes = 64;

struct Marks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;
  std::uint64_t closes = 0;
};

// '[' and ']' are '{' and '}' less this bit.
constexpr char kCurly = 0x20;

#ifdef __SSE2__
Marks MarksOf(const char* block) {
  Marks marks;
  for (std::size_t at = 0; at < kBlockBytes; at += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at));
    const auto where = [at](__m128i text, char c) {
      const int same = _mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8(c)));
      return std::uint64_t{static_cast<std::uint32_t>(same)} << at;
    };
    const __m128i curly = _mm_or_si128(bytes, _mm_set1_epi8(kCurly));
    marks.quotes |= where(bytes, '"');
    marks.backslashes |= where(bytes, '\\');
    marks.opens |= where(curly, '{');
    marks.closes |= where(curly, '}');
  }
  return marks;
}
#else
Marks MarksOf(const char* block) {
  Marks marks;
  for (std::size_t at = 0; at < kBlockBytes; ++at) {
    const auto curly = static_cast<char>(block[at] | kCurly);
    marks.quotes |= std::uint64_t{block[at] == '"'} << at;
    marks.backslashes |= std::uint64_t{block[at] == '\\'} << at;
    marks.opens |= std::uint64_t{curly == '{'} << at;
    marks.closes |= std::uint64_t{curly == '}'} << at;
  }
  return marks;
}
#endif

// The bytes behind a backslash that is not itself escaped. `carry`: whether the first of the block
// is one; then that of the next block.
std::uint64_t Escaped(std::uint64_t backslashes, bool* carry) {
  std::uint64_t escaped = *carry ? 1 : 0;
  backslashes &= ~escaped;
  *carry = false;
  while (backslashes != 0) {
    const std::uint64_t first = backslashes & (0 - backslashes);
    *carry = first << 1 == 0;
    escaped |= first << 1;
    backslashes &= ~(first | first << 1);
  }
  return escaped;
}

// Bit i is the parity of bits 0 to i.
std::uint64_t RunningParity(std::uint64_t bits) {
  for (unsigned shift = 1; shift < kBlockBytes; shift *= 2) bits ^= bits << shift;
  return bits;
}

}  // namespace

std::optional<Bracketed> FindBracketEnd(absl::string_view text) {
  assert(!text.empty() && (text[0] == '{' || text[0] == '['));
  std::array<char, kBlockBytes> last = {};
  std::uint64_t in_string = 0;  // of the byte before, in all bits
  bool escapes = false;
  std::int64_t depth = 0;
  std::int64_t deepest = 0;
  for (std::size_t begin = 0; begin < text.size(); begin += kBlockBytes) {
    const char* block = text.data() + begin;
    if (text.size() - begin < kBlockBytes) {
      std::memcpy(last.data(), block, text.size() - begin);
      block = last.data();
    }
    const Marks marks = MarksOf(block);
    const std::uint64_t quotes = marks.quotes & ~Escaped(marks.backslashes, &escapes);
    const std::uint64_t within = RunningParity(quotes) ^ in_string;
    in_string = 0 - (within >> (kBlockBytes - 1));
    std::uint64_t brackets = (marks.opens | marks.closes) & ~within;
    for (; brackets != 0; brackets &= brackets - 1)
      if ((marks.opens & brackets & (0 - brackets)) != 0)
        deepest = std::max(deepest, ++depth);
      else if (--depth == 0)
        return Bracketed{begin + static_cast<std::size_t>(std::countr_zero(brackets)) + 1, deepest};
  }
  return std::nullopt;
}

}  // namespace maskd::json_internal
