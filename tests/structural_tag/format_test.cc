#include "grammar_core/frontend/structural_tag/format.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/tag_texts.h"

namespace maskd {
namespace {

using T = FormatType;

class FormatTest : public testing::Test {
 protected:
  absl::StatusOr<std::vector<TagFormat>> Read(absl::string_view json) {
    document_ = *JsonDocument::Parse(json, Limits());
    Budget budget = Budget::Unlimited();
    return ReadFormats(document_->root(), budget);
  }

  std::optional<JsonDocument> document_;
};

TEST_F(FormatTest, EachStandsBeforeThoseWithinIt) {
  const std::string inner = Tag(R"("<b>")", Const("x"), R"("</b>")");
  const std::string list = absl::StrCat(R"({"type":"sequence","elements":[)", kAny, ",", inner,
                                        R"(,{"type":"star","content":)", Const("y"), "}]}");
  const auto formats = Read(Whole(Tag(R"("<a>")", list, R"(["</a>","</A>"])")));
  ASSERT_TRUE(formats.ok()) << formats.status();
  const std::vector<T> types = {T::kTag,  T::kSequence,    T::kAnyText,    T::kTag,
                                T::kStar, T::kConstString, T::kConstString};
  const std::vector<FormatId> tags = {kNoFormat, 0, 0, 0, 0, 3, 0};
  const std::vector<FormatIds> parts = {{1}, {2, 3, 4}, {}, {5}, {6}, {}, {}};
  ASSERT_EQ(formats->size(), types.size());
  for (FormatId id = 0; id < types.size(); ++id) {
    EXPECT_EQ((*formats)[id].type, types[id]) << id;
    EXPECT_EQ((*formats)[id].tag, tags[id]) << id;
    EXPECT_EQ((*formats)[id].parts, parts[id]) << id;
  }
  EXPECT_EQ((*formats)[0].begin, "<a>");
  EXPECT_EQ((*formats)[0].bounds->ends, (std::vector<std::string>{"</a>", "</A>"}));
  EXPECT_FALSE((*formats)[0].bounds->may_end_empty);
  EXPECT_EQ((*formats)[5].at.Pointer(), "/format/content/elements/1/content");
}

TEST_F(FormatTest, BoundsAreTextsOrTokens) {
  const auto formats = Read(Whole(Tag(R"({"type":"token","token":7})", Const("x"), R"(["","e"])")));
  ASSERT_TRUE(formats.ok()) << formats.status();
  const TagBounds& bounds = *(*formats)[0].bounds;
  ASSERT_TRUE(bounds.begin_token.has_value());
  EXPECT_EQ(bounds.begin_token->ids.size(), 1U);
  EXPECT_TRUE(bounds.may_end_empty);
  EXPECT_EQ(bounds.ends, std::vector<std::string>{"e"});
  EXPECT_FALSE(bounds.end_token.has_value());
  const auto by_token = Read(Whole(Tag(R"("b")", kAny, R"({"type":"token","token":"</c>"})")));
  ASSERT_TRUE(by_token.ok()) << by_token.status();
  EXPECT_EQ((*by_token)[0].bounds->end_token->names, std::vector<std::string>{"</c>"});
  EXPECT_TRUE((*by_token)[0].bounds->ends.empty());
}

TEST_F(FormatTest, ATagOfEachToolIsAsManyTags) {
  const std::string mark = R"(\u0001)";
  const std::string list =
      absl::StrCat(R"({"type":"tags_with_separator","tags":[{"type":"tag_of_each_tool","begin":"<)",
                   mark, R"(>","content":)", Const(mark), R"(,"end":"</)", mark, R"(>"},)",
                   Tag(R"("<b>")", Const("x"), R"("</b>")"), R"(],"separator":","})");
  EXPECT_FALSE(Read(Whole(list)).ok()) << "without tools there is no such type";
  const std::vector<TagTool> tools = {{"f", SharedText("{}")}, {"g", SharedText("{}")}};
  Budget budget = Budget::Unlimited();
  const auto formats = ReadFormats(document_->root(), budget, &tools);
  ASSERT_TRUE(formats.ok()) << formats.status();
  ASSERT_EQ(formats->size(), 7);
  EXPECT_EQ(formats->at(0).parts, (FormatIds{1, 2, 3}));
  for (const std::size_t i : {0U, 1U}) {
    const TagFormat& tag = formats->at(1 + i);
    EXPECT_EQ(tag.tool, &tools[i]);
    EXPECT_EQ(tag.begin, absl::StrCat("<", tools[i].name, ">"));
    EXPECT_EQ(tag.bounds->ends, std::vector<std::string>{absl::StrCat("</", tools[i].name, ">")});
    const TagFormat& content = formats->at(4 + i);
    EXPECT_EQ(content.tool, &tools[i]);
    EXPECT_EQ(TextOfTool(content.at.FindText("value"), content), tools[i].name);
  }
  EXPECT_EQ(formats->at(3).tool, nullptr);
  EXPECT_EQ(TextOfTool("\x01", formats->at(3)), "\x01") << "a text as any other";
}

