// The reader of JSON, against nlohmann's over random texts; its errors and their places by hand.
#include "grammar_core/frontend/json/json_reader.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/base/error.h"

namespace maskd::json_internal {
namespace {

using Json = nlohmann::json;

absl::Status ReadInto(const std::string& text, Tree* tree, std::int64_t max_depth = 64) {
  tree->texts.push_back({text, "", 0});
  return Reader(max_depth, tree).Read();
}

// The value of a node, for which the nodes must be as the header of the tree has them.
Json ValueOf(const Tree& tree, JsonId id) {
  const Node& node = tree.nodes[id];
  const auto children = [&](auto add) {
    std::uint32_t count = 0;
    for (JsonId child = id + 1; child < node.end; child = tree.nodes[child].end) {
      EXPECT_EQ(tree.nodes[child].parent, id);
      EXPECT_EQ(tree.nodes[child].index, count++);
      add(child);
    }
    EXPECT_EQ(node.size, count);
  };
  Json value;
  switch (node.type) {
    case JsonType::kNull:
      return nullptr;
    case JsonType::kFalse:
      return false;
    case JsonType::kTrue:
      return true;
    case JsonType::kNumber:
      return Json::parse(node.text.begin(), node.text.end());
    case JsonType::kString:
      return std::string(node.text);
    case JsonType::kArray:
      value = Json::array();
      children([&](JsonId child) { value.push_back(ValueOf(tree, child)); });
      return value;
    case JsonType::kObject:
      value = Json::object();
      children([&](JsonId child) {
        value[std::string(tree.nodes[child].key)] = ValueOf(tree, child);
        EXPECT_EQ(FindMember(tree, id, tree.nodes[child].key), child);
      });
      return value;
    case JsonType::kUnread:
      ADD_FAILURE() << "nothing is known";
  }
  return value;
}

// JSON in its odd spellings.
class TextMaker {
 public:
  std::string Value(int depth) {
    const std::string inner = Space();
    switch (Pick(depth > 3 ? 3 : 5)) {
      case 0:
        return absl::StrCat(inner, Number(), Space());
      case 1:
        return absl::StrCat(inner, String(), Space());
      case 2:
        return absl::StrCat(inner, kWords[Pick(3)], Space());
      case 3:
        return absl::StrCat(inner, "[", List(depth, false), "]", Space());
      default:
        return absl::StrCat(inner, "{", List(depth, true), "}", Space());
    }
  }

  // `text` with some of its bytes changed.
  std::string Broken(std::string text) {
    for (std::size_t i = 1 + Pick(3); i > 0 && !text.empty(); --i) {
      const std::size_t at = Pick(text.size());
      const char odd = kOdd[Pick(kOdd.size())];
      switch (Pick(3)) {
        case 0:
          text.erase(at, 1);
          break;
        case 1:
          text.insert(at, 1, odd);
          break;
        default:
          text[at] = odd;
          break;
      }
    }
    return text;
  }

 private:
  std::size_t Pick(std::size_t count) { return random_() % count; }
  std::string Space() { return std::string(kSpaces[Pick(6)]); }
  std::string Number() {
    return absl::StrCat(kSigns[Pick(2)], kIntegers[Pick(4)], kFractions[Pick(3)],
                        kExponents[Pick(4)]);
  }
  std::string String() {
    std::string text = "\"";
    for (std::size_t i = Pick(4); i > 0; --i) absl::StrAppend(&text, kPieces[Pick(14)]);
    return text + "\"";
  }
  std::string List(int depth, bool object) {
    std::string text = Space();
    const std::size_t count = Pick(4);
    for (std::size_t i = 0; i < count; ++i) {
      // A number in the key: keys of one object are distinct.
      const std::string key = absl::StrCat("\"", i, kPieces[Pick(14)], "\"", Space(), ":");
      absl::StrAppend(&text, i > 0 ? "," : "", object ? Space() + key : "", Value(depth + 1));
    }
    return text;
  }

