// tokenizer.json taken apart: what goes into which list, and what is refused where.
#include "grammar_core/tokenizer/formats/tokenizer_document.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace maskd {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

auto IsMerge(const char* left, const char* right) {
  return testing::AllOf(testing::Property(&MergeRule::left, left),
                        testing::Property(&MergeRule::right, right));
}

TokenizerDocument Read(absl::string_view content) {
  absl::StatusOr<TokenizerDocument> document = ReadTokenizerDocument(content);
  EXPECT_TRUE(document.ok()) << document.status();
  return document.ok() ? *std::move(document) : TokenizerDocument();
}

std::vector<std::pair<std::string, std::int64_t>> PiecesOf(const TokenizerDocument& document) {
  std::vector<std::pair<std::string, std::int64_t>> pieces;
  for (const ModelPiece& piece : document.pieces) pieces.emplace_back(piece.text, piece.id);
  return pieces;
}

TEST(TokenizerDocumentTest, TheListsAreApartFromTheTree) {
  const TokenizerDocument document = Read(
      R"({"a": [1], "model": {"type": "BPE", "vocab": {"b": 7, "": 0, "a\u0000": 9223372036854775807},
          "merges": ["b c", ["d", "e f"]], "z": {"vocab": {"x": "y"}}},
          "vocab": [2], "merges": 3})");
  EXPECT_EQ(document.tree, Json::parse(R"({"a": [1], "model": {"type": "BPE",
      "z": {"vocab": {"x": "y"}}}, "vocab": [2], "merges": 3})"));
  EXPECT_THAT(PiecesOf(document),
              ElementsAre(std::pair("b", 7), std::pair("", 0),
                          std::pair(std::string("a\0", 2), 9223372036854775807)));
  EXPECT_THAT(document.merges, ElementsAre(IsMerge("b", "c"), IsMerge("d", "e f")));
  EXPECT_TRUE(document.has_merges);
}

TEST(TokenizerDocumentTest, TheIndexOfAPairIsTheId) {
  const TokenizerDocument document = Read(
      R"({"model": {"vocab": [["a", -1.5], ["b", 0], ["", 18446744073709551615], ["a", -2]]}})");
  EXPECT_THAT(PiecesOf(document), ElementsAre(std::pair("a", 0), std::pair("b", 1),
                                              std::pair("", 2), std::pair("a", 3)));
  EXPECT_EQ(document.tree, Json::parse(R"({"model": {}})"));
}

TEST(TokenizerDocumentTest, OtherPlacesAreOfTheTree) {
  for (const char* text : {R"({"vocab": {"a": 0}, "merges": ["a b"]})", R"([{"vocab": ["a"]}])",
                           R"({"model": [{"vocab": ["a"], "merges": ["a b"]}]})",
                           R"({"model/vocab": {"a": 0}, "model/merges": ["a b"]})",
                           R"({"model": {"model": {"vocab": {"a": 0}, "merges": ["a b"]}}})",
                           R"({"model": {"vocab": null, "merges": null}})",
                           R"({"model": {"vocab": "a", "merges": 7}})", "null"}) {
    const TokenizerDocument document = Read(text);
    EXPECT_EQ(document.tree, Json::parse(text));
    EXPECT_THAT(document.pieces, IsEmpty());
    EXPECT_THAT(document.merges, IsEmpty());
    EXPECT_FALSE(document.has_merges);
  }
}

TEST(TokenizerDocumentTest, EmptyListsAreLists) {
  const TokenizerDocument document = Read(R"({"model": {"merges": [], "vocab": [], "x": 1}})");
  EXPECT_THAT(document.pieces, IsEmpty());
  EXPECT_THAT(document.merges, IsEmpty());
  EXPECT_TRUE(document.has_merges);
  EXPECT_EQ(document.tree, Json::parse(R"({"model": {"x": 1}})"));
}

TEST(TokenizerDocumentTest, MergesOfEitherFormMayBeMixed) {
  EXPECT_THAT(
      Read(R"({"model": {"merges": [["a", "b"], "c d", ["e f", "g"], "h i"]}})").merges,
      ElementsAre(IsMerge("a", "b"), IsMerge("c", "d"), IsMerge("e f", "g"), IsMerge("h", "i")));
}

TEST(TokenizerDocumentTest, AMergeOfOtherThanTwoIsNoPair) {
  for (const MergeRule& merge :
       Read(R"({"model": {"merges": ["ab", ["ab"], ["a", "b", "c"], ["", "b"], ["a", ""]]}})")
           .merges)
    EXPECT_FALSE(merge.is_pair()) << merge.made;
}

