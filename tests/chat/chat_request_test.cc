#include "grammar_core/frontend/chat/chat_request.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

class ChatRequestTest : public testing::Test {
 protected:
  // Of the family qwen_3, with `more` members beside the request.
  absl::StatusOr<ChatRequest> Read(absl::string_view request, absl::string_view more = "") {
    return ReadText(absl::StrCat(R"({"family":"qwen_3","request":)", request, more, "}"));
  }
  absl::StatusOr<ChatRequest> ReadText(const std::string& text) {
    document_ = *JsonDocument::Parse(text, Limits());
    return ReadChatRequest(document_->root());
  }
  std::string Names(absl::string_view request) {
    const auto read = Read(request);
    EXPECT_TRUE(read.ok()) << read.status();
    std::string names;
    for (const ChatTool& tool : read->tools) absl::StrAppend(&names, tool.name, " ");
    return absl::StrCat(names, read->must_call ? "must " : "", read->parallel ? "any" : "one");
  }

  std::optional<JsonDocument> document_;
};

constexpr absl::string_view kTools = R"("tools":[{"type":"function","function":{"name":"c"}},
  {"type":"function","function":{"name":"a","strict":true,"parameters":{"type":"object"}}},
  {"name":"b","parameters":true,"strict":null}])";

std::string WithTools(absl::string_view more) { return absl::StrCat("{", kTools, more, "}"); }

TEST_F(ChatRequestTest, ToolsComeByTheirNames) {
  const auto read = Read(WithTools(""));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->tools.size(), 3U);
  EXPECT_EQ(read->tools[0].name, "a");
  EXPECT_TRUE(read->tools[0].strict);
  EXPECT_EQ(read->tools[0].schema->Pointer(), "/request/tools/1/function/parameters");
  EXPECT_EQ(ToolPlace(read->tools[0]), "tool 1, \"a\"");
  EXPECT_FALSE(read->tools[1].strict);
  EXPECT_EQ(read->tools[1].schema->Pointer(), "/request/tools/2/parameters");
  EXPECT_EQ(read->tools[2].at.Pointer(), "/request/tools/0");
  EXPECT_FALSE(read->tools[2].schema.has_value());
}

TEST_F(ChatRequestTest, WithoutAWordAllIsAsOpenAiHasIt) {
  const auto read = Read("{}");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->family.name, "qwen_3");
  EXPECT_TRUE(read->tools.empty());
  EXPECT_FALSE(read->must_call);
  EXPECT_TRUE(read->parallel);
  EXPECT_EQ(read->reasoning, ChatReasoning::kOff);
  EXPECT_EQ(read->strictness, ChatStrictness::kParameter);
  EXPECT_FALSE(read->leave_out_bad_tools);
  EXPECT_FALSE(read->response_format.has_value());
  EXPECT_EQ(Names(R"({"tools":null,"tool_choice":null,"parallel_tool_calls":null,
    "response_format":null})"),
            "any");
}

struct ChoiceCase {
  const char* choice;
  const char* names;
};

TEST_F(ChatRequestTest, AChoiceShortensTheTools) {
  for (const ChoiceCase& one : std::vector<ChoiceCase>{
           {R"("auto")", "a b c any"},
           {R"("none")", "any"},
           {R"("required")", "a b c must any"},
           {R"({"type":"function","function":{"name":"b"}})", "b must one"},
           {R"({"type":"function","name":"b"})", "b must one"},
           {R"({"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[
               {"type":"function","function":{"name":"c"}},{"name":"a"}]}})",
            "a c any"},
           {R"({"type":"allowed_tools","mode":"required","tools":[{"name":"c"},{"name":"c"}]})",
            "c must any"}})
    EXPECT_EQ(Names(WithTools(absl::StrCat(R"(,"tool_choice":)", one.choice))), one.names)
        << one.choice;
  EXPECT_EQ(Names(WithTools(R"(,"parallel_tool_calls":false,"tool_choice":"required")")),
            "a b c must one");
  EXPECT_EQ(Names(R"({"tool_choice":"none"})"), "any");
  EXPECT_EQ(Names(R"({"tool_choice":"auto","tools":[]})"), "any");
}

TEST_F(ChatRequestTest, OtherMembersAreNotLookedAt) {
  EXPECT_EQ(Names(R"({"messages":5,"max_tokens":"x","stream":[],"functions":1})"), "any");
}

TEST_F(ChatRequestTest, ReasoningIsAWordOrHasABound) {
  for (const auto& [word, reasoning] : {std::pair{"off", ChatReasoning::kOff},
                                        {"on", ChatReasoning::kOn},
                                        {"open", ChatReasoning::kOpen},
                                        {"auto", ChatReasoning::kAuto}}) {
    const auto plain = Read("{}", absl::StrCat(R"(,"reasoning":")", word, "\""));
    EXPECT_EQ(plain->reasoning, reasoning) << word;
    EXPECT_FALSE(plain->reasoning_tokens.has_value());
    const auto bounded =
        Read("{}", absl::StrCat(R"(,"reasoning":{"mode":")", word, R"(","max_tokens":7})"));
    EXPECT_EQ(bounded->reasoning, reasoning) << word;
    EXPECT_EQ(bounded->reasoning_tokens, 7U);
  }
  EXPECT_EQ(Read("{}", R"(,"reasoning":null)")->reasoning, ChatReasoning::kOff);
  EXPECT_EQ(Read("{}", R"(,"reasoning":{})")->reasoning, ChatReasoning::kOff);
}

