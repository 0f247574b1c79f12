// The tree of JSON files: what is no JSON, what is too large, and what is taken out of it.
#include "grammar_core/tokenizer/formats/json_tree.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/base/error.h"
#include "tests/base/test_folder.h"

namespace maskd {
namespace {

using Json = nlohmann::json;
using std::string_literals::operator""s;

constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

std::string Repeated(absl::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) absl::StrAppend(&all, text);
  return all;
}

TEST(JsonTreeTest, HoldsEveryKindOfValue) {
  JsonTreeReader reader;
  ASSERT_TRUE(reader
                  .Read(R"( {"n": null, "b": [true, false], "i": -3, "u": 18446744073709551615,
                            "f": 1.5e1, "s": "\u0000\ud83d\ude00\"", "": {"": []}} )")
                  .ok());
  const Json& tree = reader.tree();
  EXPECT_EQ(tree.size(), 7U);
  EXPECT_TRUE(tree.at("n").is_null());
  EXPECT_EQ(tree.at("b"), Json({true, false}));
  EXPECT_EQ(tree.at("i"), -3);
  EXPECT_EQ(tree.at("u"), 18446744073709551615U);
  EXPECT_EQ(tree.at("f"), 15.0);
  EXPECT_EQ(tree.at("s"), "\0😀\""s);
  EXPECT_EQ(tree.at("").at(""), Json::array());
}

TEST(JsonTreeTest, TheRootMayBeAnyValue) {
  JsonTreeReader reader;
  ASSERT_TRUE(reader.Read("\xEF\xBB\xBF\"a\"").ok());
  EXPECT_EQ(reader.tree(), "a");
}

struct WrongCase {
  std::string name;
  std::string text;
  std::string place;
};

class WrongJsonTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongJsonTest, IsRefusedAtItsPlace) {
  const absl::Status status = JsonTreeReader().Read(GetParam().text);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(ErrorPlace(status), GetParam().place) << status;
}

