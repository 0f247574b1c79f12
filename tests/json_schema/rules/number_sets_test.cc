// The numbers that a schema allows, as the slow recogniser reads them, held against the validator.
#include "grammar_core/frontend/json_schema/rules/number_sets.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/json_schema/rules/rule_parts.h"

namespace maskd {
namespace {

const std::vector<std::string> kNumberTexts = {
    "0",   "-0", "0.0",  "1",    "-1", "1.0", "1.5",   "1.50",  "2",   "2.5",          "3",  "-3",
    "3.0", "6",  "0.25", "-0.5", "10", "1e1", "1.5e1", "25e-1", "100", "999999999999", "1E2"};

class NumbersOfTest : public testing::TestWithParam<NamedSchema> {};

TEST_P(NumbersOfTest, AreThoseThatAreValid) {
  RuleParts parts(GetParam().schema);
  const NumberSpec spec = *NumbersOf(parts.MergedRoot(), parts.context);
  std::vector<std::string> valid;
  for (const std::string& number : kNumberTexts)
    if (parts.Validates(number, parts.Holds(""))) valid.push_back(number);
  const GrammarIr ir = parts.GrammarOf(parts.builder.Number(spec));
  IrRecognizer recognizer(ir);
  std::vector<std::string> accepted;
  for (const std::string& number : kNumberTexts)
    if (recognizer.Accepts(number)) accepted.push_back(number);
  EXPECT_EQ(accepted, valid);
  EXPECT_FALSE(valid.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, NumbersOfTest,
    testing::ValuesIn(std::vector<NamedSchema>{
        {"All", R"({"type":"number"})"},
        {"Integers", R"({"type":"integer"})"},
        {"Fractions", R"({"type":"number","not":{"type":"integer"}})"},
        {"Closed", R"({"type":"number","minimum":1,"maximum":2.5})"},
        {"Open", R"({"type":"number","exclusiveMinimum":1,"exclusiveMaximum":2.5})"},
        {"ClosedAndOpen", R"({"type":"number","minimum":1,"allOf":[{"exclusiveMinimum":1.0}]})"},
        {"OnePoint", R"({"type":"number","minimum":1.5,"maximum":1.5})"},
        {"NotMinimum", R"({"type":"number","not":{"minimum":1}})"},
        {"NotExclusiveMaximum", R"({"type":"number","not":{"exclusiveMaximum":1}})"},
        {"Multiples", R"({"type":"number","multipleOf":1.5})"},
        {"TwoDivisors", R"({"type":"number","multipleOf":1.5,"allOf":[{"multipleOf":2}]})"},
        {"NotMultiples", R"({"type":"number","not":{"multipleOf":0.5}})"},
        {"NotThese", R"({"type":"number","minimum":1,"not":{"enum":[1,2.5,"x",1e2]}})"},
        {"NotTheEnds", R"({"type":"number","minimum":1,"maximum":3,"not":{"enum":[1,3]}})"},
        {"NotThisInteger", R"({"type":"integer","not":{"const":3}})"},
        {"PlainIntegers", R"({"$schema":"http://json-schema.org/draft-04/schema#",
            "type":"integer"})"},
    }),
    [](const auto& test) { return test.param.name; });

struct NoNumberCase {
  const char* name;
  const char* schema;
  const char* place;
};

class NoNumberTest : public testing::TestWithParam<NoNumberCase> {};

TEST_P(NoNumberTest, IsAnErrorAtAKeywordInTheWay) {
  RuleParts parts(GetParam().schema);
  const absl::Status status = NumbersOf(parts.MergedRoot(), parts.context).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(ErrorPlace(status), GetParam().place);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, NoNumberTest,
    testing::ValuesIn(std::vector<NoNumberCase>{
        {"EndsCross", R"({"type":"number","minimum":2,"maximum":1})", "/maximum"},
        {"OpenEndsMeet", R"({"type":"number","minimum":2,"exclusiveMaximum":2.0})",
         "/exclusiveMaximum"},
        {"NoIntegerBetween", R"({"type":"integer","exclusiveMinimum":1,"maximum":1.5})",
         "/maximum"},
        {"NoMultipleBetween", R"({"type":"number","minimum":1,"maximum":6,"multipleOf":7})",
         "/multipleOf"},
        {"AllExcluded", R"({"type":"integer","minimum":1,"maximum":2,"not":{"enum":[1,2]}})",
         "/not/enum"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(NumberSets, AnErrorNamesTheOtherKeywords) {
  RuleParts parts(R"({"type":"number","minimum":1,"maximum":6,"multipleOf":7})");
  const absl::Status status = NumbersOf(parts.MergedRoot(), parts.context).status();
  for (const char* named : {"minimum 1", "maximum 6", "7"})
    EXPECT_TRUE(std::string(status.message()).find(named) != std::string::npos) << status;
}

TEST(NumberSets, ADivisorTooFineIsRefusedAndLeftOut) {
  RuleParts parts(R"({"type":"number","multipleOf":1234567890123456789,"minimum":1})");
  const absl::StatusOr<NumberSpec> spec = NumbersOf(parts.MergedRoot(), parts.context);
  ASSERT_EQ(parts.refused.size(), 1);
  EXPECT_EQ(parts.refused[0].place, "/multipleOf");
  EXPECT_EQ(parts.refused[0].error.code(), absl::StatusCode::kUnimplemented);
  ASSERT_TRUE(spec.ok());
  EXPECT_TRUE(spec->multiple_of.empty());
}

TEST(NumberSets, AllNumbersHaveAsManyDigitsAsTheOptionsSay) {
  const NumberSpec spec = AllNumbers({.max_number_digits = 7});
  NumberSpec wanted;
  wanted.integer_digits = wanted.fraction_digits = 7;
  EXPECT_EQ(spec, wanted);
}

TEST(NumberSets, IsIntegerLooksAtNumbersAlone) {
  const auto is_integer = [](const char* schema) {
    RuleParts parts(schema);
    return IsInteger(parts.MergedRoot());
  };
  EXPECT_TRUE(is_integer(R"({"type":"integer"})"));
  EXPECT_TRUE(is_integer(R"({"type":["integer","string"]})"));
  EXPECT_FALSE(is_integer(R"({"type":"number"})"));
  EXPECT_FALSE(is_integer(R"({"type":"number","not":{"type":"integer"}})"));
  EXPECT_FALSE(is_integer(R"({"type":"string"})"));
}

struct WrittenCase {
  const char* name;
  JsonSpelling spelling;
  const char* schema;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

class WrittenNumbersTest : public testing::TestWithParam<WrittenCase> {};

TEST_P(WrittenNumbersTest, AreSpelledAsTheOptionsSay) {
  GrammarOptions options = CompactOptions();
  options.spelling = GetParam().spelling;
  RuleParts parts(GetParam().schema, options);
  const NumberSpec spec = *NumbersOf(parts.MergedRoot(), parts.context);
  const NodeId node = WrittenNumbers(spec, parts.context);
  const GrammarIr ir = parts.GrammarOf(node);
  IrRecognizer recognizer(ir);
  for (const std::string& text : GetParam().accepts) EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const std::string& text : GetParam().rejects) EXPECT_FALSE(recognizer.Accepts(text)) << text;
}

INSTANTIATE_TEST_SUITE_P(Spellings, WrittenNumbersTest,
                         testing::ValuesIn(std::vector<WrittenCase>{
                             {"Any",
                              JsonSpelling::kAny,
                              R"({"type":"number","minimum":1})",
                              {"1", "1.00", "10e-1", "1E0"},
                              {"01", "+1", "1.", ".5", "0.5"}},
                             {"Canonical",
                              JsonSpelling::kCanonical,
                              R"({"type":"number","minimum":-9})",
                              {"1", "0.5", "1.0", "1e+16", "1e-07", "0"},
                              {"1.50", "1e0", "-0", "1.00", "1E16", "1e5"}},
                             {"CanonicalInteger",
                              JsonSpelling::kCanonical,
                              R"({"type":"integer"})",
                              {"0", "-10", "100"},
                              {"1.0", "1e1", "1e16", "-0"}},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