TEST_F(FormatTest, TagsOfToolsHaveTheirBoundsInCommonWhereTheirEndsHaveNoName) {
  for (const bool is_named : {false, true}) {
    const std::string tags = absl::StrCat(
        R"({"type":"tags_with_separator","tags":[{"type":"tag_of_each_tool","begin":"<\u0001>",)",
        R"("content":)", Const("x"), R"(,"end":["</)", is_named ? R"(\u0001)" : "f",
        R"(>","e"]}],"separator":","})");
    EXPECT_FALSE(Read(Whole(tags)).ok());
    const std::vector<TagTool> tools = {{"f", SharedText("{}")}, {"g", SharedText("{}")}};
    Budget budget = Budget::Unlimited();
    const auto formats = ReadFormats(document_->root(), budget, &tools);
    ASSERT_TRUE(formats.ok()) << formats.status();
    const TagFormat& f = formats->at(1);
    const TagFormat& g = formats->at(2);
    EXPECT_EQ(f.begin, "<f>");
    EXPECT_EQ(g.begin, "<g>");
    EXPECT_EQ(f.bounds->ends, (std::vector<std::string>{"</f>", "e"}));
    EXPECT_EQ(g.bounds->ends, (std::vector<std::string>{is_named ? "</g>" : "</f>", "e"}));
    EXPECT_EQ(f.bounds == g.bounds, !is_named);
  }
}

TEST_F(FormatTest, TheOlderFormIsStructuresWithTheirSchemas) {
  const auto formats = Read(R"({"structures":[{"begin":"<f>","schema":{},"end":"</f>"},
    {"begin":"<g>","schema":true,"end":""}],"triggers":["<"]})");
  ASSERT_TRUE(formats.ok()) << formats.status();
  ASSERT_EQ(formats->size(), 5U);
  EXPECT_EQ((*formats)[0].type, T::kStructures);
  EXPECT_EQ((*formats)[0].parts, (FormatIds{1, 2}));
  EXPECT_EQ((*formats)[2].type, T::kStructure);
  EXPECT_TRUE((*formats)[2].bounds->may_end_empty);
  EXPECT_EQ((*formats)[4].type, T::kStructureSchema);
  EXPECT_EQ((*formats)[4].tag, 2U);
}

struct OpenCase {
  const char* name;
  std::string format;
  bool open_ended;
};

class OpenEndedTest : public testing::TestWithParam<OpenCase> {};

// Which is the same as whether a tag around it may end with the empty text.
TEST_P(OpenEndedTest, NeedsAnEndAround) {
  Budget budget = Budget::Unlimited();
  const auto document = *JsonDocument::Parse(Whole(GetParam().format), Limits());
  const auto formats = ReadFormats(document.root(), budget);
  ASSERT_TRUE(formats.ok()) << formats.status();
  EXPECT_EQ(formats->front().open_ended, GetParam().open_ended);
  for (const char* end : {"\"\"", "[\"\",\"\"]"}) {
    const auto tag = *JsonDocument::Parse(Whole(Tag("\"b\"", GetParam().format, end)), Limits());
    const absl::Status status = ReadFormats(tag.root(), budget).status();
    EXPECT_EQ(status.ok(), !GetParam().open_ended) << status;
    if (!status.ok()) EXPECT_EQ(ErrorPlace(status), "/format/end");
  }
}

std::string OneOf(absl::string_view type, absl::string_view format) {
  return absl::StrCat(R"({"type":")", type, R"(","elements":[)", Const("x"), ",", format, "]}");
}

