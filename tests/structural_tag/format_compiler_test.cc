// Each format by texts that it takes and texts that it does not. Tokens over a vocabulary are in
// tests/frontend/tag_markers_test.cc; here their nodes are looked at.
#include "grammar_core/frontend/structural_tag/format_compiler.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/tag_texts.h"
#include "tests/structural_tag/tag_parts.h"

namespace maskd {
namespace {

absl::StatusOr<ReadResult> CompileFormat(absl::string_view format,
                                         const MarkerTable* markers = nullptr,
                                         const Limits& limits = {}) {
  Budget budget = Budget::Unlimited();
  const GrammarSource source = {"structural_tag", Whole(format)};
  const auto document = *JsonDocument::Parse(source.text, Limits());
  const auto formats = ReadFormats(document.root(), budget);
  if (!formats.ok()) return formats.status();
  return FormatCompiler(*formats, source, {.markers = markers}, limits, budget).Compile();
}

struct CompiledCase {
  const char* name;
  std::string format;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

class CompiledFormatTest : public testing::TestWithParam<CompiledCase> {};

TEST_P(CompiledFormatTest, TakesItsTexts) {
  const auto read = CompileFormat(GetParam().format);
  ASSERT_TRUE(read.ok()) << read.status();
  IrRecognizer recognizer(read->ir);
  for (const std::string& text : GetParam().accepts) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const std::string& text : GetParam().rejects) EXPECT_FALSE(recognizer.Accepts(text)) << text;
}

std::string TextOf(absl::string_view more) {
  return absl::StrCat(R"({"type":"any_text")", more, "}");
}

std::string RepeatOf(absl::string_view bounds) {
  return absl::StrCat(R"({"type":"repeat",)", bounds, R"(,"content":)", Const("a"), "}");
}

INSTANTIATE_TEST_SUITE_P(
    Formats, CompiledFormatTest,
    testing::ValuesIn(std::vector<CompiledCase>{
        {"EmptyConst", Const(""), {""}, {"a"}},
        {"AnyText", TextOf(""), {"", "a\n\xc3\xa9"}, {"\xc3"}},
        {"FewCharacters", TextOf(R"(,"max_chars":2)"), {"", "\xc3\xa9\xc3\xa9"}, {"abc"}},
        {"NoCharacters", TextOf(R"(,"max_chars":0)"), {""}, {"a"}},
        {"NoTokens", TextOf(R"(,"max_tokens":0)"), {""}, {"a"}},
        {"AnyCount", TextOf(R"(,"max_tokens":null,"max_chars":null)"), {"", "abc"}, {}},
        {"Excludes", TextOf(R"(,"excludes":["ab","c"])"), {"ba", "aa"}, {"xab", "c"}},
        {"RepeatBetween", RepeatOf(R"("min":1,"max":2)"), {"a", "aa"}, {"", "aaa"}},
        {"RepeatWithoutEnd", RepeatOf(R"("min":2,"max":-1)"), {"aa", "aaaaa"}, {"", "a"}},
        {"RepeatNever", RepeatOf(R"("min":0,"max":0)"), {""}, {"a"}},
        {"TheFirstEndIsTheEnd",
         Tag("\"b\"", kAny, R"(["e","ff"])"),
         {"be", "bff", "bafe"},
         {"b", "bee", "bffe", "bfff", "bf"}},
        {"OnlyTheInnermostTagsEnds",
         Tag("\"(\"", Tag("\"[\"", kAny, "\"]\""), "\")\""),
         {"([)])", "([])"},
         {"([]])", "([)"}},
        {"AnEmptyEndBesideAnother",
         Tag("\"b\"", kAny, R"(["","e"])"),
         {"b", "ba", "bae"},
         {"baea", ""}},
        {"Triggered",
         Triggered(R"(["<f"])"),
         {"", "x", "<f=a>k</f>", "<<f=a>k</f>x"},
         {"<f", "<f=b>", "x<f=a>"}},
        {"AtLeastOne",
         Triggered(R"(["<f"])", R"(,"at_least_one":true)"),
         {"<f=a>k</f>", "<f=a>k</f>x"},
         {"", "x<f=a>k</f>"}},
        {"OneAtMost",
         Triggered(R"(["<f"])", R"(,"stop_after_first":true)"),
         {"", "x", "x<f=a>k</f>"},
         {"<f=a>k</f>x"}},
        {"JustOne",
         Triggered(R"(["<f"])", R"(,"stop_after_first":true,"at_least_one":true)"),
         {"<f=a>k</f>"},
         {"", "x", "<f=a>k</f><f=a>k</f>"}},
        {"TriggeredWithout",
         Triggered(R"(["<f"])", R"(,"excludes":["x"])"),
         {"y<f=a>k</f>"},
         {"x<f=a>k</f>", "<f=a>k</f>x"}},
        {"Separated",
         Separated(R"(",")"),
         {"", "<a>1</a>", "<a>1</a>,<b>x,y</b>,<a>1</a>"},
         {",", "<a>1</a>,", "<a>1</a><a>1</a>"}},
        {"SeparatedByNothing", Separated(R"("")"), {"<a>1</a><a>1</a>"}, {"<a>1</a>,<a>1</a>"}},
        {"OneOfSeparated",
         Separated(R"(",")", R"(,"at_least_one":true,"stop_after_first":true)"),
         {"<a>1</a>"},
         {"", "<a>1</a>,<a>1</a>"}},
        {"DispatchOnce",
         Dispatch(absl::StrCat(R"([["a",)", Const("1"), "]]"), R"(,"loop":false)"),
         {"", "x", "xa1"},
         {"a", "a1x", "a1a1"}},
        {"DispatchInATag",
         Tag("\"b\"", Dispatch(absl::StrCat(R"([["a",)", Const("e"), "]]")), "\"e\""),
         {"be", "baee", "bxaexe"},
         {"bae", "bxee"}},
        {"WholeTextInATag",
         Tag("\"<\"", Schema(R"({"type":"string"})", R"(,"style":"qwen_xml")"), "\">\""),
         {"<a\nb>"},
         {"<a>b>", "<a"}},
    }),
    [](const auto& test) { return test.param.name; });

struct EndsCase {
  const char* name;
  std::vector<std::string> ends;
};

class EndsTest : public testing::TestWithParam<EndsCase> {
 protected:
  // Whether `text` is free text and the end of a tag: free text holds no end, and none begins in
  // it that ends before all of the text does.
  static bool IsEnded(const std::string& text) {
    for (const std::string& end : GetParam().ends) {
      if (!absl::EndsWith(text, end)) continue;
      const std::size_t free = text.size() - end.size();
      bool is_first = true;
      for (const std::string& other : GetParam().ends) {
        const std::size_t at = text.find(other);
        if (at < free && at + other.size() < text.size()) is_first = false;
      }
      if (is_first) return true;
    }
    return false;
  }
};

// However the free text stands at the end of the tag's content.
TEST_P(EndsTest, TheFirstInTheTextEndsTheTag) {
  const std::string ends = absl::StrCat("[\"", absl::StrJoin(GetParam().ends, "\",\""), "\"]");
  const std::string optional = absl::StrCat(R"({"type":"optional","content":)", kAny, "}");
  const std::string lists = absl::StrCat(R"(,"elements":[)", Const(""), ",", optional, "]}");
  for (const std::string& content :
       {std::string(kAny), optional, R"({"type":"sequence")" + lists, R"({"type":"or")" + lists,
        Dispatch(absl::StrCat(R"([["!",)", Const("?"), "]]")),
        Schema(R"({"type":"string"})", R"(,"style":"qwen_xml")")}) {
    const auto read = CompileFormat(Tag("\"<\"", content, ends));
    ASSERT_TRUE(read.ok()) << read.status();
    IrRecognizer recognizer(read->ir);
    for (const std::string& text : TextsOver("ab", 7))
      EXPECT_EQ(recognizer.Accepts("<" + text), IsEnded(text)) << content << " " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Overlaps, EndsTest,
                         testing::ValuesIn(std::vector<EndsCase>{
                             {"One", {"ab"}},
                             {"OneItself", {"aba"}},
                             {"OneItselfTwice", {"aaa"}},
                             {"Apart", {"a", "bb"}},
                             {"EachOther", {"ab", "bba"}},
                             {"EachOtherBothWays", {"ab", "ba"}},
                             {"EachOtherAndThemselves", {"aba", "bab"}},
                             {"ThreeInARow", {"aab", "abb", "bba"}},
                             {"OneBeginsWithAnother", {"a", "ab"}},
                             {"OneEndsWithAnother", {"b", "ab"}},
                             {"OneHoldsAnother", {"b", "aba"}},
                             {"TheSameTwice", {"aa", "aa"}},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(FormatCompiler, AnEndThatMayBeLeftOutEndsWhereNoOtherStands) {
  const auto read = CompileFormat(Tag("\"<\"", kAny, R"(["aa",""])"));
  ASSERT_TRUE(read.ok()) << read.status();
  IrRecognizer recognizer(read->ir);
  for (const std::string& text : TextsOver("ab", 6))
    EXPECT_EQ(recognizer.Accepts("<" + text), text.find("aa") >= text.size() - 2) << text;
}

struct RefusedFormat {
  const char* name;
  std::string format;
  const char* place;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};

class RefusedFormatTest : public testing::TestWithParam<RefusedFormat> {};

TEST_P(RefusedFormatTest, IsToldAtItsPlace) {
  const absl::Status status = CompileFormat(GetParam().format).status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_EQ(ErrorPlace(status), GetParam().place) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Formats, RefusedFormatTest,
    testing::ValuesIn(std::vector<RefusedFormat>{
        {"ConstOfNoText", R"({"type":"const_string","value":1})", "/format/value"},
        {"MaxBelowMin", RepeatOf(R"("min":2,"max":1)"), "/format/max"},
        {"MinWithoutEnd", RepeatOf(R"("min":-1,"max":1)"), "/format/min"},
        {"NoMax", RepeatOf(R"("min":1)"), "/format/max"},
        {"MoreThanACount", TextOf(R"(,"max_chars":4294967295)"), "/format/max_chars"},
        {"EmptyExclude", TextOf(R"(,"excludes":[""])"), "/format/excludes/0"},
        {"EmptyPattern", R"({"type":"regex","pattern":""})", "/format/pattern"},
        {"EmptyRules", R"({"type":"grammar","grammar":""})", "/format/grammar"},
        {"NoSchema", Schema("1"), "/format/json_schema"},
        {"NoWhiteSpace", Schema("true", R"(,"max_whitespace_cnt":0)"),
         "/format/max_whitespace_cnt"},
        {"UnknownStyle", Schema("true", R"(,"style":"yaml")"), "/format/style"},
        {"EscapedExclude", Schema("true", R"(,"excludes":["\n"])"), "/format/excludes",
         absl::StatusCode::kUnimplemented},
        {"EmptyRule", Dispatch(R"([["",{"type":"any_text"}]])"), "/format/rules/0/0"},
        {"TextAmongTokens",
         absl::StrCat(R"({"type":"token_triggered_tags","trigger_tokens":[1],"tags":[)",
                      Tag("\"b\"", Const("k"), "\"e\""), "]}"),
         "/format/tags/0/begin"},
        {"OtherToken", TokenTriggered("[61]"), "/format/tags/0/begin"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(FormatCompiler, AMarkerIsNamedAndKept) {
  const auto read = CompileFormat(Tag("\"<call>\"", kAny, "\"</call>\""), &CallMarkers());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->markers, (std::vector<std::int32_t>{kCallToken, kEndToken}));
  const auto unspelled = CompileFormat(Const("~"), &CallMarkers());
  EXPECT_EQ(ErrorPlace(unspelled.status()), "/format/value");
}

TEST(FormatCompiler, DeepFormatsNeedNoStack) {
  std::string format = Const("x");
  Limits limits;
  limits.source_depth = 100'000;
  for (int i = 0; i < 20'000; ++i)
    format = absl::StrCat(R"({"type":"optional","content":)", std::move(format), "}");
  Budget budget = Budget::Unlimited();
  const GrammarSource source = {"structural_tag", Whole(format)};
  const auto document = *JsonDocument::Parse(source.text, limits);
  const auto formats = ReadFormats(document.root(), budget);
  ASSERT_TRUE(formats.ok()) << formats.status();
  EXPECT_TRUE(FormatCompiler(*formats, source, {}, limits, budget).Compile().ok());
}

TEST(FormatCompiler, ErrorsOfTheBuilderAreTold) {
  Limits limits;
  limits.ir_nodes = 3;
  EXPECT_TRUE(absl::IsResourceExhausted(
      CompileFormat(Tag("\"b\"", kAny, "\"e\""), nullptr, limits).status()));
}

}  // namespace
}  // namespace maskd
