// A decoder of one character, as a table-free automaton whose state is 27 bits: how many bytes or
// hexadecimal digits are read, and their value. What a state may still become is at most three
// ranges of characters, so it can be compared with the edges of a term.
//
// Invariant  a state that is returned can become at least one character.
// Cost       a step looks at the byte and at most three ranges; nothing is kept between steps.
// Example    JSON, `\ud83d\ude00`: behind `\ud8` the character is one of U+10000..U+4FFFF, as only
//            a high surrogate begins so; behind `\ud83d` one of U+1F400..U+1F7FF; then U+1F600.
#include "grammar_core/terms/encoding.h"

#include <algorithm>

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

constexpr int kContinuationBits = 6;
constexpr int kHexBits = 4;
constexpr int kHexDigits = 4;
constexpr std::uint32_t kHighFirst = 0xD800;
constexpr std::uint32_t kLowFirst = 0xDC00;
constexpr std::uint32_t kLowLast = 0xDFFF;
constexpr std::uint32_t kAstralFirst = 0x10000;
constexpr int kHalfBits = 10;
constexpr std::uint32_t kHalfMask = (1U << kHalfBits) - 1;

// The smallest and largest character that a UTF-8 sequence of each size can spell.
constexpr CharRange kUtf8Range[] = {{}, {}, {0x80, 0x7FF}, {0x800, 0xFFFF}, {0x10000, 0x10FFFF}};

// The value of a phase, by its fields. Equal progress must give equal numbers, as they are a part
// of the term's identity.
struct Utf8Value {
  std::uint32_t size, left, bits;
};
Utf8Value UnpackUtf8(std::uint32_t value) {
  return {value >> 24, (value >> 22) & 3, value & 0x3FFFFF};
}
std::uint32_t PackUtf8(const Utf8Value& v) { return v.size << 24 | v.left << 22 | v.bits; }

struct DigitsValue {
  std::uint32_t digits, bits;
};
DigitsValue UnpackHex(std::uint32_t value) { return {value >> 16, value & 0xFFFF}; }
std::uint32_t PackHex(const DigitsValue& v) { return v.digits << 16 | v.bits; }

struct LowValue {
  std::uint32_t digits, high, low;
};
LowValue UnpackLow(std::uint32_t value) {
  return {value >> 24, (value >> 14) & kHalfMask, value & 0x3FFF};
}
std::uint32_t PackLow(const LowValue& v) { return v.digits << 24 | v.high << 14 | v.low; }

// The control characters that have no escape of two characters, and the characters that JSON has
// escaped: what an escape of a serializer may be.
constexpr CharRange kLongEscaped[] = {{0x00, 0x07}, {0x0B, 0x0B}, {0x0E, 0x1F}};
constexpr CharRange kEscaped[] = {{0x00, 0x1F}, {'"', '"'}, {'\\', '\\'}};

