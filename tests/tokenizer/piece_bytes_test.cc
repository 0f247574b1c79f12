// The spellings of pieces, against the definitions of those who write them.
#include "grammar_core/tokenizer/formats/piece_bytes.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

using std::string_literals::operator""s;

struct SpellingCase {
  std::string name;
  std::string piece;
  std::optional<std::string> bytes;
};

std::string NameOf(const testing::TestParamInfo<SpellingCase>& test) { return test.param.name; }

TEST(FromMetaspaceTest, EachMarkIsASpace) {
  EXPECT_EQ(FromMetaspace(""), "");
  EXPECT_EQ(FromMetaspace("▁"), " ");
  EXPECT_EQ(FromMetaspace("▁▁a▁"), "  a ");
  EXPECT_EQ(FromMetaspace("_ ▂"), "_ ▂");
  EXPECT_EQ(FromMetaspace("\xE2\x96▁\x81"), "\xE2\x96 \x81");
  EXPECT_EQ(FromMetaspace("a\0▁"s), "a\0 "s);
}

TEST(FromByteFallbackTest, EachByteHasItsPiece) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    EXPECT_EQ(FromByteFallback(absl::StrFormat("<0x%02X>", byte)), bytes) << byte;
  }
}

class FallbackTest : public testing::TestWithParam<SpellingCase> {};

TEST_P(FallbackTest, IsAByteOrNot) {
  EXPECT_EQ(FromByteFallback(GetParam().piece), GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(Pieces, FallbackTest,
                         testing::ValuesIn(std::vector<SpellingCase>{
                             {"Empty", "", std::nullopt},
                             {"OneDigit", "<0xA>", std::nullopt},
                             {"ThreeDigits", "<0x0AA>", std::nullopt},
                             {"NoDigit", "<0x0G>", std::nullopt},
                             {"ASign", "<0x+1>", std::nullopt},
                             {"ASpace", "<0x 1>", std::nullopt},
                             {"NotClosed", "<0x0A", std::nullopt},
                             {"More", "<0x0A>a", std::nullopt},
                             {"OtherBracket", "[0x0A>", std::nullopt},
                             {"NoX", "<000A>", std::nullopt},
                             {"NotAscii", "<0x\xC3\xA9>", std::nullopt},
                         }),
                         NameOf);

// bytes_to_unicode() of GPT-2's encoder.py.
std::uint32_t CodePointOf(int byte) {
  const auto is_printable = [](int b) {
    return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
  };
  if (is_printable(byte)) return static_cast<std::uint32_t>(byte);
  std::uint32_t before = 0;
  for (int b = 0; b < byte; ++b) before += is_printable(b) ? 0 : 1;
  return 256 + before;
}

TEST(FromByteLevelTest, EachByteHasItsCharacter) {
  std::string piece;
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    AppendUtf8(CodePointOf(byte), &piece);
    all.push_back(static_cast<char>(byte));
  }
  EXPECT_EQ(FromByteLevel(piece), all);
}

TEST(FromByteLevelTest, NoOtherCharacterIsOfTheAlphabet) {
  std::set<std::uint32_t> alphabet;
  for (int byte = 0; byte < 256; ++byte) alphabet.insert(CodePointOf(byte));
  EXPECT_EQ(alphabet.size(), 256U);
  for (std::uint32_t code_point = 0; code_point < 0x3000; ++code_point) {
    std::string piece;
    AppendUtf8(code_point, &piece);
    EXPECT_EQ(FromByteLevel(piece).has_value(), alphabet.contains(code_point)) << code_point;
  }
}

class ByteLevelTest : public testing::TestWithParam<SpellingCase> {};

TEST_P(ByteLevelTest, IsReadWholeOrNotAtAll) {
  EXPECT_EQ(FromByteLevel(GetParam().piece), GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(Pieces, ByteLevelTest,
                         testing::ValuesIn(std::vector<SpellingCase>{
                             {"Empty", "", ""},
                             {"Words", "ĠtheĊ", " the\n"},
                             {"TheLast", "Ń", "\xAD"},
                             {"OnePastTheLast", "ń", std::nullopt},
                             {"ASpace", "a b", std::nullopt},
                             {"ASoftHyphen", "\u00AD", std::nullopt},
                             {"ANullByte", "a\0"s, std::nullopt},
                             {"NotUtf8", "a\xFF", std::nullopt},
                             {"CutCharacter", "a\xC4", std::nullopt},
                             {"OverlongCharacter", "\xC1\xA1", std::nullopt},
                             {"FarCharacter", "a😀", std::nullopt},
                         }),
                         NameOf);

class Base64Test : public testing::TestWithParam<SpellingCase> {};

TEST_P(Base64Test, IsAsAnEncoderWritesIt) {
  EXPECT_EQ(FromBase64(GetParam().piece), GetParam().bytes);
}

// The first seven are the test vectors of RFC 4648, section 10.
INSTANTIATE_TEST_SUITE_P(Texts, Base64Test,
                         testing::ValuesIn(std::vector<SpellingCase>{
                             {"Nothing", "", std::nullopt},
                             {"F", "Zg==", "f"},
                             {"Fo", "Zm8=", "fo"},
                             {"Foo", "Zm9v", "foo"},
                             {"Foob", "Zm9vYg==", "foob"},
                             {"Fooba", "Zm9vYmE=", "fooba"},
                             {"Foobar", "Zm9vYmFy", "foobar"},
                             {"NullByte", "AA==", "\0"s},
                             {"LastLetters", "+/8=", "\xFB\xFF"},
                             {"Unpadded", "Zg", std::nullopt},
                             {"HalfPadded", "Zg=", std::nullopt},
                             {"PaddedTooFar", "Zm9v====", std::nullopt},
                             {"PaddingAlone", "====", std::nullopt},
                             {"LooseBits", "Zh==", std::nullopt},
                             {"OfUrls", "-_8=", std::nullopt},
                             {"SpaceWithin", "Zm 9v", std::nullopt},
                             {"SpaceAfter", "Zm9v ", std::nullopt},
                             {"LineEnd", "Zm9v\n", std::nullopt},
                             {"DotsAsPadding", "Zg..", std::nullopt},
                             {"OneLetter", "Z", std::nullopt},
                             {"TextAfterPadding", "Zg==Zg==", std::nullopt},
                             {"ANull", "Zm9v\0"s, std::nullopt},
                         }),
                         NameOf);

}  // namespace
}  // namespace maskd
