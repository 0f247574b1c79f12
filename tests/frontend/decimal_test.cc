#include "grammar_core/base/decimal.h"

#include <iterator>
#include <optional>
#include <string>

#include "gtest/gtest.h"

#include "grammar_core/frontend/json/equality.h"

namespace maskd {
namespace {

TEST(DecimalTest, EqualNumbersAreEqual) {
  EXPECT_EQ(ReadDecimal("1"), ReadDecimal("1.0"));
  EXPECT_EQ(ReadDecimal("100"), ReadDecimal("1e2"));
  EXPECT_EQ(ReadDecimal("-0.50"), ReadDecimal("-5E-1"));
  EXPECT_EQ(ReadDecimal("-0.0"), ReadDecimal("0"));
  EXPECT_EQ(ReadDecimal("0e99"), ReadDecimal("0"));
  EXPECT_NE(ReadDecimal("1"), ReadDecimal("-1"));
  EXPECT_NE(ReadDecimal("9007199254740992"), ReadDecimal("9007199254740993"));
  EXPECT_NE(ReadDecimal("1e400"), ReadDecimal("1e401"));
}

TEST(DecimalTest, HugeExponentsAreClamped) {
  EXPECT_EQ(ReadDecimal("1e99999999999999999999").exponent, 100'000'000'000'000'000);
  EXPECT_EQ(ReadDecimal("1e-99999999999999999999").exponent, -100'000'000'000'000'000);
}

TEST(DecimalTest, TellsIntegers) {
  EXPECT_TRUE(ReadDecimal("12.50e1").is_integer());
  EXPECT_FALSE(ReadDecimal("12.5").is_integer());
  EXPECT_TRUE(ReadDecimal("0.0").is_integer());
}

TEST(DecimalTest, Counts) {
  EXPECT_EQ(AsCount(ReadDecimal("2.0")), 2u);
  EXPECT_EQ(AsCount(ReadDecimal("3e2")), 300u);
  EXPECT_EQ(AsCount(ReadDecimal("-0")), 0u);
  EXPECT_EQ(AsCount(ReadDecimal("4294967294")), 4294967294u);
  EXPECT_EQ(AsCount(ReadDecimal("9999999999")), 4294967294u);
  EXPECT_EQ(AsCount(ReadDecimal("1e400")), 4294967294u);
  EXPECT_EQ(AsCount(ReadDecimal("-1")), std::nullopt);
  EXPECT_EQ(AsCount(ReadDecimal("1.5")), std::nullopt);
}

TEST(DecimalTest, Order) {
  const char* const ascending[] = {"-1e400", "-12.5", "-12.49", "-1e-400", "0",
                                   "1e-400", "0.5",   "0.51",   "5",       "1e400"};
  for (std::size_t i = 0; i < std::size(ascending); ++i) {
    for (std::size_t k = 0; k < std::size(ascending); ++k) {
      EXPECT_EQ(ReadDecimal(ascending[i]) < ReadDecimal(ascending[k]), i < k)
          << ascending[i] << " and " << ascending[k];
    }
  }
}

TEST(DecimalTest, ToStringIsPlainWhereThatIsShort) {
  EXPECT_EQ(ToString(ReadDecimal("1.50")), "1.5");
  EXPECT_EQ(ToString(ReadDecimal("-1e2")), "-100");
  EXPECT_EQ(ToString(ReadDecimal("25e-4")), "0.0025");
  EXPECT_EQ(ToString(ReadDecimal("-0")), "0");
  EXPECT_EQ(ToString(ReadDecimal("12e400")), "12e400");
}

std::string KeyOf(absl::string_view json) {
  return EqualityKey(JsonDocument::Parse(json, Limits())->root());
}

TEST(EqualityKeyTest, IsEqualityOfValues) {
  EXPECT_EQ(KeyOf(R"({"a": 1, "b": [2.0, null]})"), KeyOf(R"({"b":[2,null],"a":1e0})"));
  EXPECT_NE(KeyOf(R"({"a": 1})"), KeyOf(R"({"a": "1"})"));
  EXPECT_NE(KeyOf("[1, 2]"), KeyOf("[2, 1]"));
  EXPECT_NE(KeyOf("true"), KeyOf("1"));
  EXPECT_NE(KeyOf("[]"), KeyOf("{}"));
  EXPECT_EQ(KeyOf(R"("\u0061")"), KeyOf("\"a\""));
}

}  // namespace
}  // namespace maskd