// A canonical serializer writes lower-case digits alone, so there `\u001F` is refused.
int HexDigit(const PartialChar& partial, unsigned char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const bool any_case = partial.spelling != Spelling::kCanonicalJson;
  const unsigned char lower = any_case ? byte | 0x20 : byte;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The character of a two-character escape, or nothing.
std::optional<std::uint32_t> ShortEscape(const PartialChar& partial, unsigned char byte) {
  switch (byte) {
    case '/':
      if (partial.spelling == Spelling::kCanonicalJson) return std::nullopt;
      return byte;
    case '"':
    case '\\':
      return byte;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return std::nullopt;
  }
}

CharStep Character(std::uint32_t character) {
  return {CharStep::Result::kCharacter, {}, character};
}

// Keeps the invariant: a state that no character completes is refused here, at once, and not at the
// byte at which the text would be stuck. Behind a backslash there is always a character.
CharStep Partial(const PartialChar& from, CharPhase phase, std::uint32_t value) {
  const PartialChar next = {from.spelling, phase, value};
  if (phase != CharPhase::kEscape && CompletionsOf(next).count == 0) return {};
  return {CharStep::Result::kPartial, next, 0};
}

// In UTF-8 any byte below 0x80 is a character. In a JSON string a quote ends the string, and
// control characters must be escaped.
CharStep StepStart(const PartialChar& partial, unsigned char byte) {
  if (byte < 0x80) {
    if (partial.spelling == Spelling::kUtf8) return Character(byte);
    if (byte == '\\') return Partial(partial, CharPhase::kEscape, 0);
    return byte < 0x20 || byte == '"' ? CharStep{} : Character(byte);
  }
  const auto size = static_cast<std::uint32_t>(Utf8SequenceBytes(byte));
  if (size == 0) return {};
  const std::uint32_t bits = byte & (0x7FU >> size);
  return Partial(partial, CharPhase::kUtf8, PackUtf8({size, size - 1, bits}));
}

// E0 80 and ED A0 are refused at their second byte: the first could only go on to a spelling that
// is too long, the second to a surrogate.
CharStep StepUtf8(const PartialChar& partial, unsigned char byte) {
  Utf8Value value = UnpackUtf8(partial.value);
  if ((byte & 0xC0) != 0x80) return {};
  value.bits = value.bits << kContinuationBits | (byte & 0x3FU);
  value.left -= 1;
  const CharStep next = Partial(partial, CharPhase::kUtf8, PackUtf8(value));
  if (value.left > 0 || next.result == CharStep::Result::kRefused) return next;
  return Character(value.bits);
}

CharStep StepEscape(const PartialChar& partial, unsigned char byte) {
  if (byte == 'u') return Partial(partial, CharPhase::kHex, PackHex({0, 0}));
  const std::optional<std::uint32_t> character = ShortEscape(partial, byte);
  return character.has_value() ? Character(*character) : CharStep{};
}

CharStep StepHex(const PartialChar& partial, unsigned char byte) {
  const int digit = HexDigit(partial, byte);
  if (digit < 0) return {};
  DigitsValue value = UnpackHex(partial.value);
  value.bits = value.bits << kHexBits | static_cast<std::uint32_t>(digit);
  value.digits += 1;
  const CharStep next = Partial(partial, CharPhase::kHex, PackHex(value));
  if (value.digits < kHexDigits || next.result == CharStep::Result::kRefused) return next;
  // Four digits are a character, or a high surrogate, which waits for its low one. A low surrogate
  // that comes first has no partner.
  if (value.bits < kHighFirst || value.bits > kLowLast) return Character(value.bits);
  if (value.bits >= kLowFirst) return {};
  return Partial(partial, CharPhase::kLowBackslash, PackLow({0, value.bits & kHalfMask, 0}));
}

// The two halves give 10 bits each: U+10000 + (high << 10 | low).
CharStep StepLowHex(const PartialChar& partial, unsigned char byte) {
  const int digit = HexDigit(partial, byte);
  if (digit < 0) return {};
  LowValue value = UnpackLow(partial.value);
  const auto bits = value.low << kHexBits | static_cast<std::uint32_t>(digit);
  value.digits += 1;
  if (value.digits == kHexDigits) {
    const std::uint32_t low = bits & kHalfMask;
    return Character(kAstralFirst + (value.high << kHalfBits | low));
  }
  value.low = bits;
  return Partial(partial, CharPhase::kLowHex, PackLow(value));
}

// Adds the part of `range` that lies within [lo, hi].
void AddWithin(CharRange range, std::uint32_t lo, std::uint32_t hi, Completions* out) {
  range.lo = std::max(range.lo, lo);
  range.hi = std::min(range.hi, hi);
  if (range.lo <= range.hi) out->ranges[out->count++] = range;
}

// The bits read are the upper ones, so the rest ranges over a block. Of that go what a shorter
// sequence spells (overlong) and the surrogates, as RFC 3629 has it.
Completions Utf8Completions(std::uint32_t packed) {
  const Utf8Value value = UnpackUtf8(packed);
  const int bits = kContinuationBits * static_cast<int>(value.left);
  const CharRange all = {value.bits << bits, ((value.bits + 1) << bits) - 1};
  const CharRange valid = kUtf8Range[value.size];
  Completions out;
  AddWithin(all, valid.lo, std::min(valid.hi, kHighFirst - 1), &out);
  AddWithin(all, std::max(valid.lo, kLowLast + 1), valid.hi, &out);
  if (out.count == 1 && out.ranges[0] == all) out.free_units = static_cast<int>(value.left);
  return out;
}

Completions HexCompletions(const PartialChar& partial) {
  const DigitsValue value = UnpackHex(partial.value);
  const int left = kHexDigits - static_cast<int>(value.digits);
  const CharRange all = {value.bits << (left * kHexBits),
                         ((value.bits + 1) << (left * kHexBits)) - 1};
  Completions out;
  // A serializer writes digits only for control characters that have no short escape.
  if (partial.spelling == Spelling::kCanonicalJson) {
    for (const CharRange& range : kLongEscaped) AddWithin(range, all.lo, all.hi, &out);
    return out;
  }
  // Far from the surrogates every digit that may still come is right.
  if (all.hi < kHighFirst || all.lo > kLowLast) {
    AddWithin(all, 0, kMaxCodePoint, &out);
    out.free_units = left;
    return out;
  }
  // Some digits lead to a high surrogate, and so to a character beyond U+FFFF.
  AddWithin(all, 0, kHighFirst - 1, &out);
  const std::uint32_t first = std::max(all.lo, kHighFirst);
  const std::uint32_t last = std::min(all.hi, kLowFirst - 1);
  if (first <= last) {
    const auto astral = [](std::uint32_t high) {
      return kAstralFirst + ((high & kHalfMask) << kHalfBits);
    };
    AddWithin({astral(first), astral(last) + kHalfMask}, kAstralFirst, kMaxCodePoint, &out);
  }
  AddWithin(all, kLowLast + 1, 0xFFFF, &out);
  return out;
}

// The high half is fixed, so at most its 1024 characters are left; digits of the low half narrow
// them further.
Completions LowCompletions(const PartialChar& partial) {
  const LowValue value = UnpackLow(partial.value);
  const std::uint32_t base = kAstralFirst + (value.high << kHalfBits);
  Completions out;
  if (partial.phase != CharPhase::kLowHex) {
    AddWithin({base, base + kHalfMask}, kAstralFirst, kMaxCodePoint, &out);
    return out;
  }
  const int bits = kHexBits * (kHexDigits - static_cast<int>(value.digits));
  const CharRange low = {value.low << bits, ((value.low + 1) << bits) - 1};
  const std::uint32_t first = std::max(low.lo, kLowFirst);
  const std::uint32_t last = std::min(low.hi, kLowLast);
  if (first <= last) {
    AddWithin({base + (first & kHalfMask), base + (last & kHalfMask)}, base, base + kHalfMask,
              &out);
  }
  return out;
}

}  // namespace

