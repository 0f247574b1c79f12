#include "grammar_core/ir/payload_text.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

using testing::EndsWith;
using testing::StartsWith;

TEST(QuotedTextTest, ShowsWhatCanBeShown) {
  EXPECT_EQ(QuotedText("a\"b\\\n\t"), R"("a\"b\\\n\t")");
  EXPECT_EQ(QuotedText("\xC3\xA9"), "\"\xC3\xA9\"");
  EXPECT_EQ(QuotedText(std::u32string(U"\u00e9")), "\"\xC3\xA9\"");
}

TEST(QuotedTextTest, CountsWhatIsLong) {
  EXPECT_EQ(QuotedText(std::string(1000, 'x')), "\"" + std::string(1000, 'x') + "\"");
  EXPECT_EQ(QuotedText(std::string(1001, 'x')), "\"" + std::string(1000, 'x') + "\"... 1001 bytes");
}

TEST(CharClassTextTest, WritesRangesAndEscapesWhatAClassWouldRead) {
  EXPECT_EQ(CharClassText({{'0', '9'}, {'a', 'z'}, {'_', '_'}}), "[0-9a-z_]");
  EXPECT_EQ(CharClassText({{'-', '-'}, {'[', ']'}}), "[\\u{2d}\\u{5b}-\\u{5d}]");
  EXPECT_EQ(CharClassText({{0, 0x10FFFF}}), "[\\u{0}-\\u{10ffff}]");
  EXPECT_EQ(CharClassText({}), "[]");
}

TEST(CharClassTextTest, CountsTheRangesOfALargeClass) {
  std::vector<CharRange> ranges;
  for (char32_t c = 0x100; ranges.size() < 30; c += 2) ranges.push_back({c, c});
  EXPECT_THAT(CharClassText(ranges), StartsWith("[\\u{100}\\u{102}"));
  EXPECT_THAT(CharClassText(ranges), EndsWith(" ... 30 ranges]"));
}

TEST(ByteClassTextTest, JoinsNeighbours) {
  ByteBits bytes;
  for (const unsigned byte : {0x61U, 0x62U, 0x63U, 0x78U, 0xFFU}) bytes.set(byte);
  EXPECT_EQ(ByteClassText(bytes), "[a-cx\\u{ff}]");
}

TEST(TextListTextTest, ListsAndCounts) {
  EXPECT_EQ(TextListText({U"a", U"\""}), R"({"a", "\""})");
  EXPECT_THAT(TextListText(std::vector<std::u32string>(30, U"a")), EndsWith(", ... 30 texts}"));
}

TEST(TokenListTextTest, NamesThenIds) {
  EXPECT_EQ(TokenListText({.names = {"<|end|>"}, .ids = {{5, 5}, {7, 9}}}),
            R"(token<"<|end|>", 5, 7-9>)");
  EXPECT_EQ(TokenListText({.ids = {{1, 1}}, .negated = true}), "token_except<1>");
}

TEST(RepeatTextTest, IsARegularExpressions) {
  EXPECT_EQ(RepeatText(0, 1), "?");
  EXPECT_EQ(RepeatText(0, kUnbounded), "*");
  EXPECT_EQ(RepeatText(1, kUnbounded), "+");
  EXPECT_EQ(RepeatText(2, kUnbounded), "{2,}");
  EXPECT_EQ(RepeatText(2, 2), "{2}");
  EXPECT_EQ(RepeatText(0, 0), "{0}");
  EXPECT_EQ(RepeatText(2, 5), "{2,5}");
}

TEST(SpellingNameTest, NamesEach) {
  EXPECT_STREQ(SpellingName(Spelling::kUtf8), "utf8");
  EXPECT_STREQ(SpellingName(Spelling::kJsonString), "json");
  EXPECT_STREQ(SpellingName(Spelling::kCanonicalJson), "canonical_json");
}

}  // namespace
}  // namespace maskd
