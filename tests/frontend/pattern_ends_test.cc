// The plain ends of patterns, and which patterns they tell to be disjoint.
#include "grammar_core/frontend/json_schema/logic/pattern_ends.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

struct EndsCase {
  const char* name;
  const char* pattern;
  const char* prefix;
  const char* suffix;
};

class PatternEndsTest : public testing::TestWithParam<EndsCase> {};

TEST_P(PatternEndsTest, AreWhatEveryMatchHas) {
  const PatternEnds ends = EndsOf(GetParam().pattern);
  EXPECT_EQ(ends.prefix, GetParam().prefix);
  EXPECT_EQ(ends.suffix, GetParam().suffix);
}

INSTANTIATE_TEST_SUITE_P(Patterns, PatternEndsTest,
                         testing::ValuesIn(std::vector<EndsCase>{
                             {"Whole", "^MD5$", "MD5", "MD5"},
                             {"Middle", "^contacts:([0-3]{1}):name$", "contacts:", ":name"},
                             {"Group", "^a(b|c)d", "a", ""},
                             {"Unanchored", "abc", "", ""},
                             {"Optional", "^abc?", "ab", ""},
                             {"Many", "^abc{2}x+$", "ab", ""},
                             {"Alternatives", "^a|b$", "", ""},
                             {"AlternativesInAClass", "^a[|]b$", "a", "b"},
                             {"BracketInAClass", "^a[(]|b$", "", ""},
                             {"Escape", "^a\\d5$", "a", ""},
                             {"EscapedEnd", "^a\\$", "a", ""},
                             {"Dot", "^x-.*", "x-", ""},
                             {"Empty", "^$", "", ""},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(DisjointPatternsTest, DisjointByEitherEnd) {
  EXPECT_TRUE(AreDisjoint(EndsOf("^table "), EndsOf("^view ")));
  EXPECT_TRUE(AreDisjoint(EndsOf("^c:([0-3]):a$"), EndsOf("^c:([0-3]):b$")));
  EXPECT_FALSE(AreDisjoint(EndsOf("^a"), EndsOf("^ab")));
  EXPECT_FALSE(AreDisjoint(EndsOf("^a"), EndsOf("b$")));
  EXPECT_FALSE(AreDisjoint(EndsOf(".*"), EndsOf("^b")));
}

}  // namespace
}  // namespace maskd
