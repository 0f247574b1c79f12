// The reader alone: patterns against each other, and trees spelled out against their slow matcher.
#include "grammar_core/frontend/regex/pattern_reader.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/text_match.h"
#include "tests/regex/pattern_oracle.h"

namespace maskd {
namespace {

using Kind = PatternTree::Kind;

class PatternReaderTest : public testing::Test {
 protected:
  absl::StatusOr<NodeId> Read(absl::string_view pattern, bool search = false) {
    const RegexOptions options = {.search = search};
    return PatternReader(pattern, options, limits_, &budget_, &builder_).Read();
  }
  bool Has(NodeId node, const std::u32string& text) {
    return *MatchesText(builder_.ir(), node, text, budget_);
  }

  Limits limits_;
  Budget budget_ = Budget::Unlimited();
  IrBuilder builder_{limits_};
};

// With look-around to both sides; as a whole, and as a search in a longer text.
TEST_F(PatternReaderTest, RandomPatternsHaveTheTextsOfTheirDefinition) {
  const std::vector<std::u32string> texts = TextsOver(U"ab-", 3);
  std::mt19937_64 random(31);
  int read = 0;
  for (int round = 0; round < 1500 && !HasFailure(); ++round) {
    const PatternTree tree =
        RandomTree(1 + round % 7,
                   {Kind::kChars, Kind::kChars, Kind::kEmpty, Kind::kTextEnd, Kind::kNoBoundary},
                   {Kind::kSequence, Kind::kSequence, Kind::kAlternatives, Kind::kRepeat,
                    Kind::kAhead, Kind::kNotAhead, Kind::kBehind, Kind::kNotBehind},
                   random);
    const absl::StatusOr<NodeId> whole = Read(Spelled(tree));
    const absl::StatusOr<NodeId> found = Read(Spelled(tree), true);
    read += whole.ok() && found.ok() ? 1 : 0;
    for (const std::u32string& text : texts) {
      bool within = false;
      for (std::size_t begin = 0; begin <= text.size(); ++begin)
        for (std::size_t end = begin; end <= text.size(); ++end)
          within = within || MatchesAt(tree, text, begin, end);
      const std::string in = absl::StrCat(Spelled(tree), " in ", CodePointsToUtf8(text));
      if (whole.ok()) EXPECT_EQ(Has(*whole, text), MatchesAt(tree, text, 0, text.size())) << in;
      if (found.ok()) EXPECT_EQ(Has(*found, text), within) << in;
    }
  }
  EXPECT_GT(read, 900);
}

struct SameCase {
  std::string name;
  std::string pattern;
  std::string same;
};
class SamePatternTest : public PatternReaderTest, public testing::WithParamInterface<SameCase> {};

TEST_P(SamePatternTest, IsReadAsTheOther) {
  const absl::StatusOr<NodeId> node = Read(GetParam().pattern);
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ(*node, *Read(GetParam().same));
}

// ECMA-262 and RE2, where they agree; docs/regex.md where not.
INSTANTIATE_TEST_SUITE_P(Patterns, SamePatternTest,
                         testing::ValuesIn(std::vector<SameCase>{
                             {"FlagsHoldBehindAnAlternative", "a(?i)b|c", "a[bB]|[cC]"},
                             {"FlagsEndWithTheirGroup", "(a(?i)b|c)d", "(?:a[bB]|[cC])d"},
                             {"FlagsOfALook", "(?=(?i)ab)..c", "(?=[aA][bB])..c"},
                             {"FlagsBothWays", "(?i)a(?s-i:.b)c", "[aA](?s:.)b[cC]"},
                             {"FlagsOnAndOff", "(?i-i)a", "a"},
                             {"UngreedyIsNoOther", "(?U)a*?b+", "a*b+"},
                             {"FlagsThatAreOffAnyway", "(?-mx)a", "a"},
                             {"NamesOfDifferentCase", "(?<n>a)(?P<N>b)(?<_1$>c)", "abc"},
                             {"LaziestCounts", "a{2,}?b{3}?c{1,2}?", "a{2,}b{3}c{1,2}"},
                             {"CountsWithZeros", "a{002,0003}", "a{2,3}"},
                             {"OpenBraces", "a{b{1x{1,{1,2", "a\\{b\\{1x\\{1,\\{1,2"},
                             {"BraceFirst", "{1", "\\{1"},
                             {"EmptyWays", "(|a||b|)", "(?:a|b)?"},
                             {"NoCount", "a{0}b{0,0}", ""},
                             {"QuantifierOnAGroup", "(ab){2}", "(?:(?:ab)){2,2}"},
                             {"FoldOfANegatedClass", "(?i)[^a]", "[^aA]"},
                             {"NulIsACharacter", std::string("a\0b", 3), "a\\0b"},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST_F(PatternReaderTest, NestsAsDeepAsTheLimit) {
  limits_.source_depth = 3;
  EXPECT_TRUE(Read("(?:(a(?=b)))b").ok());
  const absl::Status status = Read("a((((b))))").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "1:5: limit source_depth is 3, 4 needed");
}

TEST_F(PatternReaderTest, TheBudgetAndTheNodesEndIt) {
  Budget small(Budget::Bounds{.work = 20});
  const RegexOptions options;
  const std::string letters(100, 'a');
  EXPECT_EQ(PatternReader(letters, options, limits_, &small, &builder_).Read().status().code(),
            absl::StatusCode::kResourceExhausted);
  Limits few;
  few.ir_nodes = 30;
  IrBuilder builder(few);
  std::string pattern;
  for (char c = 'a'; c <= 'z'; ++c) absl::StrAppend(&pattern, "(?:", std::string(1, c), "|xy)*");
  EXPECT_EQ(PatternReader(pattern, options, few, &budget_, &builder).Read().status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