struct WrongCase {
  std::string name;
  std::string model;
  std::string error;
};

class WrongDocumentTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongDocumentTest, IsRefusedAtItsPlace) {
  const absl::Status status =
      ReadTokenizerDocument(R"({"model": )" + GetParam().model + "}").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), GetParam().error);
}

constexpr char kNotAPair[] = ": not a [piece, score] pair";
constexpr char kNoId[] = "/model/vocab/a: the id is not a whole number";
constexpr char kVocabTwice[] = "/model/vocab: appears twice";
constexpr char kMergesTwice[] = "/model/merges: appears twice";

INSTANTIATE_TEST_SUITE_P(
    Ids, WrongDocumentTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"AText", R"({"vocab": {"x": 0, "a": "1"}})", kNoId},
        {"True", R"({"vocab": {"x": 0, "a": true}})", kNoId},
        {"AList", R"({"vocab": {"x": 0, "a": [1]}})", kNoId},
        {"PastInt64", R"({"vocab": {"x": 0, "a": 9223372036854775808}})", kNoId},
        {"LongName", R"({"vocab": {")" + std::string(65, 'k') + R"(": -1}})",
         "/model/vocab/" + std::string(61, 'k') + "...: the id is not a whole number"},
    }),
    [](const auto& test) { return test.param.name; });

std::string AtPair(int index) { return "/model/vocab/" + std::to_string(index) + kNotAPair; }

INSTANTIATE_TEST_SUITE_P(Pairs, WrongDocumentTest,
                         testing::ValuesIn(std::vector<WrongCase>{
                             {"FirstIsANumber", R"({"vocab": [5]})", AtPair(0)},
                             {"SecondIsANumber", R"({"vocab": [["a", 1], 5]})", AtPair(1)},
                             {"SecondIsAText", R"({"vocab": [["a", 1], "b"]})", AtPair(1)},
                             {"SecondIsNull", R"({"vocab": [["a", 1], null]})", AtPair(1)},
                             {"SecondIsAnObject", R"({"vocab": [["a", 1], {"b": 1}]})", AtPair(1)},
                             {"SecondIsEmpty", R"({"vocab": [["a", 1], []]})", AtPair(1)},
                             {"SecondHasNoText", R"({"vocab": [["a", 1], [2, 3]]})", AtPair(1)},
                             {"SecondHasTwoTexts", R"({"vocab": [["a", 1], ["b", "c"]]})",
                              AtPair(1)},
                             {"SecondHasAList", R"({"vocab": [["a", 1], ["b", [1]]]})", AtPair(1)},
                             {"ScoreIsTrue", R"({"vocab": [["a", 1], ["b", true]]})", AtPair(1)},
                         }),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Twice, WrongDocumentTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"TwoVocabs", R"({"vocab": {}, "vocab": {}})", kVocabTwice},
        {"AnObjectAndAList", R"({"vocab": {}, "vocab": []})", kVocabTwice},
        {"ANumberFirst", R"({"vocab": 1, "vocab": {}})", kVocabTwice},
        {"ANumberSecond", R"({"vocab": {"a": 0}, "vocab": 1})", kVocabTwice},
        {"NullSecond", R"({"vocab": [["a", 0]], "vocab": null})", kVocabTwice},
        {"TwoMerges", R"({"merges": ["a b"], "merges": ["c d"]})", kMergesTwice},
        {"TwoEmptyMerges", R"({"merges": [], "x": 1, "merges": []})", kMergesTwice},
        {"ATextSecond", R"({"merges": [], "merges": ""})", kMergesTwice},
        {"ATextFirst", R"({"merges": "", "merges": []})", kMergesTwice},
        {"TwoModels", R"({"vocab": {"a": 0}}, "model": {"vocab": {"b": 0}})",
         "/model: appears twice"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(TokenizerDocumentTest, CutTextsAreRefused) {
  const std::string whole =
      R"({"model": {"vocab": {"a": 0}, "merges": ["a b", ["c", "d"]]}, "x": [1]})";
  ASSERT_TRUE(ReadTokenizerDocument(whole).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(ReadTokenizerDocument(whole.substr(0, size)).status().code(),
              absl::StatusCode::kInvalidArgument)
        << size;
  }
}

}  // namespace
}  // namespace maskd
