#include "grammar_core/ir/facts/measure.h"

#include <string>

#include "gtest/gtest.h"

namespace maskd {
namespace {

const std::string kText = "a\xc3\xa9\xe2\x82\xac";  // a, e with an acute accent, the euro sign

ByteBits Bits(int lo, int hi) {
  ByteBits bits;
  for (int byte = lo; byte <= hi; ++byte) bits.set(byte);
  return bits;
}

TEST(Measure, BytesOfATextAreItsLength) { EXPECT_EQ(SizeOf(Measure::kBytes, kText), 6); }

TEST(Measure, CharactersOfATextAreCountedOnce) {
  EXPECT_EQ(SizeOf(Measure::kCharacters, kText), 3);
}

// So that a text may be measured byte by byte, wherever a token ends.
TEST(Measure, TheBytesOfATextAddUpToIt) {
  for (const Measure measure : {Measure::kBytes, Measure::kCharacters}) {
    std::uint32_t sum = 0;
    for (const char byte : kText) sum += SizeOf(measure, static_cast<unsigned char>(byte));
    EXPECT_EQ(sum, SizeOf(measure, kText));
  }
}

TEST(Measure, CodePointsAreMeasuredAsTheirUtf8) {
  const std::u32string_view text = U"a\u00e9\u20ac\U0001f600";
  EXPECT_EQ(SizeOf(Measure::kBytes, text), 1 + 2 + 3 + 4);
  EXPECT_EQ(SizeOf(Measure::kCharacters, text), 4);
}

TEST(Measure, ASetHasTheSizeOfItsSmallestByte) {
  EXPECT_EQ(SizeOf(Measure::kBytes, Bits(0x80, 0xBF)), 1);
  EXPECT_EQ(SizeOf(Measure::kCharacters, Bits(0x61, 0x7F)), 1);
  EXPECT_EQ(SizeOf(Measure::kCharacters, Bits(0xC2, 0xF4)), 1);
  EXPECT_EQ(SizeOf(Measure::kCharacters, Bits(0x61, 0x80)), 0);
  EXPECT_EQ(SizeOf(Measure::kCharacters, Bits(0xBF, 0xC2)), 0);
}

}  // namespace
}  // namespace maskd
