// The kind structural_tag: each format by texts that it takes and texts that it does not, by the
// engine's masks and, where no tokens are named, by the slow recogniser.
//
// tests/peers/compare.py compares random tags with xgrammar.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/frontend/tag_texts.h"
#include "tests/frontend/verdict.h"

namespace maskd {
namespace {

struct TextCase {
  const char* name;
  std::string format;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

class StructuralTagTest : public testing::TestWithParam<TextCase> {
 protected:
  void ExpectText(const ReducedGrammar& read, const std::string& text, bool expected) {
    SCOPED_TRACE(text);
    if (read.ir.token_specs.empty() && !LimitsTokens(read.ir))
      EXPECT_EQ(IrRecognizer(read.ir).Accepts(text), expected);
    const absl::StatusOr<bool> accepts = AcceptsByMasks(grammar_, text);
    ASSERT_TRUE(accepts.ok()) << accepts.status();
    EXPECT_EQ(*accepts, expected);
  }

  std::shared_ptr<const CompiledGrammar> grammar_;
};

TEST_P(StructuralTagTest, HoldsItsTexts) {
  const std::string source = Whole(GetParam().format);
  const auto read = ReadForTest("structural_tag", source);
  ASSERT_TRUE(read.ok()) << read.status();
  const auto compiled = CompileOverBytes("structural_tag", source);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  grammar_ = *compiled;
  for (const std::string& text : GetParam().accepts) ExpectText(*read, text, true);
  for (const std::string& text : GetParam().rejects) ExpectText(*read, text, false);
}

std::string Name(const testing::TestParamInfo<TextCase>& test) { return test.param.name; }

// SGLang's older form always says at_least_one.
TEST(StructuralTagOlderFormTest, MayAskForAtLeastOne) {
  const auto takes = [](const char* more, const char* text) {
    const auto compiled = CompileOverBytes(
        "structural_tag",
        absl::StrCat(R"({"structures":[{"begin":"<f>","schema":{"type":"null"},"end":"</f>"}],)"
                     R"("triggers":["<f"])",
                     more, "}"));
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    return compiled.ok() && *AcceptsByMasks(*compiled, text);
  };
  EXPECT_TRUE(takes(R"(,"at_least_one":false)", "a"));
  EXPECT_TRUE(takes(R"(,"at_least_one":true)", "<f>null</f> a"));
  EXPECT_FALSE(takes(R"(,"at_least_one":true)", ""));
  EXPECT_FALSE(takes(R"(,"at_least_one":true)", "a <f>null</f>"));
}

INSTANTIATE_TEST_SUITE_P(
    Plain, StructuralTagTest,
    testing::ValuesIn(std::vector<TextCase>{
        {"ConstString", Const("a\\n"), {"a\n"}, {"a", "", "a\na"}},
        {"EmptyConstString", Const(""), {""}, {"a"}},
        {"Regex", R"({"type":"regex","pattern":"a(b|c)*d"})", {"ad", "abcd"}, {"a", "abc"}},
        {"Grammar",
         R"({"type":"grammar","grammar":"root ::= root \"a\" | \"b\""})",
         {"b", "baa"},
         {"a", ""}},
        {"AnyText", std::string(kAny), {"", "a\nb", "\xC3\xA9"}, {"\xC3"}},
        {"AnyTextExcludes",
         R"({"type":"any_text","excludes":["foo","bar"]})",
         {"", "fo", "ba", "foba"},
         {"foo", "xbarx", "ffoo"}},
        {"AnyTextMaxChars",
         R"({"type":"any_text","max_chars":2})",
         {"", "ab", "\xC3\xA9\xC3\xA9"},
         {"abc"}},
        {"AnyTextMaxTokens",
         R"({"type":"any_text","max_tokens":2})",
         {"", "ab", "\xC3\xA9"},
         {"abc", "\xC3"}},
        {"AnyTextMaxTokensOfNone", R"({"type":"any_text","max_tokens":0})", {""}, {"a"}},
        {"AnyTextOfATagMaxTokens",
         Tag(R"("<")", R"({"type":"any_text","max_tokens":3})", R"("/>")"),
         {"</>", "<ab/>", "<abc/>", "<a//>", "<ab//>"},
         {"<abcd/>", "<a/>b", "<a"}},
        {"AnyTextNulls", R"({"type":"any_text","max_chars":null,"max_tokens":null})", {"abc"}, {}},
        {"Sequence",
         absl::StrCat(R"({"type":"sequence","elements":[)", Const("a"), ",", kAny, ",", Const("b"),
                      "]}"),
         {"ab", "axb", "abb"},
         {"a", "b", ""}},
        {"Or",
         absl::StrCat(R"({"type":"or","elements":[)", Const("a"), ",", Const("bc"), "]}"),
         {"a", "bc"},
         {"", "abc"}},
        {"Optional", R"({"type":"optional","content":)" + Const("a") + "}", {"", "a"}, {"aa"}},
        {"Plus", R"({"type":"plus","content":)" + Const("a") + "}", {"a", "aa"}, {""}},
        {"Star", R"({"type":"star","content":)" + Const("a") + "}", {"", "a", "aa"}, {"b"}},
        {"Repeat",
         R"({"type":"repeat","min":1,"max":2,"content":)" + Const("a") + "}",
         {"a", "aa"},
         {"", "aaa"}},
        {"RepeatNone",
         R"({"type":"repeat","min":0,"max":0,"content":)" + Const("a") + "}",
         {""},
         {"a"}},
        {"RepeatUnbounded",
         R"({"type":"repeat","min":2,"max":-1,"content":)" + Const("a") + "}",
         {"aa", "aaaaa"},
         {"a"}},
    }),
    Name);

INSTANTIATE_TEST_SUITE_P(
    Tags, StructuralTagTest,
    testing::ValuesIn(std::vector<TextCase>{
        {"Tag", Tag(R"("<r>")", Const("k"), R"("</r>")"), {"<r>k</r>"}, {"<r>k", "k", "<r></r>"}},
        {"EmptyEnds", Tag(R"("")", Const("k"), R"("")"), {"k"}, {"", "kk"}},
        {"ListOfEnds", Tag(R"("<")", kAny, R"([">","!"])"), {"<a>", "<a!"}, {"<a!>", "<a>!", "<a"}},
        {"ListWithAnEmptyEnd", Tag(R"("<")", Const("k"), R"([">",""])"), {"<k>", "<k"}, {"<"}},
        {"TheFirstEndIsTheEnd",
         Tag(R"("<")", kAny, R"("</x>")"),
         {"<</x>", "<a</</x>", "<</x</x>"},
         {"<a</x></x>", "<a</x>b"}},
        {"AnEndThatOverlapsItself",
         Tag(R"("<")", kAny, R"("aba")"),
         {"<aba", "<xaba", "<aaba", "<abbaba"},
         {"<ababa", "<xababa", "<abaaba", "<ab"}},
        {"EndsThatOverlapEachOther",
         Tag(R"("<")", kAny, R"(["xy","yyz"])"),
         {"<xy", "<yyz", "<ayyz", "<yxy"},
         {"<xyyz", "<axyyz", "<xyz"}},
        {"AnEndThatMayBeLeftOut",
         Tag(R"("<")", kAny, R"(["aa",""])"),
         {"<aa", "<ba", "<a", "<"},
         {"<aab"}},
        {"NestedAndOnlyTheInnermostEnds",
         Tag(R"("<a>")", Tag(R"("<b>")", kAny, R"("</b>")"), R"("</a>")"),
         {"<a><b>x</b></a>", "<a><b>x</a></b></a>"},
         {"<a><b>x</a></b>", "<a></a>"}},
        {"EndsReachThroughOtherFormats",
         Tag(R"("<")",
             absl::StrCat(R"({"type":"sequence","elements":[{"type":"optional","content":)", kAny,
                          "},", Const("X"), "]}"),
             R"(">")"),
         {"<X>", "<aX>", "<XX>"},
         {"<>", "<a>X>"}},
        {"MaxCharsThenTheEnd",
         Tag(R"("<")", R"({"type":"any_text","max_chars":2})", R"("/>")"),
         {"</>", "<ab/>", "<a//>"},
         {"<abc/>", "<ab//>"}},
        {"Separator",
         Separated(R"(",")"),
         {"", "<a>1</a>", "<a>1</a>,<b>2</b>"},
         {",", "<a>1</a>,", "<a>1</a><a>1</a>"}},
        {"SeparatorEmpty", Separated(R"("")"), {"", "<a>1</a><b></b>"}, {"<a>1</a>,<b></b>"}},
        {"SeparatorAtLeastOne",
         Separated(R"(",")", R"(,"at_least_one":true)"),
         {"<a>1</a>", "<b>x</b>,<b>y</b>"},
         {""}},
        {"SeparatorStop",
         Separated(R"(",")", R"(,"stop_after_first":true)"),
         {"", "<a>1</a>"},
         {"<a>1</a>,<a>1</a>"}},
        {"TagsNeedNoType",
         R"({"type":"tags_with_separator","separator":"","tags":[{"begin":"<","content":{"type":"const_string","value":"k"},"end":">"}]})",
         {"<k>"},
         {"k"}},
    }),
    Name);

INSTANTIATE_TEST_SUITE_P(
    Triggers, StructuralTagTest,
    testing::ValuesIn(std::vector<TextCase>{
        {"Free",
         Triggered(R"(["<f"])"),
         {"", "a", "<", "x<f=a>k</f>y", "<<f=a>k</f>", "<f=a>k</f><f=a>k</f>"},
         {"<f", "<f=b>k</f>", "x<fy"}},
        {"AtLeastOne",
         Triggered(R"(["<f"])", R"(,"at_least_one":true)"),
         {"<f=a>k</f>", "<f=a>k</f>z", "<f=a>k</f>z<f=a>k</f>"},
         {"", "a", "a<f=a>k</f>"}},
        {"StopAfterFirst",
         Triggered(R"(["<f"])", R"(,"stop_after_first":true)"),
         {"", "a", "a<f=a>k</f>"},
         {"<f=a>k</f>a", "<f=a>k</f><f=a>k</f>"}},
        {"ExactlyOne",
         Triggered(R"(["<f"])", R"(,"at_least_one":true,"stop_after_first":true)"),
         {"<f=a>k</f>"},
         {"", "<f=a>k</f>a"}},
        {"Excludes",
         Triggered(R"(["<f"])", R"(,"excludes":["z"])"),
         {"a<f=a>k</f>b"},
         {"z", "<f=a>k</f>z"}},
        {"ExcludedInATrigger",
         Triggered(R"(["<f"])", R"(,"excludes":["<"])"),
         {"", "a"},
         {"<f=a>k</f>", "b<f=a>k</f>", "<"}},
        {"ExcludedTrigger",
         Triggered(R"(["<f"])", R"(,"excludes":["<f"])"),
         {"", "<"},
         {"<f=a>k</f>", "b<f=a>k</f>", "<f"}},
        {"ExcludedBeforeATrigger",
         Triggered(R"(["<f"])", R"(,"excludes":["a<f"])"),
         {"<f=a>k</f>", "b<f=a>k</f>"},
         {"a<f=a>k</f>"}},
        {"ExcludedFromTheTriggerOn",
         Triggered(R"(["<f"])", R"(,"excludes":["<f="])"),
         {"<f=a>k</f>", "b<f=a>k</f>"},
         {"a<f="}},
        {"OverlapsItself",
         absl::StrCat(R"({"type":"triggered_tags","triggers":["aba"],"tags":[)",
                      Tag(R"("abac")", Const("k"), R"("!")"), "]}"),
         {"aback!", "ab", "xaback!"},
         {"ababack!", "aba"}},
        {"InATag",
         Tag(R"("[")", Triggered(R"(["<f"])"), R"("]")"),
         {"[]", "[a<f=a>k</f>b]"},
         {"[a]b]", "[a"}},
        {"InATagStop",
         Tag(R"("[")", Triggered(R"(["<f"])", R"(,"stop_after_first":true)"), R"("]")"),
         {"[a]", "[a<f=a>k</f>]"},
         {"[<f=a>k</f>b]"}},
        {"TheEndInATrigger",
         Tag(R"("[")",
             absl::StrCat(R"({"type":"triggered_tags","triggers":["<f]"],"tags":[)",
                          Tag(R"("<f]>")", Const("k"), R"("!")"), "]}"),
             R"("]")"),
         {"[<f]"},
         {"[a<f]>k!b]"}},
        {"Dispatch",
         Dispatch(absl::StrCat(R"([["<f>",)", Const("1"), R"(],["<g>",)", kAny, "]]")),
         {"", "a<f>1b", "a<g>x", "<g>x<f>2"},
         {"<f>", "<f>2"}},
        {"DispatchOnce",
         Dispatch(absl::StrCat(R"([["<f>",)", Const("1"), "]]"), R"(,"loop":false)"),
         {"", "a", "a<f>1"},
         {"a<f>1b", "<f>2"}},
        {"DispatchExcludes",
         Dispatch(absl::StrCat(R"([["<f>",)", Const("z"), "]]"), R"(,"excludes":["z"])"),
         {"a<f>z"},
         {"z", "<f>zz"}},
        {"OneTriggerBeginsAnother",
         Dispatch(absl::StrCat(R"([["a",)", Const("1"), R"(],["ab",)", Const("2"), "]]")),
         {"a1", "ab2", "xab2a1", "b"},
         {"a", "ab", "ab1"}},
        {"OneTriggerEndsAnother",
         Dispatch(absl::StrCat(R"([["b",)", Const("1"), R"(],["ab",)", Const("2"), "]]")),
         {"b1", "ab2", "a", "aab2b1"},
         {"ab1", "ab"}},
        {"OneTriggerInAnother",
         Dispatch(absl::StrCat(R"([["bc",)", Const("1"), R"(],["abcd",)", Const("2"), "]]")),
         {"bc1", "abcd2", "abc1", "ab"},
         {"abc", "abcd1"}},
        {"EqualTriggers",
         Dispatch(absl::StrCat(R"([["a",)", Const("1"), R"(],["a",)", Const("2"), "]]")),
         {"a1", "a2a1"},
         {"a", "a3"}},
    }),
    Name);

