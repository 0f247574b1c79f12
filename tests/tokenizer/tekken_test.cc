// tekken.json: ranks and special tokens to ids, and every kind of wrong file.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/tokenizer/formats/format.h"
#include "grammar_core/tokenizer/loader.h"
#include "grammar_core/tokenizer/vocabulary.h"
#include "tests/tokenizer/vocabulary_fixture.h"

namespace maskd {
namespace {

constexpr absl::string_view kRanks = R"(
    {"rank": 0, "token_bytes": "AA==", "token_str": "\u0000"},
    {"rank": 1, "token_bytes": "wyg=", "token_str": null},
    {"rank": 2, "token_bytes": "IHRoZQ==", "token_str": " the"})";
constexpr absl::string_view kSpecial = R"("special_tokens": [
    {"rank": 0, "token_str": "<unk>", "is_control": true},
    {"rank": 1, "token_str": "[X]", "is_control": false},
    {"rank": 2, "token_str": "</s>", "is_control": true}], )";

std::string File(int vocab_size, int special_count, absl::string_view special = kSpecial,
                 absl::string_view ranks = kRanks, absl::string_view version = "v13") {
  return absl::StrCat(R"({"config": {"pattern": ".", "num_vocab_tokens": 3, "version": ")", version,
                      R"(", "default_vocab_size": )", vocab_size,
                      R"(, "default_num_special_tokens": )", special_count, "}, ", special,
                      R"("vocab": [)", ranks, "]}");
}

TEST(TekkenTest, SpecialTokensStandInFrontAndFillersAfterThem) {
  const auto vocabulary = LoadContent("tekken.json", File(8, 5));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->size(), 8);
  EXPECT_THAT((*vocabulary)->special_ids(), testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ((*vocabulary)->FindSpecial("[X]"), 1);
  EXPECT_EQ((*vocabulary)->FindSpecial("<SPECIAL_4>"), 4);
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(2));
  EXPECT_EQ((*vocabulary)->TokenBytes(5), std::string(1, '\0'));
  EXPECT_EQ((*vocabulary)->TokenBytes(6), "\xC3(");
  EXPECT_EQ((*vocabulary)->TokenBytes(7), " the");
}

TEST(TekkenTest, RanksPastTheConfiguredSizeAreCut) {
  const auto vocabulary = LoadContent("tekken.json", File(5, 3));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->size(), 5);
  EXPECT_EQ((*vocabulary)->TokenBytes(4), "\xC3(");
}

TEST(TekkenTest, AnOldFileWithoutAListHasTheListOfItsTime) {
  const auto vocabulary = LoadContent("tekken.json", File(25, 22, "", kRanks, "v3"));
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  EXPECT_EQ((*vocabulary)->FindSpecial("<s>"), 1);
  EXPECT_EQ((*vocabulary)->FindSpecial("[TOOL_CONTENT]"), 19);
  EXPECT_EQ((*vocabulary)->FindSpecial("<SPECIAL_21>"), 21);
  EXPECT_THAT((*vocabulary)->stop_ids(), testing::ElementsAre(2));
}

struct FormatCase {
  std::string name;
  std::string content;
  bool is_tekken;
};

class LooksLikeTekkenTest : public testing::TestWithParam<FormatCase> {};

TEST_P(LooksLikeTekkenTest, IsToldFromTheFirstKey) {
  EXPECT_EQ(LooksLikeTekken(GetParam().content), GetParam().is_tekken);
}

INSTANTIATE_TEST_SUITE_P(Files, LooksLikeTekkenTest,
                         testing::ValuesIn(std::vector<FormatCase>{
                             {"Config", File(5, 3), true},
                             {"Vocab", "\xEF\xBB\xBF \n{\n \"vocab\": [", true},
                             {"TokenizerJson", R"({"version": "1.0", "config": 1})", false},
                             {"NoKey", "{}", false},
                             {"NoObject", "[\"vocab\"]", false},
                             {"OpenKey", "{\"vocab", true},
                         }),
                         [](const auto& test) { return test.param.name; });

struct WrongCase {
  std::string name;
  std::string content;
  std::string message;
};

class WrongTekkenTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongTekkenTest, IsRefusedAtItsPlace) {
  const absl::Status status = LoadContent("tekken.json", GetParam().content).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MessageAfterPath(status), GetParam().message);
}

std::string WithRanks(absl::string_view ranks) { return File(5, 3, kSpecial, ranks); }

