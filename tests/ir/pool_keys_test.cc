#include "grammar_core/ir/pool_keys.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

ObjectSpec AnObject() {
  ObjectSpec spec;
  spec.members = {{"a", 1, true, {{1, {0}}, {2, {1}}}}, {"b", 3, false}};
  spec.others = {{4, 5, {2}}};
  spec.space = 6;
  spec.any_order = true;
  spec.conditions = {{{0, 1}, {2}}};
  return spec;
}

struct ObjectChange {
  const char* name;
  std::function<void(ObjectSpec&)> change;
};

class ObjectKeyTest : public testing::TestWithParam<ObjectChange> {};

TEST_P(ObjectKeyTest, TellsItApart) {
  ObjectSpec changed = AnObject();
  GetParam().change(changed);
  EXPECT_NE(ObjectKey(changed), ObjectKey(AnObject()));
}

using Spec = ObjectSpec&;

INSTANTIATE_TEST_SUITE_P(Fields, ObjectKeyTest,
                         testing::ValuesIn(std::vector<ObjectChange>{
                             {"Name", [](Spec s) { s.members[0].name = "c"; }},
                             {"Value", [](Spec s) { s.members[0].value = 9; }},
                             {"Required", [](Spec s) { s.members[0].required = false; }},
                             {"Bare", [](Spec s) { s.members[0].bare = true; }},
                             {"WayValue", [](Spec s) { s.members[0].ways[0].value = 9; }},
                             {"WayMarks", [](Spec s) { s.members[0].ways[0].marks = {}; }},
                             {"FewerMembers", [](Spec s) { s.members.pop_back(); }},
                             {"OthersName", [](Spec s) { s.others[0].name = 9; }},
                             {"OthersValue", [](Spec s) { s.others[0].value = 9; }},
                             {"OthersMarks", [](Spec s) { s.others[0].marks = {}; }},
                             {"NoOthers", [](Spec s) { s.others = {}; }},
                             {"Space", [](Spec s) { s.space = 9; }},
                             {"AfterColon", [](Spec s) { s.after_colon = 9; }},
                             {"AfterComma", [](Spec s) { s.after_comma = 9; }},
                             {"Order", [](Spec s) { s.any_order = false; }},
                             {"ConditionSome", [](Spec s) { s.conditions[0].some = {0}; }},
                             {"ConditionUnless", [](Spec s) { s.conditions[0].unless_all = {}; }},
                             {"MoreConditions", [](Spec s) { s.conditions.emplace_back(); }},
                             {"MinMembers", [](Spec s) { s.min_members = 1; }},
                             {"MaxMembers", [](Spec s) { s.max_members = 1; }},
                             {"Array", [](Spec s) { s.is_array = true; }},
                             {"Indent", [](Spec s) { s.indent = 2; }},
                             {"Spelling", [](Spec s) { s.spelling = Spelling::kCanonicalJson; }},
                         }),
                         [](const auto& info) { return info.param.name; });

TEST(PoolKeysTest, WhiteSpaceThatIsSaidIsTheSameAsThatWhichIsTaken) {
  ObjectSpec said = AnObject();
  said.after_colon = said.space;
  EXPECT_EQ(ObjectKey(said), ObjectKey(AnObject()));
}

TEST(PoolKeysTest, TokensAreToldApartByWhatTheyAllow) {
  const TokenSpec named = {.names = {"<a>"}, .ids = {{1, 2}}, .place = "/x"};
  EXPECT_EQ(TokensKey(named), TokensKey(TokenSpec(named)));
  for (const TokenSpec& other : std::vector<TokenSpec>{
           {.names = {"<b>"}, .ids = {{1, 2}}, .place = "/x"},
           {.names = {"<a>", ""}, .ids = {{1, 2}}, .place = "/x"},
           {.names = {"<a>"}, .ids = {{1, 3}}, .place = "/x"},
           {.names = {"<a>"}, .ids = {{1, 1}, {2, 2}}, .place = "/x"},
           {.names = {"<a>"}, .ids = {{1, 2}}, .negated = true, .place = "/x"},
           {.names = {"<a>"}, .ids = {{1, 2}}, .place = "/y"},
           {.names = {"<a>"}, .ids = {{1, 2}}, .place = "/x", .any_name = true},
       })
    EXPECT_NE(TokensKey(named), TokensKey(other));
}

// No two of these are equal.
TEST(PoolKeysTest, NumbersAreToldApartByAllThatTheySay) {
  const auto of = [](std::vector<NumberInterval> intervals) {
    return NumberSpec{.intervals = std::move(intervals)};
  };
  const Decimal one = ReadDecimal("1");
  const Decimal tenth = ReadDecimal("0.1");
  const Decimal below = ReadDecimal("-1");
  const std::vector<NumberSpec> specs = {
      {},
      of({}),
      of({{.min = one}}),
      of({{.max = one}}),
      of({{.min = one, .max = one}}),
      of({{.min = one, .min_open = true}}),
      of({{.max = one, .max_open = true}}),
      of({{.min = tenth}}),
      of({{.min = below}}),
      of({{.max = below}, {.min = one}}),
      {.multiple_of = {one}},
      {.not_multiple_of = {one}},
      {.multiple_of = {tenth}},
      {.multiple_of = {one, tenth}},
      {.multiple_of = {one}, .not_multiple_of = {tenth}},
      {.integer_digits = 7},
      {.fraction_digits = 7},
      {.exponent_digits = 7},
      {.notation = NumberNotation::kPlain},
      {.notation = NumberNotation::kScientific},
  };
  for (const NumberSpec& x : specs)
    for (const NumberSpec& y : specs)
      EXPECT_EQ(NumberKey(x) == NumberKey(y), &x == &y) << ToString(x) << " " << ToString(y);
}

TEST(PoolKeysTest, AKeyBeginsWithItsKind) {
  EXPECT_NE(PoolKey(IrKind::kObject), PoolKey(IrKind::kTokens));
  EXPECT_EQ(ObjectKey(AnObject()).substr(0, 1), PoolKey(IrKind::kObject));
  EXPECT_EQ(TokensKey({}).substr(0, 1), PoolKey(IrKind::kTokens));
}

TEST(PoolKeysTest, TextsSideBySideKeepTheirBorders) {
  std::string ab_c;
  AppendText("ab", &ab_c);
  AppendText("c", &ab_c);
  std::string a_bc;
  AppendText("a", &a_bc);
  AppendText("bc", &a_bc);
  EXPECT_NE(ab_c, a_bc);
  std::string wide;
  AppendText(std::u32string(U"ab"), &wide);
  std::string other;
  AppendText(std::u32string(U"ac"), &other);
  EXPECT_NE(wide, other);
}

}  // namespace
}  // namespace maskd