TEST_F(ChatRequestTest, AnOpenPromptOpensWhatMayBegin) {
  const auto behind = [&](absl::string_view reasoning, absl::string_view tail) {
    return Read("{}",
                absl::StrCat(R"(,"reasoning":")", reasoning, R"(","prompt_tail":")", tail, "\""))
        ->reasoning;
  };
  EXPECT_EQ(behind("auto", R"(<|im_start|>assistant\n<think>\n)"), ChatReasoning::kOpen);
  EXPECT_EQ(behind("auto", "<think>"), ChatReasoning::kOpen);
  EXPECT_EQ(behind("auto", "<think>x"), ChatReasoning::kAuto);
  EXPECT_EQ(behind("auto", ""), ChatReasoning::kAuto);
  EXPECT_EQ(behind("on", "<think>"), ChatReasoning::kOn);
  EXPECT_EQ(behind("off", "<think>"), ChatReasoning::kOff);
}

TEST_F(ChatRequestTest, StrictnessAndBadToolsAreWords) {
  EXPECT_EQ(Read("{}", R"(,"strictness":"function")")->strictness, ChatStrictness::kFunction);
  EXPECT_EQ(Read("{}", R"(,"strictness":"auto")")->strictness, ChatStrictness::kAuto);
  EXPECT_EQ(Read("{}", R"(,"strictness":null)")->strictness, ChatStrictness::kParameter);
  EXPECT_TRUE(Read("{}", R"(,"bad_tools":"leave_out")")->leave_out_bad_tools);
  EXPECT_FALSE(Read("{}", R"(,"bad_tools":"refuse")")->leave_out_bad_tools);
}

struct PlacedCase {
  const char* name;
  std::string text;
  const char* place;
};

class BadRequestTest : public testing::TestWithParam<PlacedCase> {};

TEST_P(BadRequestTest, IsToldAtItsPlace) {
  const auto document = *JsonDocument::Parse(GetParam().text, Limits());
  const absl::Status status = ReadChatRequest(document.root()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(status), GetParam().place) << status;
}

std::string OfQwen(absl::string_view request, absl::string_view more = "") {
  return absl::StrCat(R"({"family":"qwen_3","request":)", request, more, "}");
}

std::string OneTool(absl::string_view tool) {
  return OfQwen(absl::StrCat(R"({"tools":[{"name":"x"},)", tool, "]}"));
}

std::string Chosen(absl::string_view choice) {
  return OfQwen(WithTools(absl::StrCat(R"(,"tool_choice":)", choice)));
}

INSTANTIATE_TEST_SUITE_P(
    Requests, BadRequestTest,
    testing::ValuesIn(std::vector<PlacedCase>{
        {"NoObject", "[]", ""},
        {"RequestIsNoObject", OfQwen("[]"), "/request"},
        {"FamilyIsNoText", R"({"family":1,"request":{}})", "/family"},
        {"ToolIsNoObject", OneTool("1"), "/request/tools/1"},
        {"FunctionIsNoObject", OneTool(R"({"function":1})"), "/request/tools/1/function"},
        {"NameIsEmpty", OneTool(R"({"name":""})"), "/request/tools/1/name"},
        {"NameIsLong", OneTool(absl::StrCat(R"({"name":")", std::string(257, 'a'), "\"}")),
         "/request/tools/1/name"},
        {"ParametersAreNoSchema", OneTool(R"({"name":"a","parameters":[]})"),
         "/request/tools/1/parameters"},
        {"StrictIsNoFlag", OneTool(R"({"name":"a","strict":1})"), "/request/tools/1/strict"},
        {"NameOfMoreThanAWord",
         R"({"family":{"id":"x","models":"M","calls":{"trigger":"<c>",
             "call":["<c>",{"name":"word"},{"arguments":"json"}]}},
             "request":{"tools":[{"name":"a_1"},{"name":"a-1"}]}})",
         "/request/tools/1"},
        {"NameTwice", OneTool(R"({"function":{"name":"x"}})"), "/request/tools/1"},
        {"ParallelIsNoFlag", OfQwen(R"({"parallel_tool_calls":"yes"})"),
         "/request/parallel_tool_calls"},
        {"ChoiceIsANumber", Chosen("1"), "/request/tool_choice"},
        {"ChoiceOfAnotherType", Chosen(R"({"type":"custom","name":"a"})"),
         "/request/tool_choice/type"},
        {"ChoiceOfNone", Chosen(R"({"type":"function","name":"z"})"), "/request/tool_choice/name"},
        {"AllowedIsNone",
         Chosen(R"({"type":"allowed_tools","mode":"none","tools":[{"name":"a"}]})"),
         "/request/tool_choice/mode"},
        {"AllowedHasNoMode", Chosen(R"({"type":"allowed_tools","tools":[{"name":"a"}]})"),
         "/request/tool_choice/mode"},
        {"AllowedIsEmpty", Chosen(R"({"type":"allowed_tools","mode":"auto","tools":[]})"),
         "/request/tool_choice/tools"},
        {"AllowedIsUnknown",
         Chosen(
             R"({"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"name":"z"}]}})"),
         "/request/tool_choice/allowed_tools/tools/0/name"},
        {"OtherMode", OfQwen("{}", R"(,"reasoning":{"mode":"high"})"), "/reasoning/mode"},
        {"ManyTokens", OfQwen("{}", R"(,"reasoning":{"mode":"on","max_tokens":1e10})"),
         "/reasoning/max_tokens"},
        {"OtherKey", OfQwen("{}", R"(,"reasoning":{"effort":"on"})"), "/reasoning/effort"},
        {"OtherStrictness", OfQwen("{}", R"(,"strictness":true)"), "/strictness"},
        {"OtherBadTools", OfQwen("{}", R"(,"bad_tools":"drop")"), "/bad_tools"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
