// Which numbers bounds and divisors leave, and in which spellings.
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "tests/frontend/texts_case.h"

namespace maskd {
namespace {

class JsonSchemaNumbersTest : public testing::TestWithParam<TextsCase> {};

TEST_P(JsonSchemaNumbersTest, TakesExactlyThese) { ExpectTexts(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Bounds, JsonSchemaNumbersTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Minimum", R"({"minimum":1.1})", {"1.1", "2", "11e-1", "\"x\""}, {"1.0999", "-5", "0"}},
        {"MinimumZero",
         R"({"type":"number","minimum":0})",
         {"0", "-0", "-0.0e5", "1e-9"},
         {"-1e-9"}},
        {"Negative",
         R"({"type":"number","minimum":-2,"maximum":-1})",
         {"-1", "-1.5", "-2.000", "-20e-1"},
         {"-2.001", "-0.99", "0", "1"}},
        {"Exclusive",
         R"({"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1})",
         {"0.5", "0.0000000001", "1e-30", "0.999999999999999999999999"},
         {"0", "1", "1.0", "-0.5"}},
        {"ExclusiveInDraft4",
         R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"number","minimum":3,"exclusiveMinimum":true,"maximum":4,"exclusiveMaximum":false})",
         {"3.1", "4"},
         {"3", "4.1"}},
        {"ExclusiveAlone",
         R"({"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMinimum":true})",
         {"-1", "1"},
         {"x"}},
        {"BigBounds",
         R"({"type":"integer","minimum":12345678910111213141516171819202122232425262728293031})",
         {"12345678910111213141516171819202122232425262728293031"},
         {"12345678910111213141516171819202122232425262728293030"}},
        {"PrecisionOfDoubles",
         R"({"exclusiveMaximum":972783798187987123879878123.18878137})",
         {"972783798187987123879878123.188781369999"},
         {"972783798187987123879878123.188781371"}},
        {"TightestOfSeveral",
         R"({"type":"integer","minimum":1,"allOf":[{"minimum":3},{"maximum":9},{"maximum":5}]})",
         {"3", "5"},
         {"2", "6"}},
        {"LiteralOfManyDigits", R"({"const":1e400})", {"1e400", "10.0E399"}, {"1e401", "1"}},
        {"DeadBranchIsCut",
         R"({"anyOf":[{"type":"integer","minimum":5,"maximum":4},{"type":"null"}]})",
         {"null"},
         {"4", "5"}},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    Integers, JsonSchemaNumbersTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Spellings",
         R"({"type":"integer"})",
         {"1", "-0", "1.0", "1.000", "1e2", "1.5e1", "100e-2", "1E+05", "-12.0e0"},
         {"1.5", "1e-1", "15e-1", "1.25e1", "01", "1."}},
        {"OfDraft4",
         R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"integer","maximum":99})",
         {"1", "99", "-100"},
         {"1.0", "1e1", "100"}},
        {"InBounds",
         R"({"type":"integer","minimum":10,"maximum":20})",
         {"10", "20", "1e1", "2.0E1", "150e-1"},
         {"9", "21", "10.5", "1", "2e0"}},
        {"NumberUnderMultiple", R"({"type":"number","multipleOf":1})", {"1.0", "3"}, {"1.5"}},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    Multiples, JsonSchemaNumbersTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Seven", R"({"type":"integer","multipleOf":7})", {"0", "14", "-21", "7e3"}, {"8", "7.5"}},
        {"Cents",
         R"({"type":"number","multipleOf":0.01})",
         {"4.02", "1", "19.99", "1.010", "199e-2"},
         {"4.025", "1e-3"}},
        {"Tiny", R"({"type":"integer","multipleOf":1e-8})", {"12391239123"}, {"1.5"}},
        {"Half", R"({"type":"integer","multipleOf":0.5})", {"1e30", "3"}, {"1.5"}},
        {"Several",
         R"({"type":"integer","allOf":[{"multipleOf":4},{"multipleOf":6}]})",
         {"12", "-24"},
         {"4", "6", "8"}},
        {"InBounds",
         R"({"type":"integer","multipleOf":60,"minimum":1,"maximum":120})",
         {"60", "120", "6e1", "1.2e2"},
         {"0", "180", "61", "-60"}},
        {"Fraction",
         R"({"multipleOf":1.5,"type":"number"})",
         {"0", "4.5", "45e-1", "-3"},
         {"35", "2"}},
        {"LargestModulus",
         R"({"type":"integer","multipleOf":1000000000000000})",
         {"1000000000000000", "-3e15", "0", "1.7e16"},
         {"1000000000000001", "1e14", "17e14"}},
        {"LargeModulusOfManyDivisors",
         R"({"allOf":[{"multipleOf":6.75},{"multipleOf":19},{"multipleOf":9.5},
            {"multipleOf":2.125}],"not":{"anyOf":[{"multipleOf":2},{"multipleOf":6.5},
            {"multipleOf":5},{"multipleOf":7},{"multipleOf":11},{"multipleOf":37}]},
            "exclusiveMinimum":-100000,"exclusiveMaximum":-10000,"type":"number"})",
         {"-26163", "-2.6163e4", "-26163.00"},
         {"26163", "-26164", "-52326", "-8721", "-26163.5"}},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    KnownNumbers, JsonSchemaNumbersTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"EverySpelling",
         R"({"enum":[1,-2.50,0,1e3]})",
         {"1", "1.0", "10e-1", "0.1E1", "-2.5", "-25.00e-1", "0", "-0", "0e9", "1000", "1e3"},
         {"2", "-2", "2.5", "100", "1e2"}},
        {"EnumInBounds",
         R"({"enum":[1,5,9,"x"],"minimum":2,"exclusiveMaximum":9})",
         {"5", "\"x\""},
         {"1", "9"}},
        {"EnumOfMultiples",
         R"({"enum":[1,2.5,5,1e30],"multipleOf":2.5})",
         {"2.5", "5", "1e30"},
         {"1"}},
        {"EqualTwice", R"({"enum":[1,1.0,1e0]})", {"1"}, {"2"}},
        {"InContainers",
         R"({"const":{"a":[1]}})",
         {R"({"a":[1]})", R"({"a":[1.0]})"},
         {R"({"a":[2]})"}},
        {"ManyNumbers",
         R"({"enum":[10,11,12,20,100,110,0.1,0.11,1e-7,1e20,-10,-11.5]})",
         {"10", "11", "110", "0.1", "0.11", "1e-7", "100000000000000000000", "-11.5", "0.0000001"},
         {"1", "0.111", "111", "10.5", "-20", "1e-8"}},
    }),
    TextsCaseName);

}  // namespace
}  // namespace maskd
