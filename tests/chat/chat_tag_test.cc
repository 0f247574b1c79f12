// The tags of a small family, text by text.
#include "grammar_core/frontend/chat/chat_tag.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

// Calls are written <c NAME>{...}</c>.
std::string FamilyText(absl::string_view more, absl::string_view in_calls = "") {
  return absl::StrCat(R"({"id":"f","models":"F",)", more, R"("calls":{"trigger":"<c",)", in_calls,
                      R"("parallel":true,"call":["<c ",{"name":"raw"},">",{"arguments":"json"},)",
                      R"("</c>"]}})");
}

class ChatTagTest : public testing::Test {
 protected:
  // `more`: behind the request.
  ChatRequest Request(absl::string_view request, absl::string_view more = "",
                      const std::string& family = FamilyText("")) {
    document_ = *JsonDocument::Parse(
        absl::StrCat(R"({"family":"qwen_3","request":)", request, more, "}"), Limits());
    ChatRequest read = *ReadChatRequest(document_->root());
    read.family = *ReadChatFamily(family);
    return read;
  }
  // What stands in the tag.
  std::string FormatOf(const ChatRequest& request) {
    const absl::StatusOr<std::string> tag = ChatTag(request);
    EXPECT_TRUE(tag.ok()) << tag.status();
    const auto document = *JsonDocument::Parse(*tag, Limits());
    EXPECT_EQ(document.root().Compact(), *tag) << "no white space";
    EXPECT_EQ(document.root().Find("type")->text(), "structural_tag");
    return document.root().Find("format")->Compact();
  }

  std::optional<JsonDocument> document_;
};

constexpr absl::string_view kOne = R"({"tools":[{"name":"a","parameters":{"type":"null"}}]})";
constexpr absl::string_view kCall =
    R"({"type":"tag","begin":"<c a>","content":{"type":"json_schema","json_schema":{"type":"null"},)"
    R"("style":"json"},"end":["</c>"]})";
constexpr absl::string_view kMust = R"({"tools":[{"name":"a","parameters":{"type":"null"}}],
  "tool_choice":"required"})";

std::string Forced(absl::string_view stop = "false") {
  return absl::StrCat(R"({"type":"tags_with_separator","tags":[)", kCall,
                      R"(],"separator":"","at_least_one":true,"stop_after_first":)", stop, "}");
}

TEST_F(ChatTagTest, WithoutToolsItIsFreeTextThatBeginsNoCall) {
  EXPECT_EQ(FormatOf(Request("{}")), R"({"type":"any_text","excludes":["<c"]})");
  EXPECT_EQ(FormatOf(Request("{}", "", FamilyText(R"("excludes":["<x>"],)"))),
            R"({"type":"any_text","excludes":["<x>","<c"]})");
}

TEST_F(ChatTagTest, CallsStandInFreeTextOrAlone) {
  EXPECT_EQ(FormatOf(Request(kOne)),
            absl::StrCat(R"({"type":"triggered_tags","triggers":["<c"],"tags":[)", kCall,
                         R"(],"excludes":[],"stop_after_first":false})"));
  EXPECT_EQ(FormatOf(Request(kMust)), Forced());
  ChatRequest one = Request(kMust);
  one.parallel = false;
  EXPECT_EQ(FormatOf(one), Forced("true"));
}

TEST_F(ChatTagTest, ReasoningStandsBefore) {
  const std::string family =
      FamilyText(R"("reasoning":{"begin":"<r>","end":["</r>","</R>"]},"between":"|",)");
  const auto block = [](absl::string_view begin, absl::string_view most) {
    return absl::StrCat(R"({"type":"sequence","elements":[{"type":"tag","begin":")", begin,
                        R"(","content":{"type":"any_text")", most,
                        R"(},"end":["</r>","</R>"]},{"type":"const_string","value":"|"}]})");
  };
  const auto behind = [](const std::string& reasoning) {
    return absl::StrCat(R"({"type":"sequence","elements":[)", reasoning, ",", Forced(), "]}");
  };
  const auto format = [&](absl::string_view reasoning) {
    return FormatOf(Request(kMust, absl::StrCat(R"(,"reasoning":)", reasoning), family));
  };
  EXPECT_EQ(format(R"("off")"), Forced());
  EXPECT_EQ(format(R"("on")"), behind(block("<r>", "")));
  EXPECT_EQ(format(R"("open")"), behind(block("", "")));
  EXPECT_EQ(format(R"({"mode":"on","max_tokens":3})"), behind(block("<r>", R"(,"max_tokens":3)")));
  EXPECT_EQ(format(R"("auto")"),
            behind(absl::StrCat(R"({"type":"optional","content":)", block("<r>", ""), "}")));
}

