// Classes of characters in both dialects, against sets written out.
#include "grammar_core/frontend/ebnf/char_class.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

struct ClassCase {
  const char* name;
  std::string text;  // behind the '['
  CharSet expected;
  bool gbnf = true;
  bool ebnf = true;
};
class EbnfClassTest : public testing::TestWithParam<ClassCase> {};

TEST_P(EbnfClassTest, IsItsSet) {
  for (const EbnfDialect dialect : {EbnfDialect::kGbnf, EbnfDialect::kEbnf}) {
    const bool is_gbnf = dialect == EbnfDialect::kGbnf;
    if (!(is_gbnf ? GetParam().gbnf : GetParam().ebnf)) continue;
    const std::string text = "[" + GetParam().text + " rest";
    PatternCursor cursor(text, "", "grammar");
    cursor.Take("[");
    Budget budget = Budget::Unlimited();
    const absl::StatusOr<CharSet> set = ReadEbnfClass(dialect, cursor, budget);
    ASSERT_TRUE(set.ok()) << set.status() << (is_gbnf ? " GBNF" : " EBNF");
    EXPECT_EQ(*set, GetParam().expected) << (is_gbnf ? "GBNF" : "EBNF");
    EXPECT_TRUE(cursor.Take(" rest"));
  }
}

CharSet Set(std::vector<CharRange> ranges) { return CharSet(std::move(ranges)); }

INSTANTIATE_TEST_SUITE_P(
    Classes, EbnfClassTest,
    testing::ValuesIn(std::vector<ClassCase>{
        {"One", "é]", Set({{0xE9, 0xE9}})},
        {"Ranges", "a-cx-z0]", Set({{'a', 'c'}, {'x', 'z'}, {'0', '0'}})},
        {"RangesThatOverlap", "a-fc-z]", Set({{'a', 'z'}})},
        {"Negated", "^a-z]", Set({{'a', 'z'}}).Complement()},
        {"CaretBehind", "a^]", Set({{'a', 'a'}, {'^', '^'}})},
        {"DashFirst", "-a]", Set({{'-', '-'}, {'a', 'a'}})},
        {"DashFirstOfTheOthers", "^-a]", Set({{'-', '-'}, {'a', 'a'}}).Complement()},
        {"DashLast", "a-]", Set({{'a', 'a'}, {'-', '-'}})},
        {"DashAlone", "-]", Set({{'-', '-'}})},
        {"DashBehindARange", "a-c-e]", Set({{'a', 'c'}, {'-', '-'}, {'e', 'e'}})},
        {"RangeFromADash", "--0]", Set({{'-', '0'}})},
        {"RangeToADash", "+--]", Set({{'+', '-'}})},
        {"EscapedDash", "a\\-c]", Set({{'a', 'a'}, {'-', '-'}, {'c', 'c'}})},
        {"Escapes", "\\]\\[\\\\\\\"\\n\\t]",
         Set({{']', ']'}, {'[', '['}, {'\\', '\\'}, {'"', '"'}, {'\n', '\n'}, {'\t', '\t'}})},
        {"EscapedEnds", "\\x41-\\u0043]", Set({{'A', 'C'}})},
        {"OverSurrogates", "\\uD7FF-\\uE000]", Set({{0xD7FF, 0xD7FF}, {0xE000, 0xE000}})},
        {"All", "\\x00-\\U0010FFFF]", CharSet().Complement()},
        {"Quote", "\"]", Set({{'"', '"'}})},
        {"NoComment", "#a]", Set({{'#', '#'}, {'a', 'a'}})},
        {"ShortHex", "\\x4g]", Set({{4, 4}, {'g', 'g'}}), false},
        {"LongHex", "\\x1F600]", Set({{0x1F600, 0x1F600}}), false},
        {"TwoDigitsOnly", "\\x1F600]", Set({{0x1F, 0x1F}, {'6', '6'}, {'0', '0'}}), true, false},
        {"SignsEscaped", "\\^\\$\\|\\?]", Set({{'^', '^'}, {'$', '$'}, {'|', '|'}, {'?', '?'}}),
         false},
        {"Nothing", "]", CharSet(), false},
        {"Anything", "^]", CharSet().Complement(), false},
        {"LineEnd", "a\n]", Set({{'a', 'a'}, {'\n', '\n'}}), true, false},
    }),
    [](const auto& test) { return test.param.name; });

struct BadClass {
  const char* name;
  EbnfDialect dialect;
  std::string text;
  std::string message;  // its beginning
};
class BadEbnfClassTest : public testing::TestWithParam<BadClass> {};

TEST_P(BadEbnfClassTest, SaysWhatAndWhere) {
  PatternCursor cursor(GetParam().text, "", "grammar");
  cursor.Take("[");
  Budget budget = Budget::Unlimited();
  const absl::Status status = ReadEbnfClass(GetParam().dialect, cursor, budget).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StartsWith(status.message(), GetParam().message)) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Classes, BadEbnfClassTest,
    testing::ValuesIn(std::vector<BadClass>{
        {"NoEnd", EbnfDialect::kGbnf, "[a", "1:1: the class has no end, expected ']'"},
        {"NoEndBehindADash", EbnfDialect::kGbnf, "[a-", "1:1: the class has no end"},
        {"NoEndBehindACaret", EbnfDialect::kEbnf, "[^", "1:1: the class has no end"},
        {"EscapedEnd", EbnfDialect::kEbnf, "[\\]", "1:1: the class has no end"},
        {"BackslashLast", EbnfDialect::kEbnf, "[\\", "1:3: expected what the backslash escapes"},
        {"LineEnds", EbnfDialect::kEbnf, "[a\n]", "1:1: the class has no end"},
        {"CarriageReturn", EbnfDialect::kEbnf, "[a\r]", "1:1: the class has no end"},
        {"Reversed", EbnfDialect::kGbnf, "[xé-z]", "1:3: the range is reversed"},
        {"ReversedByAnEscape", EbnfDialect::kEbnf, "[a-\\]]", "1:2: the range is reversed"},
        {"Empty", EbnfDialect::kGbnf, "[]", "1:1: the class is empty, which engines read"},
        {"EmptyOfTheOthers", EbnfDialect::kGbnf, "[^]", "1:1: the class is empty"},
        {"EscapeOfTheOther", EbnfDialect::kGbnf, "[\\^]", "1:2: this is no escape here"},
        {"EscapeOfNone", EbnfDialect::kEbnf, "[\\d]", "1:2: this is no escape here"},
        {"Surrogate", EbnfDialect::kGbnf, "[\\uD800]", "1:2: a surrogate alone"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(EbnfClassBudgetTest, MembersCost) {
  PatternCursor cursor("[abcdefghijklmnop]", "", "grammar");
  cursor.Take("[");
  Budget budget(Budget::Bounds{.work = 10});
  EXPECT_EQ(ReadEbnfClass(EbnfDialect::kEbnf, cursor, budget).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
