#include "tests/oracle/spelled_characters.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "nlohmann/json.hpp"

namespace maskd {
namespace {

// What a raw character of a JSON string must not be.
const CharSet& OnlyEscaped() {
  static const CharSet* const kSet = new CharSet({{0, 0x1F}, {'"', '"'}, {'\\', '\\'}});
  return *kSet;
}

struct ShortEscape {
  char letter;
  std::uint32_t code_point;
};
constexpr ShortEscape kShortEscapes[] = {{'"', '"'}, {'\\', '\\'}, {'/', '/'}, {'b', 0x8},
                                         {'f', 0xC}, {'n', 0xA},   {'r', 0xD}, {'t', 0x9}};

// The forms of UTF-8: how many bytes, the lead bytes, and the code points that need the form.
struct Utf8Form {
  int bytes;
  std::uint32_t lead_lo, lead_hi;
  std::uint32_t lo, hi;
};
constexpr Utf8Form kUtf8Forms[] = {{1, 0x00, 0x7F, 0x0, 0x7F},
                                   {2, 0xC0, 0xDF, 0x80, 0x7FF},
                                   {3, 0xE0, 0xEF, 0x800, 0xFFFF},
                                   {4, 0xF0, 0xF7, 0x10000, kMaxCodePoint}};

const Utf8Form* FormOf(unsigned char lead) {
  for (const Utf8Form& form : kUtf8Forms)
    if (lead >= form.lead_lo && lead <= form.lead_hi) return &form;
  return nullptr;
}

// The part of [lo, hi] that is in [from, to], surrogates left out.
CharSet Between(std::uint32_t lo, std::uint32_t hi, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t first = std::max(lo, from);
  const std::uint32_t last = std::min(hi, to);
  return first > last ? CharSet() : CharSet({{first, last}});
}

// Six unknown bits for each byte that is still to come: all 0 and all 1 bound what can come.
CharSet BeginningInUtf8(absl::string_view bytes) {
  if (bytes.empty()) return CharSet::All();
  const Utf8Form* form = FormOf(static_cast<unsigned char>(bytes[0]));
  if (form == nullptr || static_cast<int>(bytes.size()) > form->bytes) return CharSet();
  std::uint32_t lo = static_cast<unsigned char>(bytes[0]) - form->lead_lo;
  std::uint32_t hi = lo;
  for (int i = 1; i < form->bytes; ++i) {
    const bool known = i < static_cast<int>(bytes.size());
    const auto byte = known ? static_cast<unsigned char>(bytes[i]) : 0U;
    if (known && (byte & 0xC0U) != 0x80U) return CharSet();
    lo = (lo << 6U) | (known ? byte & 0x3FU : 0U);
    hi = (hi << 6U) | (known ? byte & 0x3FU : 0x3FU);
  }
  return Between(lo, hi, form->lo, form->hi);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The code units that "\u" and these digits, at most four, can still become; none: not hexadecimal.
std::optional<CharRange> UnitsBeginning(absl::string_view digits) {
  CharRange units = {0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    const bool known = i < digits.size();
    const int digit = known ? HexDigit(digits[i]) : 0;
    if (digit < 0) return std::nullopt;
    units.lo = units.lo * 16 + static_cast<std::uint32_t>(known ? digit : 0);
    units.hi = units.hi * 16 + static_cast<std::uint32_t>(known ? digit : 15);
  }
  return units;
}

constexpr CharRange kHighHalves = {0xD800, 0xDBFF};
constexpr CharRange kLowHalves = {0xDC00, 0xDFFF};
// Of "\uXXXX", and where the digits begin in it.
constexpr std::size_t kUnitBytes = 6;
constexpr std::size_t kDigitsAt = 2;

// Behind the whole high half `high`, the bytes of the low half's escape.
CharSet BeginningWithHighHalf(std::uint32_t high, absl::string_view low_bytes) {
  const absl::string_view head = absl::string_view("\\u").substr(0, low_bytes.size());
  if (low_bytes.substr(0, head.size()) != head || low_bytes.size() > kUnitBytes) return CharSet();
  const auto low = UnitsBeginning(low_bytes.size() > kDigitsAt ? low_bytes.substr(kDigitsAt) : "");
  if (!low.has_value()) return CharSet();
  const std::uint32_t first = std::max(low->lo, kLowHalves.lo);
  const std::uint32_t last = std::min(low->hi, kLowHalves.hi);
  if (first > last) return CharSet();
  const std::uint32_t base = 0x10000 + (high - kHighHalves.lo) * 0x400;
  return CharSet({{base + first - kLowHalves.lo, base + last - kLowHalves.lo}});
}

// `bytes` begins with "\u".
CharSet BeginningInUnicodeEscape(absl::string_view bytes) {
  const auto units = UnitsBeginning(bytes.substr(kDigitsAt, 4));
  if (!units.has_value()) return CharSet();
  if (bytes.size() > kUnitBytes) {
    if (units->lo < kHighHalves.lo || units->lo > kHighHalves.hi) return CharSet();
    return BeginningWithHighHalf(units->lo, bytes.substr(kUnitBytes));
  }
  // A CharSet holds no surrogates: what is left are the units that stand for themselves.
  CharSet possible({*units});
  const std::uint32_t first = std::max(units->lo, kHighHalves.lo);
  const std::uint32_t last = std::min(units->hi, kHighHalves.hi);
  if (first > last) return possible;
  return possible.Union(CharSet({{0x10000 + (first - kHighHalves.lo) * 0x400,
                                  0x10000 + (last - kHighHalves.lo) * 0x400 + 0x3FF}}));
}

CharSet BeginningInJson(absl::string_view bytes) {
  // Every character can be written as "\uXXXX" or as a pair of them.
  if (bytes.empty() || bytes == "\\") return CharSet::All();
  if (bytes[0] != '\\') return BeginningInUtf8(bytes).Intersect(OnlyEscaped().Complement());
  if (bytes[1] == 'u') return BeginningInUnicodeEscape(bytes);
  for (const ShortEscape& escape : kShortEscapes)
    if (bytes.size() == 2 && bytes[1] == escape.letter) return CharSet::One(escape.code_point);
  return CharSet();
}

// What nlohmann::json writes for each ASCII character, without the quotes.
const std::array<std::string, 0x80>& WrittenAscii() {
  static const auto* const kWritten = [] {
    auto* const written = new std::array<std::string, 0x80>;
    for (std::size_t c = 0; c < written->size(); ++c) {
      const std::string text = nlohmann::json(std::string(1, static_cast<char>(c))).dump();
      (*written)[c] = text.substr(1, text.size() - 2);
    }
    return written;
  }();
  return *kWritten;
}

CharSet BeginningAsWritten(absl::string_view bytes) {
  if (bytes.empty()) return CharSet::All();
  if (bytes[0] != '\\') return BeginningInJson(bytes);
  std::vector<CharRange> escaped;
  for (std::uint32_t c = 0; c < WrittenAscii().size(); ++c)
    if (absl::StartsWith(WrittenAscii()[c], bytes)) escaped.push_back({c, c});
  return CharSet(escaped);
}

// Whether a spelling is over after `bytes`, given that it exists.
bool IsWhole(absl::string_view bytes, Spelling spelling) {
  if (bytes.empty()) return false;
  if (spelling == Spelling::kUtf8 || bytes[0] != '\\')
    return static_cast<int>(bytes.size()) == FormOf(static_cast<unsigned char>(bytes[0]))->bytes;
  if (bytes.size() < 2) return false;
  if (bytes[1] != 'u') return true;
  if (bytes.size() < kUnitBytes) return false;
  const CharRange unit = *UnitsBeginning(bytes.substr(kDigitsAt, 4));
  const bool high = unit.lo >= kHighHalves.lo && unit.lo <= kHighHalves.hi;
  return bytes.size() == (high ? 2 * kUnitBytes : kUnitBytes);
}

}  // namespace

CharSet CharactersBeginning(absl::string_view bytes, Spelling spelling) {
  switch (spelling) {
    case Spelling::kUtf8:
      return BeginningInUtf8(bytes);
    case Spelling::kJsonString:
      return BeginningInJson(bytes);
    case Spelling::kCanonicalJson:
      return BeginningAsWritten(bytes);
  }
  return CharSet();
}

std::optional<std::uint32_t> SpelledCharacter(absl::string_view bytes, Spelling spelling) {
  const CharSet possible = CharactersBeginning(bytes, spelling);
  if (possible.empty() || !IsWhole(bytes, spelling)) return std::nullopt;
  return possible.ranges().front().lo;
}

}  // namespace maskd
