// What ReadChat() makes of the tag: places of errors and remarks, bad tools, and which requests are
// the same. Families by their transcripts are in tests/frontend/chat_test.cc.
#include "grammar_core/frontend/chat/chat.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/chat/family.h"
#include "tests/frontend/ir_recognizer.h"

namespace maskd {
namespace {

absl::StatusOr<ReadResult> ReadChatText(const std::string& text) {
  Budget budget = Budget::Unlimited();
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text, Limits());
  return ReadChat(ChatSource(document->root()), {"chat", text}, {}, Limits(), budget);
}

std::string ChatText(absl::string_view request, absl::string_view more = "",
                     absl::string_view family = "qwen_3") {
  return absl::StrCat(R"({"family":")", family, R"(","request":)", request, more, "}");
}

std::string InFormat(absl::string_view format) {
  return ChatText(absl::StrCat(R"({"response_format":)", format, "}"));
}

struct ChatPlace {
  const char* name;
  std::string text;
  const char* place;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};

class ChatPlaceTest : public testing::TestWithParam<ChatPlace> {};

// A place that is told is one of the source.
TEST_P(ChatPlaceTest, IsOfTheSource) {
  const absl::Status status = ReadChatText(GetParam().text).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_EQ(ErrorPlace(status), GetParam().place) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Errors, ChatPlaceTest,
    testing::ValuesIn(std::vector<ChatPlace>{
        {"InATool", ChatText(R"({"tools":[{"name":"b"},{"name":"a","parameters":
            {"title":"t","properties":{"json_schema":{"type":"x"}}}}]})"),
         "/request/tools/1/parameters/properties/json_schema/type"},
        {"StyleOfATool",
         ChatText(R"({"tools":[{"name":"a","parameters":{"minProperties":1}}]})", "",
                  "qwen_3_coder"),
         "/request/tools/0/parameters", absl::StatusCode::kUnimplemented},
        {"InASchema", InFormat(R"({"type":"json_schema","json_schema":{"schema":
            {"properties":{"json_schema":{"type":"x"}}}}})"),
         "/request/response_format/json_schema/schema/properties/json_schema/type"},
        {"NoSchema", InFormat(R"({"type":"json_schema","json_schema":{"schema":1}})"),
         "/request/response_format/json_schema/schema"},
        {"InAPattern", InFormat(R"({"type":"regex","pattern":"("})"), "/request/response_format"},
        {"InATag", InFormat(R"({"type":"structural_tag","format":{"type":"x"}})"),
         "/request/response_format"},
        {"InASchemaOfATag", InFormat(R"({"type":"structural_tag","format":
            {"type":"json_schema","json_schema":{"type":"x"}}})"),
         "/request/response_format"},
        {"InARequest", ChatText(R"({"tools":1})"), "/request/tools"},
    }),
    [](const auto& test) { return test.param.name; });

constexpr absl::string_view kBadTool = R"({"name":"bad","parameters":{"type":"x"}})";
constexpr absl::string_view kGoodTool = R"({"name":"good","parameters":{"type":"object"}})";
constexpr absl::string_view kLeaveOut = R"(,"bad_tools":"leave_out")";
constexpr absl::string_view kCallOfGood =
    "<tool_call>\n{\"name\": \"good\", \"arguments\": {}}\n</tool_call>";

std::string ToolsText(const std::vector<absl::string_view>& tools, absl::string_view choice) {
  std::string list;
  for (const absl::string_view tool : tools) absl::StrAppend(&list, list.empty() ? "" : ",", tool);
  return absl::StrCat(R"({"tools":[)", list, R"(],"tool_choice":")", choice, "\"}");
}

TEST(Chat, ABadToolIsRefusedOrLeftOutWithAWarning) {
  const std::string request = ToolsText({kBadTool, kGoodTool}, "required");
  EXPECT_EQ(ErrorPlace(ReadChatText(ChatText(request)).status()),
            "/request/tools/0/parameters/type");
  const auto read = ReadChatText(ChatText(request, kLeaveOut));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(IrRecognizer(read->ir).Accepts(kCallOfGood));
  ASSERT_EQ(read->warnings.size(), 1U);
  EXPECT_EQ(read->warnings[0].place, "/request/tools/0/parameters/type");
  EXPECT_THAT(read->warnings[0].message,
              testing::StartsWith("left out: in tool 0, \"bad\": there is no type"));
}

TEST(Chat, WithoutAToolLeftAForcedCallIsRefused) {
  const absl::Status forced =
      ReadChatText(ChatText(ToolsText({kBadTool}, "required"), kLeaveOut)).status();
  EXPECT_EQ(ErrorPlace(forced), "/request/tools/0/parameters/type");
  const auto free = ReadChatText(ChatText(ToolsText({kBadTool}, "auto"), kLeaveOut));
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_TRUE(IrRecognizer(free->ir).Accepts("text"));
  EXPECT_FALSE(IrRecognizer(free->ir).Accepts("<tool_call>"));
}

