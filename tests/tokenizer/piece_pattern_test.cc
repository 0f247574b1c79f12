// Patterns of tokenizers against what the `regex` package of Python finds: its matches, and what
// lies between them.
#include "grammar_core/tokenizer/piece_pattern.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

constexpr char kLlama3[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";

struct PatternCase {
  const char* name;
  const char* pattern;
  const char* text;
  std::vector<std::string> pieces;
};

class PiecePatternTest : public testing::TestWithParam<PatternCase> {};

TEST_P(PiecePatternTest, CutsAText) {
  const auto pattern = PiecePattern::Create(GetParam().pattern);
  ASSERT_NE(pattern, nullptr);
  std::vector<absl::string_view> pieces;
  pattern->Cut(GetParam().text, &pieces);
  EXPECT_EQ(std::vector<std::string>(pieces.begin(), pieces.end()), GetParam().pieces);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, PiecePatternTest,
    testing::ValuesIn(std::vector<PatternCase>{
        {"Empty", kLlama3, "", {}},
        {"Words", kLlama3, "it's 12345 dogs!", {"it", "'s", " ", "123", "45", " dogs", "!"}},
        {"Json",
         kLlama3,
         R"({"name": "x","_id":1})",
         {"{\"", "name", "\":", " \"", "x", "\",\"_", "id", "\":", "1", "}"}},
        {"Indented",
         kLlama3,
         "{\n    \"a\": [\n\n  1]",
         {"{\n", "   ", " \"", "a", "\":", " [\n\n", " ", " ", "1", "]"}},
        {"SpacesAtTheEnd", kLlama3, "a   ", {"a", "   "}},
        {"OneSpaceAtTheEnd", kLlama3, "a ", {"a", " "}},
        {"SpacesBeforeALetter", kLlama3, "a   b", {"a", "  ", " b"}},
        {"SpacesBeforeADigit", kLlama3, "a   1", {"a", "  ", " ", "1"}},
        {"UnicodeSpaces", kLlama3, "a\u3000\u00a0b", {"a", "\u3000", "\u00a0b"}},
        {"UnicodeLetters",
         kLlama3,
         "\u00e9t\u00e9 \u4e2d\u6587",
         {"\u00e9t\u00e9", " \u4e2d\u6587"}},
        {"WhatIsBetweenMatches", R"(\p{N}{1,3})", "ab1234c", {"ab", "123", "4", "c"}},
        {"NoMatch", R"(\p{N})", "abc", {"abc"}},
        {"EmptyMatches", R"(\p{N}*)", "a1", {"a", "1"}},
        {"SpacesInAClass", R"([^\s]+)", "a b\u00a0c", {"a", " ", "b", "\u00a0", "c"}},
        {"ASetOfSigns",
         R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)",
         "a[b]^c",
         {"a", "[b", "]", "^c"}},
        {"NotOfASet", R"([^^$a]+|\$\^)", "b^$^a", {"b", "^", "$^", "a"}},
        {"NotASpace", R"(\S+)", "a\u2003b", {"a", "\u2003", "b"}},
    }),
    [](const auto& test) { return test.param.name; });

class UnknownPatternTest : public testing::TestWithParam<const char*> {};

TEST_P(UnknownPatternTest, IsNotUnderstood) {
  EXPECT_EQ(PiecePattern::Create(GetParam()), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Patterns, UnknownPatternTest,
                         testing::Values(R"(a(?=b))", R"((?<!a)b)", R"(\w+)", R"(\d)", R"([\S])",
                                         R"(a++)", R"((a)\1)", "(", R"([[:alpha:]])",
                                         R"(\s+(?!\S)|\s+|x)", R"(\s+$)", R"(^a)", R"(a\b)",
                                         R"([\p{L}&&[^\p{Han}]]+)", R"([a[b]])", R"([a&&b])",
                                         R"((?m)a)", R"((?s:a))", R"((?i)a)", R"(a{,3})", R"(\x41)",
                                         R"(\Qa\E)"));

}  // namespace
}  // namespace maskd