TEST_F(ChatTagTest, AFramedAnswerIsOneOrCalls) {
  const std::string family = FamilyText(R"("answer":{"begin":"<a>","end":"</a>"},)");
  const std::string answer =
      R"({"type":"tag","begin":"<a>","content":{"type":"any_text","excludes":["<c"]},)"
      R"("end":["</a>"]})";
  EXPECT_EQ(FormatOf(Request("{}", "", family)), answer);
  EXPECT_EQ(FormatOf(Request(kOne, "", family)),
            absl::StrCat(R"({"type":"or","elements":[)", answer, ",", Forced(), "]}"));
  EXPECT_EQ(FormatOf(Request(kMust, "", family)), Forced());
}

struct FormatCase {
  const char* format;
  const char* content;
};

TEST_F(ChatTagTest, AResponseFormatIsTheAnswer) {
  for (const FormatCase& one : std::vector<FormatCase>{
           {R"({"type":"text"})", R"({"type":"any_text","excludes":["<c"]})"},
           {R"({"type":"json_object"})",
            R"({"type":"json_schema","json_schema":{"type":"object"},"style":"json"})"},
           {R"({"type":"json_schema","json_schema":{"name":"n","schema":{"title":"t"}}})",
            R"({"type":"json_schema","json_schema":{},"style":"json"})"},
           {R"({"type":"structural_tag","format":{"type": "any_text"}})", R"({"type":"any_text"})"},
           {R"({"type":"regex","pattern":"\"a"})", R"({"type":"regex","pattern":"\"a"})"}}) {
    const std::string format = absl::StrCat(R"("response_format":)", one.format);
    EXPECT_EQ(FormatOf(Request(absl::StrCat("{", format, "}"))), one.content);
  }
  const std::string beside = R"(,"response_format":{"type":"regex","pattern":"a"}})";
  EXPECT_EQ(
      FormatOf(Request(absl::StrCat(kOne.substr(0, kOne.size() - 1), beside))),
      absl::StrCat(R"({"type":"or","elements":[{"type":"regex","pattern":"a"},)", Forced(), "]}"));
  EXPECT_EQ(FormatOf(Request(absl::StrCat(kMust.substr(0, kMust.size() - 1), beside))), Forced());
}

TEST_F(ChatTagTest, AnUnknownResponseFormatIsTold) {
  for (const auto& [format, place] :
       {std::pair{"1", "/request/response_format"},
        {R"({"type":"yaml"})", "/request/response_format"},
        {R"({"type":"regex"})", "/request/response_format"},
        {R"({"type":"structural_tag"})", "/request/response_format"},
        {R"({"type":"json_schema"})", "/request/response_format/json_schema/schema"},
        {R"({"type":"json_schema","json_schema":[]})",
         "/request/response_format/json_schema/schema"}}) {
    const absl::Status status =
        ChatTag(Request(absl::StrCat(R"({"response_format":)", format, "}"))).status();
    EXPECT_EQ(ErrorPlace(status), place) << status;
  }
}

TEST_F(ChatTagTest, ASectionStandsAroundItsCalls) {
  const std::string family =
      FamilyText("", R"("begin":"<c_all>","end":"</c_all>","separator":";",)");
  const std::string section =
      absl::StrCat(R"({"type":"tag","begin":"<c_all>","content":{"type":"tags_with_separator",)",
                   R"("tags":[)", kCall, R"(],"separator":";","at_least_one":true,)",
                   R"("stop_after_first":false},"end":["</c_all>"]})");
  EXPECT_EQ(FormatOf(Request(kMust, "", family)), section);
  EXPECT_EQ(FormatOf(Request(kOne, "", family)),
            absl::StrCat(R"({"type":"triggered_tags","triggers":["<c"],"tags":[)", section,
                         R"(],"excludes":[],"stop_after_first":true})"));
}

