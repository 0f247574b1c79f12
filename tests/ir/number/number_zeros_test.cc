// What runs of zeros lead to, by looking at each value of small sets.
#include "grammar_core/ir/number/number_zeros.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

constexpr int kScale = 3;     // digits behind the point
constexpr int kLongest = 12;  // zeros; more than any value here has side by side

// `count` thousandths, with zeros behind them.
std::string Spelled(int count) {
  const std::string digits = absl::StrCat(count % 1000);
  return absl::StrCat(count / 1000, ".", std::string(kScale - digits.size(), '0'), digits,
                      std::string(kLongest, '0'));
}

NumberSpec Between(int min, int max, int step) {
  NumberSpec spec;
  spec.intervals = {{ReadDecimal(absl::StrCat(min, "e-3")), ReadDecimal(absl::StrCat(max, "e-3"))}};
  spec.multiple_of = {ReadDecimal(absl::StrCat(step, "e-3"))};
  return spec;
}

// If a longer run leads to values at all, then to one, or a shorter run leads to others too.
void ExpectEnough(std::vector<std::string> values, std::int64_t zeros) {
  std::ranges::sort(values);
  std::set<std::string> parts;
  for (const std::string& value : values)
    for (std::size_t size = 0; size <= value.size() - kLongest; ++size)
      parts.insert(value.substr(0, size));
  const auto count = [&](const std::string& beginning) {
    const auto first = std::ranges::lower_bound(values, beginning);
    return std::ranges::lower_bound(first, values.end(), beginning + ":") - first;  // behind '9'
  };
  for (const std::string& part : parts) {
    for (std::int64_t run = zeros + 1; run < kLongest; ++run) {
      const auto led_to = count(part + std::string(static_cast<std::size_t>(run), '0'));
      EXPECT_TRUE(led_to <= 1 || count(part) > led_to) << part << " and zeros: " << run;
    }
  }
}

TEST(NumberZeros, LongerRunsTellNoMoreApart) {
  const std::vector<int> ends = {1, 2, 9, 10, 11, 99, 100, 101, 1000, 1001, 2000};
  for (const int min : ends) {
    for (const int max : ends) {
      for (const int step : {1, 2, 7, 10, 1000}) {
        std::vector<std::string> values;
        for (int count = min; count <= max; ++count)
          if (count % step == 0) values.push_back(Spelled(count));
        if (values.empty()) continue;
        SCOPED_TRACE(absl::StrCat(min, " to ", max, " by ", step));
        ExpectEnough(values, ZerosBetween(Between(min, max, step)));
      }
    }
  }
}

// Runs of up to 69 zeros behind the point lead to all the values.
TEST(NumberZeros, SmallEndsAskForManyZeros) {
  NumberSpec spec;
  spec.intervals = {{ReadDecimal("0"), ReadDecimal("1e-70"), true}};
  EXPECT_GE(ZerosBetween(spec), 69);
  spec.intervals = {{ReadDecimal("-1e-70"), ReadDecimal("0"), false, true}};
  EXPECT_GE(ZerosBetween(spec), 69);
  EXPECT_GT(ZerosBetween(spec), kMostZerosBetween);
}

// 10^80 and 10^80 + 1 differ behind 79 zeros.
TEST(NumberZeros, LargeNeighboursAskForManyZeros) {
  const std::string zeros(79, '0');
  NumberSpec spec;
  spec.intervals = {
      {ReadDecimal(absl::StrCat("1", zeros, "0")), ReadDecimal(absl::StrCat("1", zeros, "1"))}};
  EXPECT_GE(ZerosBetween(spec), 79);
}

TEST(NumberZeros, OrdinaryNumbersAskForFew) {
  NumberSpec spec;
  EXPECT_LE(ZerosBetween(spec), kMostZerosBetween);
  spec.multiple_of = {ReadDecimal("1")};
  EXPECT_LE(ZerosBetween(spec), kMostZerosBetween);
  spec.intervals = {{ReadDecimal("-9223372036854775808"), ReadDecimal("9223372036854775807")}};
  EXPECT_LE(ZerosBetween(spec), kMostZerosBetween);
}

}  // namespace
}  // namespace maskd