INSTANTIATE_TEST_SUITE_P(
    Tokens, StructuralTagTest,
    testing::ValuesIn(std::vector<TextCase>{
        {"ById", R"({"type":"token","token":97})", {"a"}, {"b", "aa", ""}},
        {"ByText", R"({"type":"token","token":"a"})", {"a"}, {"b"}},
        {"Exclude",
         R"({"type":"exclude_token","exclude_tokens":[97,"b"]})",
         {"c"},
         {"a", "b", "cc"}},
        {"ExcludeNone", R"({"type":"exclude_token"})", {"a"}, {"", "aa"}},
        {"AnyTokens", R"({"type":"any_tokens","max_tokens":2})", {"", "ab", "\xC3"}, {"abc"}},
        {"AnyTokensBut", R"({"type":"any_tokens","exclude_tokens":[97]})", {"", "bcd"}, {"ba"}},
        {"TokenTag",
         Tag(R"({"type":"token","token":"<"})", Const("k"), R"({"type":"token","token":62})"),
         {"<k>"},
         {"<k", "k>"}},
        {"TheEndIsNoneOfAnyTokens",
         Tag(R"("<")", R"({"type":"any_tokens"})", R"({"type":"token","token":62})"),
         {"<a>", "<>"},
         {"<a>>"}},
        {"TheEndIsNotExcludeToken",
         Tag(R"("<")", R"({"type":"exclude_token"})", R"({"type":"token","token":62})"),
         {"<a>"},
         {"<>>"}},
        {"TextsEndDoesNotStopTokens",
         Tag(R"("<")", R"({"type":"any_tokens"})", R"(">")"),
         {"<a>", "<a>>"},
         {"<a"}},
        {"Triggered", TokenTriggered("[60]"), {"", "a<k>b", "<k><k>"}, {"<a", "<"}},
        {"TriggeredByText", TokenTriggered(R"(["<"])"), {"a<k>b"}, {"<a"}},
        {"TriggeredAtLeastOne",
         TokenTriggered("[60]", R"(,"at_least_one":true)"),
         {"<k>b<k>"},
         {"", "a<k>"}},
        {"TriggeredStop",
         TokenTriggered("[60]", R"(,"stop_after_first":true)"),
         {"", "a<k>"},
         {"<k>b"}},
        {"TriggeredExclude", TokenTriggered("[60]", R"(,"exclude_tokens":[97])"), {"b<k>"}, {"a"}},
        {"Dispatch",
         absl::StrCat(R"({"type":"token_dispatch","rules":[[60,)", Const("x"),
                      R"(]],"exclude_tokens":[59]})"),
         {"", "a<xb<x"},
         {"<y", "a;"}},
        {"DispatchOnce",
         absl::StrCat(R"({"type":"token_dispatch","loop":false,"rules":[[60,)", Const("x"), "]]}"),
         {"", "a", "a<x"},
         {"a<xb"}},
    }),
    Name);