TEST_F(ChatTagTest, RequestsThatMeanTheSameHaveTheSameText) {
  const auto text = [&](absl::string_view request) { return *ChatTag(Request(request)); };
  EXPECT_EQ(text(R"({"tools":[{"name":"b"},{"name":"a","description":"d","parameters":
              {"type":"null","title":"t"}}],"model":"m"})"),
            text(R"({"tools":[{"type":"function","function":{"name":"a","parameters":
              {"type":"null","$comment":"c"}}},{"name":"b"}]})"));
  EXPECT_NE(text(R"({"tools":[{"name":"a","parameters":{"const":{"title":"t"}}}]})"),
            text(R"({"tools":[{"name":"a","parameters":{"const":{"title":"u"}}}]})"));
}

TEST_F(ChatTagTest, OneTagStandsForAllTools) {
  const ChatRequest two =
      Request(R"({"tools":[{"name":"b"},{"name":"a","parameters":{"const":"\u0001 1"}}]})");
  const absl::StatusOr<ChatTagText> tag = MakeChatTag(two);
  ASSERT_TRUE(tag.ok()) << tag.status();
  ASSERT_EQ(tag->tools.size(), 2);
  EXPECT_EQ(tag->tools[0].name, "a");
  EXPECT_EQ(tag->tools[0].schema.text(), R"({"const":"\u0001 1"})");
  EXPECT_EQ(tag->tools[1].name, "b");
  const absl::StatusOr<ChatTagText> one = MakeChatTag(Request(kOne));
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(tag->text, one->text) << "it does not depend on the tools";
  EXPECT_TRUE(absl::StrContains(tag->text, R"({"type":"tag_of_each_tool",)")) << tag->text;
}

TEST_F(ChatTagTest, WhereATextCouldMeanAToolEachHasItsTag) {
  const auto expect_whole = [](const ChatRequest& request) {
    const absl::StatusOr<ChatTagText> tag = MakeChatTag(request);
    ASSERT_TRUE(tag.ok()) << tag.status();
    EXPECT_TRUE(tag->tools.empty());
    EXPECT_EQ(tag->text, *ChatTag(request));
  };
  expect_whole(Request(R"({"tools":[{"name":"a"}],"response_format":{"type":"json_object"}})"));
  expect_whole(Request(
      kOne, "",
      R"({"id":"f","models":"F","calls":{"trigger":"<c","call":["<c\u0001",{"name":"json"},"=",)"
      R"({"arguments":"json"},">"]}})"));
}

TEST_F(ChatTagTest, ArgumentsAreHeldByStrictness) {
  constexpr absl::string_view kTools = R"({"tools":[{"name":"a","parameters":{"type":"null"}},
    {"name":"b","parameters":{"type":"null"},"strict":true},{"name":"c"}],"tool_choice":"auto"})";
  const auto schemas = [&](absl::string_view strictness, bool must_call) {
    ChatRequest request = Request(kTools, absl::StrCat(R"(,"strictness":")", strictness, "\""));
    request.must_call = must_call;
    std::string all;
    for (const ChatTool& tool : request.tools)
      absl::StrAppend(&all, ArgumentsSchema(request, tool).text(), " ");
    return all;
  };
  const std::string held = R"({"type":"null"} )";
  const std::string none = R"({"type":"object","properties":{},"additionalProperties":false} )";
  const std::string any = R"({"type":"object"} )";
  EXPECT_EQ(schemas("parameter", false), held + held + none);
  EXPECT_EQ(schemas("auto", false), any + held + any);
  EXPECT_EQ(schemas("auto", true), held + held + none);
  EXPECT_EQ(schemas("function", true), any + any + any);
}

TEST_F(ChatTagTest, AToolAloneIsItsCall) {
  const ChatRequest request = Request(kOne);
  EXPECT_EQ(ToolTag(request, request.tools[0]),
            absl::StrCat(R"({"type":"structural_tag","format":)", kCall, "}"));
}

TEST_F(ChatTagTest, WhatFollowsArgumentsIsInItsOrder) {
  const std::string family =
      R"({"id":"f","models":"F","calls":{"trigger":"<c","call":["<c",{"pattern":"[0-9]"},":",)"
      R"({"name":"json"},"=",{"arguments":"python"},"/",{"name":"raw"},">"]}})";
  const ChatRequest request = Request(kOne, "", family);
  EXPECT_EQ(
      ToolTag(request, request.tools[0]),
      R"({"type":"structural_tag","format":{"type":"tag","begin":"<c","content":{"type":"sequence",)"
      R"("elements":[{"type":"regex","pattern":"[0-9]"},{"type":"const_string","value":":a="},)"
      R"({"type":"json_schema","json_schema":{"type":"null"},"style":"python"}]},"end":["/a>"]}})");
}

}  // namespace
}  // namespace maskd