TEST(Chat, AToolThatNothingSatisfiesIsOneOfThem) {
  constexpr absl::string_view kEmptyTool = R"({"name":"empty","parameters":false})";
  const std::string request = ToolsText({kGoodTool, kEmptyTool}, "auto");
  EXPECT_EQ(ErrorPlace(ReadChatText(ChatText(request)).status()), "/request/tools/1/parameters");
  const auto read = ReadChatText(ChatText(request, kLeaveOut));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->warnings.size(), 1U);
  EXPECT_EQ(read->warnings[0].place, "/request/tools/1/parameters");
  EXPECT_TRUE(IrRecognizer(read->ir).Accepts(kCallOfGood));
}

// The tag that is made names the schemas of tools by numbers. What a request says is none.
TEST(Chat, ANumberInAResponseFormatIsNoSchema) {
  for (const absl::string_view format :
       {R"({"type":"json_schema","json_schema":{"schema":0}})",
        R"({"type":"structural_tag","format":{"type":"json_schema","json_schema":0}})"}) {
    const std::string text = ChatText(
        absl::StrCat(R"({"tools":[{"name":"a","parameters":{"type":"object"}}],"response_format":)",
                     format, "}"));
    EXPECT_EQ(ReadChatText(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(Chat, RemarksHaveNoPlaceInTheTag) {
  const auto read = ReadChatText(ChatText(R"({"tools":[{"name":"a","parameters":{"type":"object",
    "properties":{"s":{"type":"string","enum":["</parameter>","y"]}}}}]})",
                                          "", "qwen_3_coder"));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_FALSE(read->warnings.empty());
  for (const Diagnostic& warning : read->warnings)
    EXPECT_FALSE(absl::StartsWith(warning.place, "/format")) << warning.place;
}

TEST(Chat, NothingHasAPlaceInTheTag) {
  const auto read = ReadChatText(ChatText(ToolsText({kGoodTool, kBadTool}, "auto"), kLeaveOut));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_FALSE(read->ir.rules.empty());
  for (const IrRule& rule : read->ir.rules)
    EXPECT_FALSE(absl::StartsWith(rule.place, "/format")) << rule.place;
}

TEST(Chat, WhyNothingSatisfiesTheFormatIsToldAtItsPlace) {
  const auto read = ReadChatText(ChatText(
      R"({"response_format":{"type":"json_schema","json_schema":{"schema":{"items":{
          "type":"string","minLength":5,"maxLength":3},"type":"array","minItems":1}}}})"));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_FALSE(read->faults.empty());
  for (const auto& [rule, fault] : read->faults)
    EXPECT_EQ(ErrorPlace(fault), "/request/response_format/json_schema/schema/items/maxLength");
}

std::string NormalOf(const std::string& text) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text, Limits());
  return NormalChat(ChatSource(document->root()), document->root());
}

TEST(NormalChat, IsTheSameForTheSameAnswers) {
  EXPECT_EQ(NormalOf(ChatText(ToolsText({kGoodTool, R"({"name":"b"})"}, "auto"))),
            NormalOf(ChatText(ToolsText({R"({"name":"b","description":"d"})", kGoodTool}, "auto"),
                              R"(,"reasoning":"off","strictness":"parameter")")));
  const std::string request = ToolsText({kGoodTool}, "auto");
  EXPECT_NE(NormalOf(ChatText(request)), NormalOf(ChatText(request, R"(,"reasoning":"on")")));
  EXPECT_NE(NormalOf(ChatText(request)), NormalOf(ChatText(request, kLeaveOut)));
  const std::string held = ToolsText({R"({"name":"b","parameters":{"type":"null"}})"}, "auto");
  EXPECT_NE(NormalOf(ChatText(held)), NormalOf(ChatText(held, R"(,"strictness":"function")")));
}

TEST(NormalChat, IsTheTextOfWhatIsNoRequest) {
  EXPECT_EQ(NormalOf(R"({"family": "no"})"), R"({"family":"no"})");
  EXPECT_EQ(NormalOf(R"({"family":"qwen_3","request":{"response_format": 1}})"),
            R"({"family":"qwen_3","request":{"response_format":1}})");
}

// Families that write the same tag may still spell its JSON otherwise.
TEST(NormalChat, TellsApartHowJsonIsSpelled) {
  for (const std::string& request :
       {ToolsText({kGoodTool}, "auto"),
        std::string(R"({"response_format":{"type":"json_object"}})")}) {
    std::map<std::string, JsonSpelling> spellings;
    for (const EmbeddedJson& file : ChatFamilyFiles()) {
      const JsonSpelling spelling = SpellingOf(*ReadChatFamily(file.text));
      const auto [found, is_new] =
          spellings.emplace(NormalOf(ChatText(request, "", file.uri)), spelling);
      EXPECT_EQ(found->second, spelling) << file.uri;
    }
  }
}

}  // namespace
}  // namespace maskd