  static constexpr absl::string_view kOdd = "{}[],:\"\\u0 -+.eE1dDcCf8tnr\n\t\x01\xC3\xA9\xF0\x80";
  static constexpr absl::string_view kWords[] = {"null", "true", "false"};
  static constexpr absl::string_view kSpaces[] = {"", "", "", " ", "\n", "\t\r "};
  static constexpr absl::string_view kSigns[] = {"", "-"};
  static constexpr absl::string_view kIntegers[] = {"0", "7", "10", "123456789"};
  static constexpr absl::string_view kFractions[] = {"", ".0", ".125"};
  static constexpr absl::string_view kExponents[] = {"", "e1", "E-2", "e+03"};
  static constexpr absl::string_view kPieces[] = {"",
                                                  "a",
                                                  "é",
                                                  "\xF0\x9F\x98\x80",
                                                  "\\n",
                                                  "\\\"",
                                                  "\\\\",
                                                  "\\/",
                                                  "\\b~",
                                                  "\\u0041",
                                                  "\\uD83D\\uDE00",
                                                  "\\u00e9",
                                                  "\\u0000",
                                                  "long text of some bytes"};
  std::mt19937_64 random_{24};
};

TEST(JsonReaderTest, RandomTextsAreWhatNlohmannMakesOfThem) {
  TextMaker maker;
  int read_well = 0;
  int broken = 0;
  for (int i = 0; i < 6000; ++i) {
    const std::string whole = maker.Value(0);
    const std::string text = i % 3 == 0 ? whole : maker.Broken(whole);
    Tree tree;
    const absl::Status status = ReadInto(text, &tree);
    // A key that occurs twice is refused here alone.
    const bool twice = ErrorPlace(status).find(':') == std::string::npos && !status.ok();
    if (twice) {
      EXPECT_NE(status.message().find("the key occurs twice"), std::string::npos) << status;
      continue;
    }
    ASSERT_EQ(status.ok(), Json::accept(text)) << text << "\n" << status;
    ++(status.ok() ? read_well : broken);
    if (!status.ok()) continue;
    EXPECT_EQ(tree.nodes[0].end, tree.nodes.size());
    EXPECT_EQ(ValueOf(tree, 0), Json::parse(text)) << text;
  }
  EXPECT_GT(read_well, 2000);
  EXPECT_GT(broken, 2000);
}

// Every beginning of a text that is no value yet is an error at its end or in the last token.
TEST(JsonReaderTest, EveryBeginningIsAnErrorInTheText) {
  const std::string text = R"({"a" : [1.5e+3, "x\u00e9\ud83d\ude00", {}, null],
 "b":{"c":-0}})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    Tree tree;
    const absl::Status status = ReadInto(text.substr(0, size), &tree);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << size;
    const bool second_line = size > text.find('\n');
    EXPECT_EQ(ErrorPlace(status).substr(0, 2), second_line ? "2:" : "1:") << size << status;
  }
}

struct BadJson {
  std::string name;
  std::string text;
  std::string message;
};
class BadJsonTest : public testing::TestWithParam<BadJson> {};

TEST_P(BadJsonTest, IsToldAtItsPlace) {
  Tree tree;
  const absl::Status status = ReadInto(GetParam().text, &tree, 3);
  EXPECT_EQ(status.message(), GetParam().message);
}

const std::string kTildes(100, '~');