INSTANTIATE_TEST_SUITE_P(
    Schemas, StructuralTagTest,
    testing::ValuesIn(std::vector<TextCase>{
        {"Json",
         Schema(
             R"({"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false})"),
         {R"({"x":1})", R"({"x": -12})"},
         {"{}", R"({"x":1,"y":2})"}},
        {"Boolean", Schema("true"), {"1", R"({"a":[null]})"}, {"{", ""}},
        {"References",
         Schema(
             R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"array","items":{"$ref":"#/$defs/n"}}}})"),
         {"[]", "[[],[[]]]"},
         {"[1]"}},
        {"AnyOrder",
         Schema(
             R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"required":["a","b"],"additionalProperties":false})",
             R"(,"any_order":true)"),
         {R"({"a":null,"b":null})", R"({"b":null,"a":null})"},
         {R"({"a":null})", R"({"a":null,"a":null,"b":null})"}},
        {"WhiteSpace",
         Schema(R"({"type":"array"})", R"(,"max_whitespace_cnt":1)"),
         {"[1, 2]", "[ 1 , 2 ]"},
         {"[1,  2]"}},
        {"Excludes",
         Schema(R"({"type":"object","properties":{"foo":{"type":"integer"}}})",
                R"(,"excludes":["foo"])"),
         {"{}", R"({"a":"fo"})"},
         {R"({"foo":1})", R"({"a":"xfoox"})", R"({"xfoo":1})"}},
        {"ExcludesLiterals",
         Schema(R"({"enum":["foo","bar"]})", R"(,"excludes":["foo"])"),
         {R"("bar")"},
         {R"("foo")"}},
    }),
    Name);

