// From pieces to bytes, as the decoder of a tokenizer.json says.
#include "grammar_core/tokenizer/formats/piece_decoder.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

using std::string_literals::operator""s;

absl::StatusOr<PieceDecoder> DecoderOf(absl::string_view fields) {
  return PieceDecoder::FromTree(nlohmann::json::parse(absl::StrCat("{", fields, "}")));
}

// The field of a decoder that has these parts, one after the other.
std::string Parts(absl::string_view parts) {
  return absl::StrCat(R"("decoder": {"type": "Sequence", "decoders": [)", parts, "]}");
}

constexpr char kByteLevel[] = R"("decoder": {"type": "ByteLevel"})";
constexpr char kFallback[] = R"({"type": "ByteFallback"})";
constexpr char kFuse[] = R"({"type": "Fuse"})";
constexpr char kStrip[] = R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})";

std::string Replace(absl::string_view from, absl::string_view to) {
  return absl::StrCat(R"({"type": "Replace", "pattern": {"String": ")", from, R"("}, "content": ")",
                      to, R"("})");
}

TEST(SpaceMarkTest, IsWhatAPartWritesForASpace) {
  const auto mark = [](const char* part) { return SpaceMarkOf(nlohmann::json::parse(part)); };
  EXPECT_EQ(mark(R"({"type": "Metaspace"})"), "▁");
  EXPECT_EQ(mark(R"({"type": "Metaspace", "replacement": "_"})"), "_");
  EXPECT_EQ(mark(R"({"type": "Replace", "pattern": {"String": " "}, "content": "+"})"), "+");
  EXPECT_EQ(mark(R"({"type": "Replace", "pattern": {"String": "a"}, "content": "+"})"), "");
  EXPECT_EQ(mark(R"({"type": "Replace", "pattern": {"Regex": " "}, "content": "+"})"), "");
  EXPECT_EQ(mark(R"({"type": "Split", "pattern": {"String": " "}, "content": "+"})"), "");
  EXPECT_EQ(mark("5"), "");
}

struct DecodeCase {
  std::string name;
  std::string fields;
  std::string piece;
  std::string bytes;
};

class DecodeTest : public testing::TestWithParam<DecodeCase> {};

TEST_P(DecodeTest, GivesTheseBytes) {
  const absl::StatusOr<PieceDecoder> decoder = DecoderOf(GetParam().fields);
  ASSERT_TRUE(decoder.ok()) << decoder.status();
  EXPECT_EQ(decoder->Decode(GetParam().piece), GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Components, DecodeTest,
    testing::ValuesIn(std::vector<DecodeCase>{
        {"ByteLevel", kByteLevel, "ĠaÃ", " a\xC3"},
        {"ByteLevelOfAnotherAlphabet", kByteLevel, "a b", "a b"},
        {"ByteLevelOfNothing", kByteLevel, "", ""},
        {"ByteLevelReadsNoFallback", kByteLevel, "<0x0A>", "<0x0A>"},
        {"Metaspace", R"("decoder": {"type": "Metaspace"})", "▁▁a", "  a"},
        {"MetaspaceOfAnotherMark", R"("decoder": {"type": "Metaspace", "replacement": "_"})", "_▁a",
         " ▁a"},
        {"Fallback", Parts(kFallback), "<0xE2>", "\xE2"},
        {"FallbackOfANullByte", Parts(kFallback), "<0x00>", "\0"s},
        {"FallbackOfMore", Parts(kFallback), "<0x41><0x41>", "<0x41><0x41>"},
        {"ReplaceEach", Parts(Replace("ab", "a")), "abab", "aa"},
        {"ReplaceByNothing", Parts(Replace("a", "")), "banana", "bnn"},
        {"ReplaceOnceEach", Parts(Replace("a", "aa")), "aa", "aaaa"},
        {"FuseKeepsTheMiddle", Parts(absl::StrCat(kFuse, ",", kStrip)), " a ", " a "},
        {"SequenceWithin",
         Parts(absl::StrCat(R"({"type": "Sequence", "decoders": [)", Replace("x", "y"), "]},",
                            Replace("y", "z"))),
         "xy", "zz"},
    }),
    [](const auto& test) { return test.param.name; });

// The order of the file is that of the steps.
INSTANTIATE_TEST_SUITE_P(
    Orders, DecodeTest,
    testing::ValuesIn(std::vector<DecodeCase>{
        {"FirstThenSecond", Parts(Replace("a", "b") + "," + Replace("b", "c")), "ab", "cc"},
        {"SecondThenFirst", Parts(Replace("b", "c") + "," + Replace("a", "b")), "ab", "bc"},
        {"ReplaceMakesAByte", Parts(absl::StrCat(Replace("!", "0x4"), ",", kFallback)), "<!1>",
         "A"},
        {"ReplaceAfterAByte", Parts(absl::StrCat(kFallback, ",", Replace("A", "B"))), "<0x41>",
         "B"},
        {"ReplaceAfterNoByte", Parts(absl::StrCat(kFallback, ",", Replace("A", "B"))), "AC", "BC"},
        {"MarkAfterAByte",
         Parts(absl::StrCat(kFallback, R"(,{"type": "Metaspace", "replacement": "_"})")), "<0x5F>",
         " "},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    WithoutADecoder, DecodeTest,
    testing::ValuesIn(std::vector<DecodeCase>{
        {"PreTokenizerMetaspace", R"("pre_tokenizer": {"type": "Metaspace"})", "▁a", " a"},
        {"PreTokenizerOfAnotherMark",
         R"("pre_tokenizer": {"type": "Metaspace", "replacement": "_"})", "_▁a", " ▁a"},
        {"NormalizerReplace",
         R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "+"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "+"}]})",
         "+a+", " a "},
        {"PreTokenizerByteLevel",
         R"("pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]})", "Ġa",
         " a"},
        {"NormalizerByteLevel", R"("normalizer": {"type": "ByteLevel"})", "Ġa", " a"},
        {"ByteFallbackOfTheModel", R"("model": {"byte_fallback": true})", "<0x0A>", "\n"},
        {"NullIsNoDecoder", R"("decoder": null, "model": {"byte_fallback": true})", "<0x0A>", "\n"},
    }),
    [](const auto& test) { return test.param.name; });

