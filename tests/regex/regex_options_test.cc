// Options that a caller sets, each against the same in the pattern's own text.
#include "grammar_core/frontend/regex/regex_options.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/regex/regex.h"
#include "grammar_core/ir/text_match.h"

namespace maskd {
namespace {

TEST(RegexOptionsDefaultTest, IsAWholeTextOfEcma) {
  const RegexOptions options;
  EXPECT_FALSE(options.search || options.fold || options.dot_all || options.free_spacing);
  EXPECT_TRUE(options.place.empty());
  EXPECT_TRUE(options.look_around);
  EXPECT_EQ(options.begin, 0U);
  EXPECT_EQ(&options.shorthands, &EcmaShorthands());
}

struct SameCase {
  std::string name;
  std::string pattern;
  RegexOptions options;
  std::string same;  // without options
};
class SameByOptionsTest : public testing::TestWithParam<SameCase> {};

// One builder gives equal patterns one node.
TEST_P(SameByOptionsTest, IsThatPattern) {
  const Limits limits;
  Budget budget = Budget::Unlimited();
  IrBuilder builder(limits);
  const auto node = ReadRegex(GetParam().pattern, GetParam().options, limits, budget, builder);
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(*node, *ReadRegex(GetParam().same, {}, limits, budget, builder));
}

INSTANTIATE_TEST_SUITE_P(
    Options, SameByOptionsTest,
    testing::ValuesIn(std::vector<SameCase>{
        {"Fold", "a[b]", {.fold = true}, "(?i)a[b]"},
        {"FoldTakenBack", "a(?-i)b", {.fold = true}, "(?i:a)b"},
        {"DotAll", "a.", {.dot_all = true}, "(?s)a."},
        {"DotAllTakenBack", "(?-s:.)", {.dot_all = true}, "."},
        {"Search", "a", {.search = true}, "(?s).*a.*"},
        {"SearchFromTheBegin", "^a", {.search = true}, "(?s)a.*"},
        {"SpacesAreNone", " a\t|\n b\r\v\f", {.free_spacing = true}, "a|b"},
        {"SpacesInAClassAreMembers", "[ a]", {.free_spacing = true}, "[ a]"},
        {"EscapedSpace", "a\\ b\\#c", {.free_spacing = true}, "a b#c"},
        {"OtherSpacesAreCharacters", "a\u00A0", {.free_spacing = true}, "a\u00A0"},
        {"CommentToTheLineEnd", "a#b)(\nc", {.free_spacing = true}, "ac"},
        {"CommentToTheEnd", "a#b", {.free_spacing = true}, "a"},
        {"SpacesBeforeAQuantifier", "ab +#c\n", {.free_spacing = true}, "ab+"},
        {"AsciiSpaces", "\\s", {.shorthands = AsciiShorthands()}, "[\\t-\\r ]"},
        {"AsciiDot", ".", {.shorthands = AsciiShorthands()}, "[^\\n]"},
        {"PythonDigits", "[\\d]", {.shorthands = PythonShorthands()}, "\\p{Nd}"},
        {"BeginLater", "(\na", {.begin = 2}, "a"},
        {"BeginAtTheEnd", "abc", {.begin = 3}, ""},
    }),
    [](const auto& test) { return test.param.name; });

absl::Status ErrorOf(absl::string_view pattern, const RegexOptions& options) {
  const Limits limits;
  Budget budget = Budget::Unlimited();
  IrBuilder builder(limits);
  return ReadRegex(pattern, options, limits, budget, builder).status();
}

TEST(RegexOptionsErrorTest, LookAroundIsRefusedWhereAPartOfTheTextIsKnown) {
  for (const absl::string_view look : {"(?=a)", "(?!a)", "(?<=a)", "(?<!a)"}) {
    const absl::Status status = ErrorOf(look, {.look_around = false});
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << look;
    EXPECT_EQ(status.message().substr(0, 10), "1:1: look-") << status;
  }
  EXPECT_TRUE(ErrorOf("(?<a>b)\\b", {.look_around = false}).ok());
}

// What stands before the begin is neither read nor counted but for the place.
TEST(RegexOptionsErrorTest, PlacesAreThoseOfTheWholeSource) {
  EXPECT_EQ(ErrorOf("\n\xFF(ab", {.begin = 2}).message(),
            "2:2: the group has no end, expected ')'");
  EXPECT_EQ(ErrorOf("((a", {.place = "/p", .begin = 1}).message(),
            "/p: in the pattern, at 1:2: the group has no end, expected ')'");
}

TEST(RegexOptionsErrorTest, BoundariesNeedTheWordsOfAscii) {
  EXPECT_EQ(ErrorOf("\\b", {.shorthands = PythonShorthands()}).code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ErrorOf("a\\B", {.shorthands = PythonShorthands()}).message().substr(0, 18),
            "1:2: word boundary");
  EXPECT_TRUE(ErrorOf("a\\b", {.shorthands = AsciiShorthands()}).ok());
}

}  // namespace
}  // namespace maskd