CharStep StepChar(const PartialChar& partial, unsigned char byte) {
  const LowValue low = UnpackLow(partial.value);
  switch (partial.phase) {
    case CharPhase::kStart:
      return StepStart(partial, byte);
    case CharPhase::kUtf8:
      return StepUtf8(partial, byte);
    case CharPhase::kEscape:
      return StepEscape(partial, byte);
    case CharPhase::kHex:
      return StepHex(partial, byte);
    case CharPhase::kLowBackslash:
      return byte == '\\' ? Partial(partial, CharPhase::kLowU, PackLow(low)) : CharStep{};
    case CharPhase::kLowU:
      return byte == 'u' ? Partial(partial, CharPhase::kLowHex, PackLow(low)) : CharStep{};
    case CharPhase::kLowHex:
      return StepLowHex(partial, byte);
  }
  return {};
}

Completions CompletionsOf(const PartialChar& partial) {
  switch (partial.phase) {
    case CharPhase::kUtf8:
      return Utf8Completions(partial.value);
    case CharPhase::kHex:
      return HexCompletions(partial);
    case CharPhase::kStart:
    case CharPhase::kEscape: {
      Completions all;
      if (partial.spelling == Spelling::kCanonicalJson && partial.phase == CharPhase::kEscape)
        for (const CharRange& range : kEscaped) all.ranges[all.count++] = range;
      else
        all.ranges[all.count++] = {0, kMaxCodePoint};
      return all;
    }
    default:
      return LowCompletions(partial);
  }
}

std::uint32_t MinBytesLeft(const PartialChar& partial, Measure measure) {
  constexpr std::uint32_t kBackslashAndU = 2;
  switch (partial.phase) {
    case CharPhase::kStart:
      return 0;
    case CharPhase::kUtf8:
      return measure == Measure::kCharacters ? 0 : UnpackUtf8(partial.value).left;
    case CharPhase::kEscape:
      return 1;
    case CharPhase::kHex: {
      const DigitsValue value = UnpackHex(partial.value);
      const std::uint32_t left = kHexDigits - value.digits;
      // Two digits, such as d8, may be enough to know that a second escape must follow.
      const bool is_high = value.digits > 1 && CompletionsOf(partial).ranges[0].lo >= kAstralFirst;
      return is_high ? left + kBackslashAndU + kHexDigits : left;
    }
    case CharPhase::kLowBackslash:
      return kBackslashAndU + kHexDigits;
    case CharPhase::kLowU:
      return 1 + kHexDigits;
    case CharPhase::kLowHex:
      return kHexDigits - UnpackLow(partial.value).digits;
  }
  return 0;
}

}  // namespace maskd
