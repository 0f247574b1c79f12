#include "grammar_core/frontend/json_schema/reading/types.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

constexpr TypeSet kSingle[] = {kNullType,   kBooleanType, kIntegerType, kFractionType,
                               kStringType, kArrayType,   kObjectType};

TEST(TypeSetTest, TypesAreApartAndMakeUpAll) {
  TypeSet all = kNoType;
  for (const TypeSet type : kSingle) {
    EXPECT_EQ(all & type, kNoType) << int{type};
    all |= type;
  }
  EXPECT_EQ(all, kEveryType);
  EXPECT_EQ(kNumberType, kIntegerType | kFractionType);
}

struct NameCase {
  const char* name;
  const char* type;
  std::optional<TypeSet> wanted;
};

class TypeByNameTest : public testing::TestWithParam<NameCase> {};

TEST_P(TypeByNameTest, IsThis) { EXPECT_EQ(TypeByName(GetParam().type), GetParam().wanted); }

INSTANTIATE_TEST_SUITE_P(Names, TypeByNameTest,
                         testing::ValuesIn(std::vector<NameCase>{
                             {"Null", "null", kNullType},
                             {"Boolean", "boolean", kBooleanType},
                             {"Object", "object", kObjectType},
                             {"Array", "array", kArrayType},
                             {"Number", "number", kNumberType},
                             {"Integer", "integer", kIntegerType},
                             {"String", "string", kStringType},
                             {"Empty", "", std::nullopt},
                             {"Capital", "String", std::nullopt},
                             {"Part", "int", std::nullopt},
                             {"Space", "null ", std::nullopt},
                             {"AnyOfDraft3", "any", std::nullopt},
                         }),
                         [](const auto& test) { return std::string(test.param.name); });

struct ValueCase {
  const char* name;
  const char* text;
  TypeSet wanted;
};

class TypeOfTest : public testing::TestWithParam<ValueCase> {};

TEST_P(TypeOfTest, IsThis) {
  const auto document = JsonDocument::Parse(GetParam().text, Limits());
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(TypeOf(document->root()), GetParam().wanted);
}

// Of numbers the value decides, not the spelling.
INSTANTIATE_TEST_SUITE_P(Values, TypeOfTest,
                         testing::ValuesIn(std::vector<ValueCase>{
                             {"Null", "null", kNullType},
                             {"True", "true", kBooleanType},
                             {"False", "false", kBooleanType},
                             {"String", R"("1")", kStringType},
                             {"Array", "[1]", kArrayType},
                             {"Object", R"({"a":1})", kObjectType},
                             {"Zero", "0", kIntegerType},
                             {"MinusZero", "-0", kIntegerType},
                             {"ZeroWithFraction", "0.00", kIntegerType},
                             {"ZeroWithExponent", "0e-7", kIntegerType},
                             {"Integer", "-12", kIntegerType},
                             {"IntegerWithFraction", "1.0", kIntegerType},
                             {"IntegerByExponent", "1.25E+2", kIntegerType},
                             {"IntegerByNegativeExponent", "1200e-2", kIntegerType},
                             {"Huge", "1e400", kIntegerType},
                             {"Fraction", "1.5", kFractionType},
                             {"FractionByExponent", "15e-1", kFractionType},
                             {"FractionInSpiteOfExponent", "1.255e2", kFractionType},
                             {"Tiny", "-1e-400", kFractionType},
                             {"PastADouble", "9007199254740993.5", kFractionType},
                         }),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace maskd