INSTANTIATE_TEST_SUITE_P(
    Ranks, WrongTekkenTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"NotJson", "{\"vocab\": [}",
         "1:12: not JSON: unexpected '}'; expected '[', '{', or a literal"},
        {"NoVocab", R"({"config": {}})", "/vocab: not a list of objects"},
        {"VocabIsAnObject", R"({"vocab": {}})", "/vocab: not a list of objects"},
        {"RankIsANumber", WithRanks("7"), "/vocab: not a list of objects"},
        {"NoRank", WithRanks(R"({"token_bytes": "YQ=="})"),
         "/vocab/0/rank: not the entry's place in the list"},
        {"RankElsewhere", WithRanks(R"({"rank": 1, "token_bytes": "YQ=="})"),
         "/vocab/0/rank: not the entry's place in the list"},
        {"NoBytes", WithRanks(R"({"rank": 0})"), "/vocab/0/token_bytes: not base64"},
        {"BytesAreNull", WithRanks(R"({"rank": 0, "token_bytes": null})"),
         "/vocab/0/token_bytes: not base64"},
        {"EmptyBytes", WithRanks(R"({"rank": 0, "token_bytes": ""})"),
         "/vocab/0/token_bytes: not base64"},
        {"LooseBits", WithRanks(absl::StrCat(kRanks, R"(, {"rank": 3, "token_bytes": "YR=="})")),
         "/vocab/3/token_bytes: not base64"},
        {"KeyTwice", WithRanks(absl::StrCat(kRanks, R"(, {"rank": 3, "rank": 3})")),
         "/vocab/3/rank: appears twice"},
        {"BytesTwice",
         WithRanks(R"({"rank": 0, "token_bytes": "YQ=="}, {"rank": 1, "token_bytes": "YQ=="})"),
         "/vocab/1/token_bytes: an earlier rank has the same bytes"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Sizes, WrongTekkenTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"NoConfig", absl::StrCat("{\"vocab\": [", kRanks, "]}"),
         "/config/default_vocab_size: not a whole number of at most 2097152"},
        {"NegativeSize", File(-1, 3),
         "/config/default_vocab_size: not a whole number of at most 2097152"},
        {"HugeCount", File(5, 2097153),
         "/config/default_num_special_tokens: not a whole number of at most 2097152"},
        {"MoreSpecialThanIds", File(2, 3),
         "/config/default_vocab_size: 2 is not what 3 special tokens and some of 3 ranks make"},
        {"TooFewRanks", File(7, 3),
         "/config/default_vocab_size: 7 is not what 3 special tokens and some of 3 ranks make"},
        {"MoreListedThanCounted", File(3, 2),
         "/config/default_num_special_tokens: 2 is less than the 3 there are"},
    }),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Special, WrongTekkenTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"NewVersionWithoutAList", File(5, 3, ""),
         "/special_tokens: missing, and version \"v13\" has no others"},
        {"NotAList", File(5, 3, R"("special_tokens": {}, )"), "/special_tokens: not a list"},
        {"NotAnObject", File(5, 3, R"("special_tokens": [1], )"),
         "/special_tokens/0/rank: not the entry's place in the list"},
        {"RankElsewhere", File(5, 3, R"("special_tokens": [{"rank": 1, "token_str": "x"}], )"),
         "/special_tokens/0/rank: not the entry's place in the list"},
        {"NoText", File(5, 3, R"("special_tokens": [{"rank": 0}], )"),
         "/special_tokens/0/token_str: not a text of at least one character"},
        {"SpelledTwice", File(5, 3, R"("special_tokens": [{"rank": 0, "token_str": "</s>"},
                                                          {"rank": 1, "token_str": "</s>"}], )"),
         "token 1: the special token 0 is spelled the same"},
        {"NoEnd", File(5, 3, R"("special_tokens": [], )"),
         "stop_tokens: the file names no token that ends a text: name one"},
    }),
    [](const auto& test) { return test.param.name; });

// Any prefix and any changed byte of a file is read or refused; sanitizers watch.
TEST(TekkenTest, SpoiledFilesAreReadOrRefused) {
  const std::string whole = File(7, 4);
  ASSERT_TRUE(ReadTekken(whole).ok());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    EXPECT_FALSE(ReadTekken(whole.substr(0, at)).ok());
    for (const char other : {'\0', '"', '{', ']', '9', 'x', '\xFF'}) {
      std::string spoiled = whole;
      spoiled[at] = other;
      const absl::Status status = ReadTekken(spoiled).status();
      EXPECT_TRUE(status.ok() || !status.message().empty());
    }
  }
}

}  // namespace
}  // namespace maskd
