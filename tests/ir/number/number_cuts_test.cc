// Places and exponents against plain comparisons of decimals.
#include "grammar_core/ir/number/number_cuts.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

struct Case {
  const char* name;
  std::vector<NumberInterval> intervals;
};

NumberInterval Interval(const char* min, const char* max, bool min_open = false,
                        bool max_open = false) {
  NumberInterval interval = {{}, {}, min_open, max_open};
  if (*min != '\0') interval.min = ReadDecimal(min);
  if (*max != '\0') interval.max = ReadDecimal(max);
  return interval;
}

bool IsInside(const std::vector<NumberInterval>& intervals, const Decimal& x) {
  return std::ranges::any_of(intervals, [&](const NumberInterval& interval) {
    const bool over_min =
        !interval.min.has_value() || (interval.min_open ? *interval.min < x : *interval.min <= x);
    const bool under_max =
        !interval.max.has_value() || (interval.max_open ? x < *interval.max : x <= *interval.max);
    return over_min && under_max;
  });
}

bool Holds(const IntRanges& ranges, std::int64_t y) {
  return std::ranges::any_of(ranges, [&](IntRange r) { return r.lo <= y && y <= r.hi; });
}

// Strings of up to four digits, none beginning with 0; of the digits that the cases speak of and
// some between them.
std::vector<std::string> DigitStrings() {
  std::vector<std::string> strings;
  for (const char first : {'1', '2', '5', '9'}) strings.emplace_back(1, first);
  for (std::size_t i = 0; i < strings.size(); ++i) {
    if (strings[i].size() == 4) break;
    for (const char digit : {'0', '1', '2', '4', '5', '9'}) strings.push_back(strings[i] + digit);
  }
  return strings;
}

NumberCuts::Place PlaceOf(const NumberCuts& cuts, const std::string& digits) {
  NumberCuts::Place place = cuts.Start();
  for (const char digit : digits) place = cuts.Next(place, digit - '0');
  return place;
}

constexpr std::int64_t kFar = 9;  // beyond the ends of all cases

class NumberCutsTest : public testing::TestWithParam<Case> {};

TEST_P(NumberCutsTest, ExponentsAreThoseOfTheNumbersInside) {
  for (const bool negative : {false, true}) {
    const NumberCuts cuts(GetParam().intervals, negative);
    for (const std::string& digits : DigitStrings()) {
      const IntRanges ranges = cuts.Exponents(PlaceOf(cuts, digits));
      for (std::int64_t y = -kFar; y <= kFar; ++y) {
        const Decimal x = ReadDecimal(absl::StrCat(negative ? "-0." : "0.", digits, "e", y));
        EXPECT_EQ(Holds(ranges, y), IsInside(GetParam().intervals, x)) << ToString(x);
      }
      // What holds beyond all ends holds as far as there are numbers.
      EXPECT_EQ(Holds(ranges, kMinusInfinity), Holds(ranges, -kFar));
      EXPECT_EQ(Holds(ranges, kPlusInfinity), Holds(ranges, kFar));
      for (std::size_t i = 1; i < ranges.size(); ++i)
        EXPECT_GT(ranges[i].lo, ranges[i - 1].hi + 1) << "they ascend and do not touch";
    }
  }
}

TEST_P(NumberCutsTest, NoDigitMovesADecidedPlace) {
  for (const bool negative : {false, true}) {
    const NumberCuts cuts(GetParam().intervals, negative);
    for (const std::string& digits : DigitStrings()) {
      const NumberCuts::Place place = PlaceOf(cuts, digits);
      for (int digit = 0; digit <= 9; ++digit) {
        const IntRanges next = cuts.Exponents(cuts.Next(place, digit));
        if (NumberCuts::Decided(place)) {
          EXPECT_EQ(next, cuts.Exponents(place)) << digits << digit;
        } else if (cuts.IsWhole(place)) {
          const NumberCuts::Place above = NumberCuts::Above(place);
          EXPECT_EQ(next, cuts.Exponents(digit == 0 ? place : above)) << digits << digit;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Intervals, NumberCutsTest,
    testing::ValuesIn(std::vector<Case>{
        {"All", {Interval("", "")}},
        {"None", {}},
        {"Positive", {Interval("0", "", true)}},
        {"ZeroAlone", {Interval("0", "0")}},
        {"Closed", {Interval("1", "25")}},
        {"Open", {Interval("1", "25", true, true)}},
        {"NoEndBelow", {Interval("", "0.002")}},
        {"NoEndAbove", {Interval("-150", "", true)}},
        {"AcrossZero", {Interval("-1.5", "2.4", false, true)}},
        {"OneNumber", {Interval("1.25", "1.25")}},
        {"SameDigitsElsewhere", {Interval("0.0125", "0.125"), Interval("125", "1250", true)}},
        {"OneIsABeginningOfAnother", {Interval("1", "1.2"), Interval("1.24", "1.245", true)}},
        {"AHoleOfOneNumber", {Interval("", "20", false, true), Interval("20", "", true)}},
        {"BothSigns", {Interval("-25", "-2", true), Interval("0.5", "0.9"), Interval("5", "")}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(NumberCuts, TrivialWithoutAnEndOfThatSign) {
  EXPECT_TRUE(NumberCuts({Interval("", "")}, false).trivial());
  EXPECT_TRUE(NumberCuts({Interval("0", "")}, true).trivial());
  EXPECT_FALSE(NumberCuts({Interval("-5", "0")}, true).trivial());
  EXPECT_TRUE(NumberCuts({Interval("-5", "0")}, false).trivial());
}

TEST(NumberCuts, LeastExponentIsThatOfTheEndNextToZero) {
  EXPECT_EQ(NumberCuts({Interval("0.002", "25")}, false).LeastExponent(), -2);
  EXPECT_EQ(NumberCuts({Interval("-25", "-1")}, true).LeastExponent(), 1);
  EXPECT_EQ(NumberCuts({Interval("", "")}, false).LeastExponent(), 0);
}

}  // namespace
}  // namespace maskd