INSTANTIATE_TEST_SUITE_P(Texts, WrongJsonTest,
                         testing::ValuesIn(std::vector<WrongCase>{
                             {"Empty", "", "1:1"},
                             {"WhiteSpaceAlone", " \n ", "2:2"},
                             {"CutArray", "[1,", "1:4"},
                             {"CutText", "\"ab", "1:4"},
                             {"BehindAByteOrderMark", "\xEF\xBB\xBF?", "1:4"},
                             {"TwoValues", "{}\n {}", "2:2"},
                             {"LastComma", "[1,]", "1:4"},
                             {"Comment", "[1] // one", "1:5"},
                             {"NotANumber", "[NaN]", "1:2"},
                             {"LeadingZero", "[01]", "1:3"},
                             {"LoneSurrogate", R"(["\ud800"])", "1:9"},
                             {"ControlCharacter", "[\"a\nb\"]", "1:4"},
                             {"OverlongUtf8", "[\"\xC0\x80\"]", "1:3"},
                             {"SurrogateInUtf8", "[\"\xED\xA0\x80\"]", "1:4"},
                             {"FormFeed", "[\f1]", "1:2"},
                             {"TooLarge", "[-1e400]", "1:7"},
                             {"NullByteInAText", "[\"a\0b\"]"s, "1:4"},
                             {"NullByteForAValue", "[\0]"s, "1:2"},
                             {"NullByteAfterAll", "[1]\n\0"s, "2:1"},
                             {"TextAfterANullByte", "{\"a\": 1}\0 not JSON"s, "1:9"},
                             {"KeyTwice", R"({"a": [0, {"b~/": 1, "c": 2, "b~/": 3}]})",
                              "/a/1/b~0~1"},
                             {"KeyTwiceByEscape", R"({"a": 1, "\u0061": 1})", "/a"},
                             {"EmptyKeyTwice", R"({"": 1, "": 1})", "/"},
                             {"KeyTwiceAfterNull", R"({"a": null, "a": 1})", "/a"},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(JsonTreeTest, AKeyMayBeInTwoObjects) {
  JsonTreeReader reader;
  ASSERT_TRUE(reader.Read(R"([{"a": 1}, {"a": {"a": 2}}])").ok());
  EXPECT_EQ(reader.tree(), Json::parse(R"([{"a": 1}, {"a": {"a": 2}}])"));
}

TEST(JsonTreeTest, ALongKeyIsShownShort) {
  const std::string key(100, 'k');
  const absl::Status status =
      JsonTreeReader().Read(absl::StrCat("{\"", key, "\": 1, \"", key, "\": 2}"));
  EXPECT_EQ(ErrorPlace(status), "/" + std::string(61, 'k') + "...");
}

TEST(JsonTreeTest, DepthIsBounded) {
  EXPECT_TRUE(JsonTreeReader().Read(Repeated("[", 64) + Repeated("]", 64)).ok());
  const absl::Status status = JsonTreeReader().Read(Repeated("{\"a\":", 65));
  EXPECT_EQ(status.code(), kExhausted);
  EXPECT_EQ(status.message(), Repeated("/a", 64) + ": limit tokenizer_json_depth is 64, 65 needed");
}

TEST(JsonTreeTest, ValuesAreCountedWithTheirContainers) {
  const std::string most = Repeated("0,", (1 << 20) - 2);
  EXPECT_TRUE(JsonTreeReader().Read("[" + most + "0]").ok());
  const absl::Status status = JsonTreeReader().Read("[" + most + "0,0]");
  EXPECT_EQ(status.code(), kExhausted);
  EXPECT_EQ(status.message(), "/1048575: limit tokenizer_json_values is 1048576, 1048577 needed");
}

// Takes each object of the root's list "big".
class TakingReader : public JsonTreeReader {
 public:
  bool end_object() override {
    if (!IsElementOf("big")) return JsonTreeReader::end_object();
    if (taken.size() == fail_at) return Fail(absl::AbortedError(Here().str()));
    taken.push_back(TakeInnermost());
    return true;
  }
  std::vector<Json> taken;
  std::size_t fail_at = 1000;
};

TEST(JsonTreeTest, ASubclassTakesElementsOfAListOfTheRoot) {
  TakingReader reader;
  const absl::Status read = reader.Read(
      R"({"big": [{"a": 1}, 2, {"b": {"c": 3}}, [{"d": 4}]], "other": [{"e": 5}], "o": {"big": [{}]}})");
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(reader.taken, (std::vector<Json>{{{"a", 1}}, {{"b", {{"c", 3}}}}}));
  EXPECT_EQ(reader.tree(), Json::parse(R"({"big": [null, 2, null, [{"d": 4}]], "other": [{"e": 5}],
                                          "o": {"big": [{}]}})"));
}

TEST(JsonTreeTest, AnObjectIsNoListOfTheRoot) {
  TakingReader reader;
  ASSERT_TRUE(reader.Read(R"({"big": {"a": {}}})").ok());
  ASSERT_TRUE(TakingReader().Read(R"([[{}]])").ok());
  EXPECT_TRUE(reader.taken.empty());
}

// What was taken no longer counts, whatever is inside it.
TEST(JsonTreeTest, TakenValuesDoNotCount) {
  const std::string half = Repeated("0,", 600000) + "0";
  for (const std::string& element : {absl::StrCat("{\"a\": [", half, "]}"),
                                     absl::StrCat("{\"a\": [[", half, "]], \"b\": {}}")}) {
    TakingReader reader;
    const absl::Status read = reader.Read(absl::StrCat("{\"big\": [", element, ",", element, "]}"));
    EXPECT_TRUE(read.ok()) << read;
    EXPECT_EQ(reader.taken.size(), 2U);
  }
}

TEST(JsonTreeTest, ASubclassEndsTheReading) {
  TakingReader reader;
  reader.fail_at = 1;
  const absl::Status status = reader.Read(R"({"big": [{}, {"a": 1}, {}, ?)");
  EXPECT_EQ(status, absl::AbortedError("/big/1/a"));
}

TEST(ReadJsonFileTest, StartsErrorsWithThePath) {
  const TestFolder folder;
  const absl::StatusOr<Json> read = ReadJsonFile(folder.Write("a.json", R"({"a": [1]})"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Json::parse(R"({"a": [1]})"));
  const std::string wrong = folder.Write("b.json", "{\n?");
  const absl::Status status = ReadJsonFile(wrong).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StartsWith(status.message(), wrong + ": 2:1: ")) << status;
  EXPECT_EQ(ReadJsonFile(folder.Path("c.json")).status().code(), absl::StatusCode::kNotFound);
  const std::string large = folder.Write("d.json", std::string((16 << 20) + 1, ' '));
  EXPECT_EQ(ReadJsonFile(large).status().message(),
            large + ": limit vocabulary_beside_bytes is 16777216, 16777217 needed");
}

TEST(WithoutJsonLeadTest, DropsOneMarkAndThenWhiteSpace) {
  EXPECT_EQ(WithoutJsonLead("\xEF\xBB\xBF \t\r\n{ "), "{ ");
  EXPECT_EQ(WithoutJsonLead("\xEF\xBB"), "\xEF\xBB");
  EXPECT_EQ(WithoutJsonLead("\xEF\xBB\xBF\xEF\xBB\xBF{"), "\xEF\xBB\xBF{");
  EXPECT_EQ(WithoutJsonLead(" \n"), "");
}

TEST(FieldTest, AFieldIsFoundInObjectsAlone) {
  const Json object = Json::parse(R"({"null": null, "t": "x", "": 1, "true": true, "one": 1})");
  EXPECT_EQ(FindField(object, "null"), nullptr);
  EXPECT_EQ(FindField(object, "x"), nullptr);
  EXPECT_EQ(FindField(Json::array({"t"}), "t"), nullptr);
  EXPECT_EQ(FindField(Json("t"), "t"), nullptr);
  EXPECT_EQ(FindField(object, ""), &object.at(""));
  EXPECT_EQ(TextField(object, "t"), "x");
  EXPECT_EQ(TextField(object, "one"), "");
  EXPECT_EQ(TextField(object, "x"), "");
  EXPECT_TRUE(IsFieldTrue(object, "true"));
  EXPECT_FALSE(IsFieldTrue(object, "one"));
  EXPECT_FALSE(IsFieldTrue(object, "t"));
  EXPECT_FALSE(IsFieldTrue(Json(true), "true"));
}

TEST(WholeNumberTest, IsAnIdUpTo2To62) {
  EXPECT_EQ(WholeNumber(Json::parse("0")), 0);
  EXPECT_EQ(WholeNumber(Json::parse("4611686018427387904")), std::int64_t{1} << 62);
  for (const char* none : {"4611686018427387905", "9223372036854775808", "18446744073709551615",
                           "18446744073709551616", "-1", "-9223372036854775808", "1.0", "1e2",
                           "true", "\"1\"", "null", "[1]", "{}"}) {
    EXPECT_EQ(WholeNumber(Json::parse(none)), -1) << none;
  }
}

}  // namespace
}  // namespace maskd
