// The kind chat: every family by its transcripts in tests/families, errors at their places in the
// request, and which requests are the same grammar.
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/frontend/chat/family.h"
#include "grammar_core/matcher/matcher.h"
#include "tests/frontend/reading.h"
#include "tests/frontend/verdict.h"

namespace maskd {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // members come as they were declared
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> FamilyNames() {
  std::vector<std::string> names;
  for (const EmbeddedJson& file : ChatFamilyFiles()) names.emplace_back(file.uri);
  return names;
}

class ChatFamilyTest : public testing::TestWithParam<std::string> {};

TEST_P(ChatFamilyTest, TakesItsTranscripts) {
  const auto family = FindChatFamily(GetParam(), "");
  ASSERT_TRUE(family.ok()) << family.status();
  std::ifstream file(absl::StrCat(MASKD_SOURCE_DIR, "/tests/families/", GetParam(), ".jsonl"));
  int rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const OrderedJson row = OrderedJson::parse(line);
    SCOPED_TRACE(line);
    OrderedJson source = {{"family", GetParam()}, {"request", row["request"]}};
    for (const char* key : {"reasoning", "strictness"})
      if (row.contains(key)) source[key] = row[key];
    const auto grammar = CompileOverBytes("chat", source.dump());
    ASSERT_TRUE(grammar.ok()) << grammar.status();
    const auto takes = AcceptsByMasks(*grammar, row["text"].get<std::string>());
    ASSERT_TRUE(takes.ok()) << takes.status();
    EXPECT_EQ(*takes, row["takes"].get<bool>());
  }
  EXPECT_GE(rows, 20);
}

INSTANTIATE_TEST_SUITE_P(Families, ChatFamilyTest, testing::ValuesIn(FamilyNames()),
                         [](const auto& test) { return test.param; });

// A family's file with `more` members, and `in_calls` among those of its calls.
std::string Family(const std::string& more, const std::string& in_calls = "") {
  return absl::StrCat(R"({"id":"f","models":"F",)", more,
                      R"("calls":{"trigger":"<e><t>","begin":"<e><t>","end":"</t>",)", in_calls,
                      R"("call":["<c ",{"name":"raw"},">",{"arguments":"json"},"</c>"]}})");
}

TEST(ChatFamilyFileTest, WhatIsWrongIsSaidAtItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {Family(R"("content_end":"<x>",)"), "/content_end: must begin the calls' trigger and begin"},
      {Family(R"("content_end":"<e>","answer":{"begin":"","end":""},)"),
       "/content_end: is not supported beside answer"},
      {Family(R"("content_end":1,)"), "/content_end: must be a string"},
      {Family(R"("spelling":"short",)"), R"(/spelling: must be "canonical" or "any")"},
      {Family("", R"("other_heads":"x",)"), "/calls/other_heads: must be a list of lists"},
      {Family("", R"("other_heads":["x"],)"), "/calls/other_heads/0: must be a list"},
      {Family("", R"("other_heads":[["x"]],)"), "/calls/other_heads/0: must be texts and one name"},
      {Family("", R"("other_heads":[[{"name":"raw"},{"pattern":"a"}]],)"),
       "/calls/other_heads/0: must be texts and one name"},
  };
  for (const auto& [text, message] : cases) {
    const absl::Status status = ReadChatFamily(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), StartsWith(message)) << text;
  }
  const std::string right = Family(R"("content_end":"<e>","spelling":"any",)",
                                   R"("other_heads":[["x",{"name":"raw"}]],)");
  EXPECT_TRUE(ReadChatFamily(right).ok()) << ReadChatFamily(right).status();
}

std::string Request(const std::string& request, const std::string& more = "") {
  return absl::StrCat(R"({"family":"qwen_3","request":)", request, more, "}");
}

std::string Tools(const std::string& parameters) {
  return absl::StrCat(R"({"tools":[{"type":"function","function":{"name":"f"}},)",
                      R"({"type":"function","function":{"name":"g","parameters":)", parameters,
                      "}}]}");
}

struct ErrorCase {
  const char* name;
  std::string text;
  const char* message;
};

class ChatErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(ChatErrorTest, IsAtItsPlace) {
  const absl::Status status = ReadForTest("chat", GetParam().text).status();
  EXPECT_THAT(std::string(status.message()), StartsWith(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Requests, ChatErrorTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"NoFamily", R"({"request":{}})", "/family: is missing"},
        {"OtherFamily", R"({"family":"x","request":{}})",
         "/family: there is no family \"x\"; known are apertus, "},
        {"NoRequest", R"({"family":"qwen_3"})", "/request: is missing"},
        {"UnknownKey", Request("{}", R"(,"x":1)"), "/x: is not known here; known are family, "},
        {"ToolsAreNoList", Request(R"({"tools":{}})"), "/request/tools: must be a list"},
        {"AToolWithoutAName", Request(R"({"tools":[{"type":"function","function":{}}]})"),
         "/request/tools/0/function/name: is missing"},
        {"AnOddName", Request(R"({"tools":[{"name":"a\"b"}]})"),
         "/request/tools/0/name: must be of letters, digits and "},
        {"TwoOfAName", Request(R"({"tools":[{"name":"a"},{"name":"a"}]})"),
         "/request/tools/1: an earlier tool is named \"a\", too"},
        {"AnotherType", Request(R"({"tools":[{"type":"web_search"}]})"),
         "/request/tools/0/type: must be \"function\""},
        {"ABadSchema", Request(Tools(R"({"type":"object","properties":{"a":{"type":"x"}}})")),
         "/request/tools/1/function/parameters/properties/a/type: in tool 1, \"g\": "},
        {"ANameNotATools",
         Request(R"({"tools":[{"name":"a"}],"tool_choice":{"type":"function",)"
                 R"("function":{"name":"b"}}})"),
         "/request/tool_choice/function/name: there is no tool \"b\""},
        {"RequiredOfNone", Request(R"({"tool_choice":"required"})"),
         "/request/tool_choice: a call is required, and there is no tool"},
        {"OtherChoice", Request(R"({"tool_choice":"any"})"),
         "/request/tool_choice: must be \"none\", \"auto\" or \"required\""},
        {"ABadFormat",
         Request(R"({"response_format":{"type":"json_schema","json_schema":{"schema":)"
                 R"({"type":"x"}}}})"),
         "/request/response_format/json_schema/schema/type: "},
        {"AFormatOfAnotherType", Request(R"({"response_format":{"type":"yaml"}})"),
         "/request/response_format: "},
        {"NoReasoning", R"({"family":"llama_3","request":{},"reasoning":"on"})",
         "/reasoning: the family llama_3 writes no reasoning"},
        {"ATailThatIsNoText", Request("{}", R"(,"prompt_tail":1)"),
         "/prompt_tail: must be a string"},
        {"OtherReasoning", Request("{}", R"(,"reasoning":"high")"),
         "/reasoning: must be one of \"off\", \"on\", \"open\", \"auto\""},
    }),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ChatTest, ABadToolIsLeftOutIfAsked) {
  const std::string bad = Tools(R"({"type":"object","properties":{"a":{"type":"x"}}})");
  const auto read = ReadForTest("chat", Request(bad, R"(,"bad_tools":"leave_out")"));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->warnings.size(), 1U);
  EXPECT_EQ(read->warnings[0].place, "/request/tools/1/function/parameters/properties/a/type");
  EXPECT_THAT(read->warnings[0].message, StartsWith("left out: in tool 1, \"g\": "));
}

// Not the other tool, and neither where a schema is shared.
TEST(ChatTest, AToolThatNothingSatisfiesIsToldByItsPlace) {
  const std::string closed =
      Tools(R"({"type":"object","required":["x"],"properties":{},"additionalProperties":false})");
  for (const char* family : {"qwen_3", "qwen_3_coder", "kimi_k2", "gpt_oss"}) {
    const std::string source =
        absl::StrReplaceAll(Request(closed), {{"qwen_3", std::string(family)}});
    EXPECT_THAT(std::string(ReadForTest("chat", source).status().message()),
                StartsWith("/request/tools/1/function/parameters: in tool 1, \"g\": nothing "))
        << family;
  }
  const auto read = ReadForTest("chat", Request(closed, R"(,"bad_tools":"leave_out")"));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->warnings.size(), 1U);
  EXPECT_THAT(read->warnings[0].message, StartsWith("left out: in tool 1, \"g\": nothing "));
}

TEST(ChatTest, AFunctionWithoutParametersTakesNone) {
  const auto grammar = CompileOverBytes("chat", Request(R"({"tools":[{"name":"f"}]})"));
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  const auto takes = [&](const char* arguments) {
    return *AcceptsByMasks(*grammar, absl::StrCat("<tool_call>\n{\"name\": \"f\", \"arguments\": ",
                                                  arguments, "}\n</tool_call>"));
  };
  EXPECT_TRUE(takes("{}"));
  EXPECT_FALSE(takes("{\"a\": 1}"));
}

TEST(ChatTest, ReasoningHasABudget) {
  const auto grammar =
      CompileOverBytes("chat", Request("{}", R"(,"reasoning":{"mode":"on","max_tokens":3})"));
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  EXPECT_TRUE(*AcceptsByMasks(*grammar, "<think>\nabc\n</think>\n\nx"));
  EXPECT_FALSE(*AcceptsByMasks(*grammar, "<think>\nabcd\n</think>\n\nx"));
}