INSTANTIATE_TEST_SUITE_P(
    Texts, BadJsonTest,
    testing::ValuesIn(std::vector<BadJson>{
        {"Empty", " \n ", "2:2: the text is empty, a JSON value is expected"},
        {"ByteOrderMark", "\xEF\xBB\xBF{}", "1:1: a JSON value is expected"},
        {"NoBreakSpace", "[1,\xC2\xA0 2]", "1:4: a JSON value is expected"},
        {"Two", "1 2", "1:3: nothing may follow the JSON value"},
        {"Nul", std::string("1\0", 2), "1:2: nothing may follow the JSON value"},
        {"Plus", "+1", "1:1: a JSON value is expected"},
        {"Minus", "[-]", "1:3: a digit is expected"},
        {"LeadingZero", "[-01]", "1:3: a number has no leading zeros"},
        {"Point", "1.", "1:3: a digit is expected after '.'"},
        {"Exponent", "1e+", "1:4: an exponent is expected"},
        {"Word", "nul", "1:1: a JSON value is expected"},
        {"WordAndMore", "nulls", "1:5: nothing may follow the JSON value"},
        {"Comma", "[1,]", "1:4: a JSON value is expected"},
        {"CommaInAnObject", "{\"a\":1,}", "1:8: a key in double quotes is expected"},
        {"KeyWithoutQuotes", "{a:1}", "1:2: a key in double quotes is expected"},
        {"NoColon", "{\"a\" 1}", "1:6: ':' is expected"},
        {"WrongBracket", "[1}", "1:3: ',' or ']' is expected"},
        {"WrongBracketOfAnObject", "{\"a\":1]", "1:7: ',' or '}' is expected"},
        {"Tab", "\"a\tb\"", "1:3: a control character in a string must be escaped"},
        {"TabBehindAnEscape", "\"\\n\t\"", "1:4: a control character in a string must be escaped"},
        {"Delete", "\"\x7F\xC3\"", "1:3: the text is not valid UTF-8"},
        {"Overlong", "\"\xC0\x80\"", "1:2: the text is not valid UTF-8"},
        {"SurrogateInUtf8", "\"\xED\xA0\x80\"", "1:2: the text is not valid UTF-8"},
        {"StringWithoutEnd", "[\"ab", "1:5: the text ends inside a string"},
        {"EscapeAtTheEnd", "\"\\", "1:2: there is no such escape"},
        {"Escape", "\"a\\x41\"", "1:3: there is no such escape"},
        {"ShortEscape", "\"\\u12\"", "1:2: \\u needs four hexadecimal digits"},
        {"LowFirst", "\"\\uDE00\"", "1:2: a surrogate without its other half"},
        {"HighThenText", "\"\\uD83Dx\"", "1:2: a surrogate without its other half"},
        {"HighThenHigh", "\"\\uD83D\\uD83D\"", "1:2: a surrogate without its other half"},
        {"HighThenShort", "\"\\uD83D\\uDE\"", "1:8: \\u needs four hexadecimal digits"},
        {"Depth", "[[[\n[", "2:1: limit source_depth is 3, 4 needed"},
        {"KeyTwice", R"({"x":[{"a/":1, "a\/":2}]})", "/x/0/a~1: the key occurs twice"},
        {"KeyTwiceInALongPlace", absl::StrCat("{\"", kTildes, "\":{\"a\":1,\"a\":2}}"),
         absl::StrCat("/", absl::StrReplaceAll(kTildes, {{"~", "~0"}}),
                      "/a: the key occurs twice")},
    }),
    [](const auto& test) { return test.param.name; });

TEST(JsonReaderTest, BracketsUpToTheDepthAreRead) {
  Tree tree;
  EXPECT_TRUE(ReadInto(std::string(10'000, '[') + std::string(10'000, ']'), &tree, 10'000).ok());
  EXPECT_EQ(tree.nodes.size(), 10'000U);
}

// As JsonDocument adds documents: nodes go on behind the first text's, keys are those of their own.
TEST(JsonReaderTest, AnotherTextIsAddedToTheTree) {
  Tree tree;
  ASSERT_TRUE(ReadInto(R"({"a":[1]})", &tree).ok());
  const auto root = static_cast<JsonId>(tree.nodes.size());
  tree.texts.push_back({R"({"a":"\u00e9"})", "other", root});
  ASSERT_TRUE(Reader(8, &tree).Read().ok());
  EXPECT_EQ(ValueOf(tree, 0), Json::parse(R"({"a":[1]})"));
  EXPECT_EQ(ValueOf(tree, root), Json::parse(R"({"a":"é"})"));
  EXPECT_EQ(tree.nodes[root].parent, kNoNode);
  tree.texts.push_back({R"({"b":1,"b":2})", "https://example.test/a/long/name",
                        static_cast<JsonId>(tree.nodes.size())});
  EXPECT_EQ(Reader(8, &tree).Read().message(),
            "https://example.test/a/long/name#/b: the key occurs twice");
}

}  // namespace
}  // namespace maskd::json_internal
