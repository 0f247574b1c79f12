#include "grammar_core/frontend/json_schema/logic/number_facets.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

using K = Keyword;

// {"KEYWORD": value, "number": number}, so that errors have a place.
JsonDocument Document(const std::string& value, const std::string& number) {
  return *JsonDocument::Parse("{\"keyword\":" + value + ",\"number\":" + number + "}", Limits());
}

absl::StatusOr<bool> Holds(const JsonDocument& document, Keyword keyword, bool negated) {
  const Facet facet = {keyword, document.root().Find("keyword").value(), negated};
  return NumberFacetHolds(facet, document.root().Find("number").value());
}

struct FacetCase {
  const char* name;
  Keyword keyword;
  const char* value;
  const char* number;
  bool holds;
};

class NumberFacetTest : public testing::TestWithParam<FacetCase> {};

TEST_P(NumberFacetTest, HoldsOrItsContraryDoes) {
  const JsonDocument document = Document(GetParam().value, GetParam().number);
  EXPECT_EQ(*Holds(document, GetParam().keyword, false), GetParam().holds);
  EXPECT_EQ(*Holds(document, GetParam().keyword, true), !GetParam().holds);
}

// A power of two with 61 digits, as no double is: 2^200.
constexpr char kTwoTo200[] = "1606938044258990275541962092341162602522202993782792835301376";

INSTANTIATE_TEST_SUITE_P(Facets, NumberFacetTest,
                         testing::ValuesIn(std::vector<FacetCase>{
                             {"AtMinimum", K::kMinimum, "1.0", "1", true},
                             {"BelowMinimum", K::kMinimum, "1", "0.9999999999999999999999", false},
                             {"AtExclusiveMinimum", K::kExclusiveMinimum, "1", "1.0", false},
                             {"AboveExclusiveMinimum", K::kExclusiveMinimum, "1",
                              "1.0000000000000000000001", true},
                             {"AtMaximum", K::kMaximum, "-2", "-2", true},
                             {"AboveMaximum", K::kMaximum, "-2", "-1", false},
                             {"AtExclusiveMaximum", K::kExclusiveMaximum, "1e2", "100", false},
                             {"BelowExclusiveMaximum", K::kExclusiveMaximum, "1e2", "99.9", true},
                             {"HugeExponent", K::kMaximum, "1e400", "2e400", false},
                             {"TinyExponent", K::kExclusiveMinimum, "0", "1e-400", true},
                             {"Multiple", K::kMultipleOf, "3", "12", true},
                             {"NoMultiple", K::kMultipleOf, "3", "13", false},
                             {"NegativeMultiple", K::kMultipleOf, "3", "-12", true},
                             {"ZeroIsAMultiple", K::kMultipleOf, "0.7", "0", true},
                             {"Tenths", K::kMultipleOf, "0.1", "0.3", true},
                             {"FinerThanTenths", K::kMultipleOf, "0.1", "0.35", false},
                             {"Halves", K::kMultipleOf, "2.5", "7.5", true},
                             {"MultipleOfALargerOne", K::kMultipleOf, "100", "50", false},
                             {"MultipleOfRoundNumber", K::kMultipleOf, "400", "1200", true},
                             {"ManyDigits", K::kMultipleOf, "4096", kTwoTo200, true},
                             {"ManyDigitsNot", K::kMultipleOf, "4098", kTwoTo200, false},
                             {"ManyZeros", K::kMultipleOf, "7", "7e1000000", true},
                             {"ManyZerosNot", K::kMultipleOf, "7", "1e1000000", false},
                             {"PlainInteger", K::kType, "\"integer\"", "10", true},
                             {"WithAFraction", K::kType, "\"integer\"", "10.0", false},
                             {"WithAnExponent", K::kType, "\"integer\"", "1E1", false},
                             {"EqualConst", K::kConst, "1.0", "1", true},
                             {"ConstOfAnotherType", K::kConst, "\"1\"", "1", false},
                             {"InEnum", K::kEnum, R"(["a",2,10])", "1e1", true},
                             {"NotInEnum", K::kEnum, R"(["3",2])", "3", false},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(NumberFacets, FacetsOfStringsHoldOnEitherSide) {
  for (const K keyword : {K::kPattern, K::kFormat}) {
    const JsonDocument document = Document("\"^a$\"", "1");
    EXPECT_TRUE(*Holds(document, keyword, false));
    EXPECT_TRUE(*Holds(document, keyword, true));
  }
}

TEST(NumberFacets, ADivisorOfTooManyDigitsIsRefused) {
  const JsonDocument fits = Document("999999999999999999", "1999999999999999998");
  EXPECT_TRUE(*Holds(fits, K::kMultipleOf, false));
  const JsonDocument document = Document("1234567890123456789", "1234567890123456789");
  const absl::Status status = Holds(document, K::kMultipleOf, false).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ErrorPlace(status), "/keyword");
  EXPECT_EQ(status, RefusedDivisor(document.root().Find("keyword").value()));
}

TEST(NumbersIn, AreThoseListed) {
  const JsonDocument document = Document(R"([1,"2",2.50,null,[3]])", "0");
  const JsonValue list = document.root().Find("keyword").value();
  EXPECT_EQ(NumbersIn({K::kEnum, list}),
            (std::vector<Decimal>{ReadDecimal("1"), ReadDecimal("2.5")}));
  EXPECT_EQ(NumbersIn({K::kConst, list.Nth(0).value()}), std::vector<Decimal>{ReadDecimal("1")});
  EXPECT_TRUE(NumbersIn({K::kConst, list.Nth(1).value()}).empty());
}

}  // namespace
}  // namespace maskd