TEST(ChatTest, IntegersHaveDigitsOnlyAndNamesNoEscapes) {
  const auto grammar = CompileOverBytes(
      "chat", Request(R"({"tool_choice":"required","tools":[{"name":"f","parameters":{"type":)"
                      R"("object","properties":{"n":{"type":"integer"}}}}]})"));
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  const auto takes = [&](const char* arguments) {
    return *AcceptsByMasks(*grammar, absl::StrCat("<tool_call>\n{\"name\": \"f\", \"arguments\": ",
                                                  arguments, "}\n</tool_call>"));
  };
  EXPECT_TRUE(takes(R"({"n": 10})"));
  EXPECT_FALSE(takes(R"({"n": 1e1})"));
  EXPECT_FALSE(takes(R"({"n": 10.0})"));
  EXPECT_FALSE(takes(R"({"\u006e": 10})"));
}

TEST(ChatTest, APromptThatBeginsTheReasoningLeavesItOpen) {
  const auto takes = [](const char* tail, const char* text) {
    const auto grammar = CompileOverBytes(
        "chat", Request("{}", absl::StrCat(R"(,"reasoning":"auto","prompt_tail":)", tail)));
    EXPECT_TRUE(grammar.ok()) << grammar.status();
    return grammar.ok() && *AcceptsByMasks(*grammar, text);
  };
  constexpr const char* kOpen = "hm\n</think>\n\nx";
  constexpr const char* kWhole = "<think>\nhm\n</think>\n\nx";
  EXPECT_TRUE(takes(R"("assistant\n<think>\n")", kOpen));
  EXPECT_TRUE(takes(R"("<think>")", kOpen));
  EXPECT_FALSE(takes(R"("assistant\n")", kOpen));
  EXPECT_TRUE(takes(R"("assistant\n")", kWhole));
  EXPECT_FALSE(takes(R"("<think>\n\n</think>\n\n")", kOpen));
}

std::string IdOf(const std::string& text) { return *GrammarId({"chat", text}, "hash", Limits()); }

TEST(ChatIdTest, WhatSaysNothingChangesNoId) {
  const char* const schema = R"({"type":"object","properties":{"title":{"type":"string"}}})";
  const char* const told =
      R"({"title":"T","description":"d","type":"object","properties":{"title":)"
      R"({"type":"string","examples":["a"],"description":"e"}}})";
  const std::string id = IdOf(Request(Tools(schema)));
  EXPECT_EQ(IdOf(Request(Tools(told))), id);
  EXPECT_NE(IdOf(Request(Tools(R"({"type":"object","properties":{}})"))), id);
  EXPECT_NE(IdOf(Request(Tools(schema), R"(,"reasoning":"on")")), id);
  std::string with_messages = Tools(schema);
  with_messages.insert(1, R"("model":"m","messages":[{"role":"user","content":"hi"}],)");
  EXPECT_EQ(IdOf(Request(with_messages)), id);
}

std::string IdOfFamily(const std::string& family) {
  return IdOf(absl::StrCat(R"({"family":)", family, R"(,"request":{"tools":[{"name":"a"}]}})"));
}

// Both write the same, and read white space before a call otherwise.
TEST(ChatIdTest, FamiliesThatReadOtherwiseAreTwo) {
  EXPECT_NE(IdOfFamily(R"("firefunction_2")"), IdOfFamily(R"("phi_4_mini")"));
}

TEST(ChatIdTest, AFamilysFileHasItsOwnByWhatStandsInIt) {
  const std::string calls = R"("trigger":"<c>","call":["<c>",{"name":"raw"},{"arguments":"json"}])";
  const auto file = [&](absl::string_view models, absl::string_view more) {
    return absl::StrCat(R"({"id":"x","models":")", models, R"(","calls":{)", calls, more, "}}");
  };
  const std::string id = IdOfFamily(file("M", ""));
  EXPECT_EQ(IdOfFamily(absl::StrCat(" ", file("M", ""), "\n")), id);
  EXPECT_EQ(IdOfFamily(file("Others", "")), id);
  EXPECT_NE(IdOfFamily(file("M", R"(,"parallel":true)")), id);
  // Read otherwise alone.
  EXPECT_NE(IdOfFamily(file("M", R"(,"before":" ")")), id);
  EXPECT_NE(IdOfFamily(file("M", R"(,"id":"{name}")")), id);
}

TEST(ChatIdTest, TheFileOfAKnownFamilyMeansThatFamily) {
  for (const EmbeddedJson& file : ChatFamilyFiles()) {
    const std::string name = absl::StrCat("\"", file.uri, "\"");
    EXPECT_EQ(IdOfFamily(std::string(file.text)), IdOfFamily(name)) << file.uri;
  }
}

TEST(ChatIdTest, NorDoesTheOrderOfTools) {
  const std::string a = R"({"name":"a","parameters":{"type":"object"}})";
  const std::string b = R"({"name":"b"})";
  EXPECT_EQ(IdOf(Request(absl::StrCat(R"({"tools":[)", a, ",", b, "]}"))),
            IdOf(Request(absl::StrCat(R"({"tools":[)", b, ",", a, "]}"))));
}

}  // namespace
}  // namespace maskd