TEST(StructuralTagTest, IndentedJsonBeginsAtNoLevel) {
  const std::string source =
      R"({"format":{"type":"triggered_tags","triggers":["<f>"],"tags":[{"begin":"<f>","content":)"
      R"({"type":"json_schema","json_schema":{"type":"array"},"max_whitespace_cnt":9},"end":"</f>"}]}})";
  GrammarOptions options;
  options.indent = 2;
  const auto compiled = CompileOverBytes("structural_tag", source, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (const char* text : {"x\n<f>[]</f>y", "<f>[\n  1\n]</f> <f>[\n  [\n    1\n  ]\n]</f>"})
    EXPECT_TRUE(*AcceptsByMasks(*compiled, text)) << text;
  for (const char* text : {"<f>[1]</f>", "<f>[\n  1\n]</f><f>[\n    1\n  ]</f>"})
    EXPECT_FALSE(*AcceptsByMasks(*compiled, text)) << text;
}

// One schema, twice: its white space is part of what is shared.
TEST(StructuralTagTest, EachUseOfASchemaHasItsOwnWhiteSpace) {
  GrammarOptions compact;
  compact.white_space = WhiteSpace::kCompact;
  const std::string plain = Schema(R"({"type":"array"})");
  for (const int count : {63, 64}) {
    const std::string spaced =
        Schema(R"({"type":"array"})", absl::StrCat(R"(,"max_whitespace_cnt":)", count));
    const auto takes = [&](const std::string& first, const std::string& second, const char* text) {
      const std::string both =
          absl::StrCat(R"({"type":"sequence","elements":[)", first, ",", second, "]}");
      const auto compiled = CompileOverBytes("structural_tag", Whole(both), compact);
      EXPECT_TRUE(compiled.ok()) << compiled.status();
      return compiled.ok() && *AcceptsByMasks(*compiled, text);
    };
    EXPECT_TRUE(takes(plain, spaced, "[1,2][1, 2]")) << count;
    EXPECT_FALSE(takes(plain, spaced, "[1, 2][1,2]")) << count;
    EXPECT_TRUE(takes(spaced, plain, "[1, 2][1,2]")) << count;
    EXPECT_FALSE(takes(spaced, plain, "[1,2][1, 2]")) << count;
  }
}

TEST(StructuralTagTest, TheOlderForm) {
  const std::string source =
      R"({"structures":[{"begin":"<f=a>","schema":{"type":"integer"},"end":"</f>"},)"
      R"({"begin":"<f=ab>","schema":{"type":"null"},"end":""}],"triggers":["<f="]})";
  const auto compiled = CompileOverBytes("structural_tag", source);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (const char* text : {"", "text", "x<f=a>1</f>y<f=ab>nullz"})
    EXPECT_TRUE(*AcceptsByMasks(*compiled, text)) << text;
  for (const char* text : {"<f=", "<f=a>null</f>", "<f=c>"})
    EXPECT_FALSE(*AcceptsByMasks(*compiled, text)) << text;
}

}  // namespace
}  // namespace maskd
