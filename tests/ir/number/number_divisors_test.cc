// Remainders against the numbers themselves.
#include "grammar_core/ir/number/number_divisors.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

NumberSpec Spec(const std::vector<std::string>& required,
                const std::vector<std::string>& excluded = {}) {
  NumberSpec spec;
  for (const std::string& divisor : required) spec.multiple_of.push_back(ReadDecimal(divisor));
  for (const std::string& divisor : excluded) spec.not_multiple_of.push_back(ReadDecimal(divisor));
  return spec;
}

struct Case {
  const char* name;
  NumberSpec spec;
  // By hand: all divisors in the units of the finest one, and their least common multiple.
  std::int64_t scale;
  std::uint64_t modulus;
  std::vector<std::uint64_t> required;
  std::vector<std::uint64_t> excluded;
};

class NumberDivisorsTest : public testing::TestWithParam<Case> {
 protected:
  // Whether that many units are right.
  static bool IsRight(std::uint64_t units) {
    for (const std::uint64_t divisor : GetParam().required)
      if (units % divisor != 0) return false;
    for (const std::uint64_t divisor : GetParam().excluded)
      if (units % divisor == 0) return false;
    return true;
  }

  static std::uint64_t Shifted(std::uint64_t n, std::int64_t t) {
    for (; t > 0; --t) n *= 10;
    return n;
  }

  const NumberDivisors divisors_ = *NumberDivisors::Create(GetParam().spec);
};

constexpr std::int64_t kShifts = 8;  // more than any case has factors of 10

TEST_P(NumberDivisorsTest, UnitsAreThoseOfTheFinest) {
  EXPECT_EQ(divisors_.scale(), GetParam().scale);
  EXPECT_EQ(divisors_.modulus(), GetParam().modulus);
  EXPECT_EQ(divisors_.allows_finer(), GetParam().required.empty());
  EXPECT_EQ(divisors_.none(), GetParam().required.empty() && GetParam().excluded.empty());
  EXPECT_GE(Shifted(1, divisors_.digits()), divisors_.modulus()) << "any remainder";
}

TEST_P(NumberDivisorsTest, ShiftsAreThoseThatMakeItRight) {
  for (std::uint64_t n = 0; n < divisors_.modulus(); ++n) {
    const IntRange shifts = divisors_.Shifts(n);
    for (std::int64_t t = 0; t <= kShifts; ++t)
      EXPECT_EQ(shifts.lo <= t && t <= shifts.hi, IsRight(Shifted(n, t))) << n << " " << t;
  }
}

TEST_P(NumberDivisorsTest, ShiftIsTheRemainderWithZeros) {
  for (std::uint64_t n = 0; n < divisors_.modulus(); ++n)
    for (std::uint32_t zeros = 0; zeros <= kShifts; ++zeros)
      EXPECT_EQ(divisors_.Shift(n, zeros), Shifted(n, zeros) % divisors_.modulus());
}

TEST_P(NumberDivisorsTest, CanFollowWhereSomeDigitsAreRight) {
  for (std::uint64_t n = 0; n < divisors_.modulus(); ++n) {
    for (const IntRange shifts : {IntRange{0, 0}, IntRange{1, 2}, IntRange{0, 3}, IntRange{2, 1}}) {
      for (std::uint32_t count = 0; count <= 2; ++count) {
        bool any = false;      // with the digits that are all 0
        bool nonzero = false;  // with others
        for (std::uint64_t more = 0; more < Shifted(1, count); ++more) {
          bool right = false;
          for (std::int64_t t = shifts.lo; t <= shifts.hi; ++t)
            right = right || IsRight(Shifted(Shifted(n, count) + more, t));
          any = any || right;
          nonzero = nonzero || (right && more > 0);
        }
        EXPECT_EQ(divisors_.CanFollow(n, count, shifts, false), any) << n << " " << count;
        EXPECT_EQ(divisors_.CanFollow(n, count, shifts, true), nonzero) << n << " " << count;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Divisors, NumberDivisorsTest,
                         testing::ValuesIn(std::vector<Case>{
                             {"None", Spec({}), 0, 1, {}, {}},
                             {"One", Spec({"1"}), 0, 1, {1}, {}},
                             {"Seven", Spec({"7"}), 0, 7, {7}, {}},
                             {"Hundreds", Spec({"100"}), -2, 1, {1}, {}},
                             {"HundredsAndNoThirds", Spec({"100"}, {"3"}), 0, 300, {100}, {3}},
                             {"Fractions", Spec({"0.25"}), 2, 25, {25}, {}},
                             {"ManyAtOnce", Spec({"4", "0.6"}), 0, 12, {12}, {}},
                             {"NoInteger", Spec({}, {"1"}), 0, 1, {}, {1}},
                             {"HalvesThatAreNoInteger", Spec({"0.5"}, {"1"}), 1, 10, {5}, {10}},
                             {"SeveralExcluded", Spec({"2"}, {"3", "8"}), 0, 24, {2}, {3, 8}},
                             {"Contradiction", Spec({"4"}, {"2"}), 0, 4, {4}, {2}},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(NumberDivisors, NothingWhereTheModulusIsTooLarge) {
  const auto modulus_of = [](const NumberSpec& spec) {
    const std::optional<NumberDivisors> made = NumberDivisors::Create(spec);
    return made.has_value() ? made->modulus() : 0;
  };
  EXPECT_EQ(modulus_of(Spec({}, {"1e15", "1"})), NumberDivisors::kMaxModulus);
  EXPECT_EQ(modulus_of(Spec({"999999999999999"})), 999'999'999'999'999U);
  EXPECT_EQ(modulus_of(Spec({"1000000000000001"})), 0);
  EXPECT_EQ(modulus_of(Spec({}, {"1e15", "3"})), 0);
  EXPECT_EQ(modulus_of(Spec({}, {"1e16", "1"})), 0);
  EXPECT_EQ(modulus_of(Spec({"12345678901234567890123"})), 0);
}

// Near the largest modulus products would not fit 64 bits.
TEST(NumberDivisors, LargeRemaindersAreExact) {
  const NumberDivisors divisors = *NumberDivisors::Create(Spec({"999999999999999"}));
  EXPECT_EQ(divisors.Shift(999'999'999'999'998, 1), 999'999'999'999'989U);  // -1 * 10
  EXPECT_EQ(divisors.Shift(1, 15), 1U);
  EXPECT_EQ(divisors.Shift(123'456'789'012'345, 3), 456'789'012'345'123U);  // digits go round
}

}  // namespace
}  // namespace maskd