struct RefusedCase {
  std::string name;
  std::string fields;
  std::string place;
};

class RefusedDecoderTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedDecoderTest, AtItsComponent) {
  const absl::Status status = DecoderOf(GetParam().fields).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_EQ(ErrorPlace(status), GetParam().place);
}

INSTANTIATE_TEST_SUITE_P(
    Files, RefusedDecoderTest,
    testing::ValuesIn(std::vector<RefusedCase>{
        {"None", "", "/decoder"},
        {"NoneAndAReplacedLetter",
         R"("normalizer": {"type": "Replace", "pattern": {"String": "a"}, "content": "b"})",
         "/decoder"},
        {"NoneAndNoByteFallback", R"("model": {"byte_fallback": false})", "/decoder"},
        {"ANumber", R"("decoder": 5)", "/decoder"},
        {"WithoutAType", R"("decoder": {})", "/decoder"},
        {"Bpe", R"("decoder": {"type": "BPEDecoder", "suffix": "</w>"})", "/decoder"},
        {"SequenceOfNoList", R"("decoder": {"type": "Sequence", "decoders": {}})", "/decoder"},
        {"Second", Parts(absl::StrCat(kFallback, R"(,{"type": "CTC"})")), "/decoder/decoders/1"},
        {"Within",
         Parts(absl::StrCat(kFallback, R"(,{"type": "Sequence", "decoders": [{"type": "CTC"}]})")),
         "/decoder/decoders/1/decoders/0"},
        {"ReplaceOfNothing", Parts(Replace("", "x")), "/decoder/decoders/0/pattern"},
        {"StripOfTokens", Parts(absl::StrCat(kStrip, ",", kFuse)), "/decoder/decoders/0"},
        {"ReplaceOfTheWholeText", Parts(absl::StrCat(kFuse, ",", Replace("a", "b"))),
         "/decoder/decoders/1"},
        {"ReplaceAfterByteLevel", Parts(R"({"type": "ByteLevel"},)" + Replace("a", "b")),
         "/decoder/decoders/1"},
        // Bytes of tokens side by side are put together first.
        {"MarkAfterBytes", Parts(absl::StrCat(kFallback, ",", Replace("▁", " "))),
         "/decoder/decoders/1"},
        {"LettersAfterBytes", Parts(absl::StrCat(kFallback, ",", Replace("ab", "c"))),
         "/decoder/decoders/1"},
        {"MetaspaceAfterBytes", Parts(absl::StrCat(kFallback, R"(,{"type": "Metaspace"})")),
         "/decoder/decoders/1"},
        {"ByteLevelAfterBytes", Parts(absl::StrCat(kFallback, R"(,{"type": "ByteLevel"})")),
         "/decoder/decoders/1"},
        {"FallbackAfterStrip", Parts(absl::StrCat(kFuse, ",", kStrip, ",", kFallback)),
         "/decoder/decoders/2"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