std::string Of(absl::string_view type, absl::string_view format) {
  return absl::StrCat(R"({"type":")", type, R"(","content":)", format, "}");
}

INSTANTIATE_TEST_SUITE_P(
    Formats, OpenEndedTest,
    testing::ValuesIn(std::vector<OpenCase>{
        {"Const", Const("x"), false},
        {"AnyText", std::string(kAny), true},
        {"Star", Of("star", Const("x")), true},
        {"Plus", Of("plus", Const("x")), true},
        {"Optional", Of("optional", Const("x")), false},
        {"OptionalAny", Of("optional", kAny), true},
        {"Repeat", R"({"type":"repeat","min":0,"max":2,"content":{"type":"token","token":1}})",
         false},
        {"RepeatWithoutMost",
         absl::StrCat(R"({"type":"repeat","min":0,"max":-1,"content":)", Const("x"), "}"), true},
        {"RepeatOfAny", absl::StrCat(R"({"type":"repeat","min":1,"max":2,"content":)", kAny, "}"),
         true},
        {"Sequence", OneOf("sequence", Const("y")), false},
        {"SequenceWithAny", OneOf("sequence", kAny), true},
        {"OrWithAny", OneOf("or", Of("optional", kAny)), true},
        {"AnyInATag", OneOf("sequence", Tag("\"c\"", kAny, "\"d\"")), false},
        {"Triggered", Triggered(R"(["<"])"), true},
        {"Separated", Separated("\",\""), true},
        {"Dispatch", Dispatch(R"([["a",{"type":"token","token":1}]])"), true},
        {"AnyTokens", R"({"type":"any_tokens"})", true},
        {"OneToken", R"({"type":"exclude_token"})", false},
    }),
    [](const auto& test) { return test.param.name; });

struct BadCase {
  const char* name;
  std::string text;
  const char* place;
};

class BadFormatTest : public testing::TestWithParam<BadCase> {};

TEST_P(BadFormatTest, IsToldAtItsPlace) {
  Budget budget = Budget::Unlimited();
  const auto document = *JsonDocument::Parse(GetParam().text, Limits());
  const absl::Status status = ReadFormats(document.root(), budget).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(status), GetParam().place) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Formats, BadFormatTest,
    testing::ValuesIn(std::vector<BadCase>{
        {"NoObject", "[]", ""},
        {"OtherType", R"({"type":"json","format":{}})", "/type"},
        {"NoFormat", "{}", "/format"},
        {"NoType", Whole("{}"), "/format/type"},
        {"UnknownType", Whole(R"({"type":"x"})"), "/format/type"},
        {"UnknownKey", Whole(R"({"type":"any_text","max":1})"), "/format/max"},
        {"BothForms", R"({"structures":[],"format":{}})", "/format"},
        {"NoElements", Whole(R"({"type":"or","elements":[]})"), "/format/elements"},
        {"NoTag", Whole(absl::StrCat(R"({"type":"triggered_tags","tags":[)", kAny, "]}")),
         "/format/tags/0/type"},
        {"NoPair", Whole(Dispatch(R"([["a"]])")), "/format/rules/0"},
        {"DeepInAPair", Whole(Dispatch(R"([["a",{"type":"x"}]])")), "/format/rules/0/1/type"},
        {"NoEnds", Whole(Tag("\"b\"", Const("x"), "[]")), "/format/end"},
        {"OddEnd", Whole(Tag("\"b\"", Const("x"), "[1]")), "/format/end/0"},
        {"OddBegin", Whole(Tag("1", Const("x"), "\"\"")), "/format/begin"},
        {"StructureWithoutEnd", R"({"structures":[{"begin":"b","schema":{}}]})",
         "/structures/0/end"},
    }),
    [](const auto& test) { return test.param.name; });

TEST_F(FormatTest, TheBudgetPaysForEachFormat) {
  const std::atomic<bool> cancelled = true;
  Budget none({.cancelled = &cancelled});
  const auto document = *JsonDocument::Parse(Whole(OneOf("or", Const("y"))), Limits());
  EXPECT_TRUE(absl::IsCancelled(ReadFormats(document.root(), none).status()));
}

}  // namespace
}  // namespace maskd
