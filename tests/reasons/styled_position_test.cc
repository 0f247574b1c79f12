// Where texts stand that are written as elements or as literals.
#include "reasons/styled_position.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/frontend/structural_tag/written_style.h"
#include "reasons/json_position.h"

namespace maskd::reasons {
namespace {

struct StyledCase {
  std::string name;
  std::string style;
  std::string text;
  std::string described;
};

class StyledPositionTest : public testing::TestWithParam<StyledCase> {};

TEST_P(StyledPositionTest, IsThatOfTheValue) {
  const WrittenStyleRef style = FindWrittenStyle(GetParam().style);
  ASSERT_NE(style, nullptr);
  EXPECT_EQ(DescribePosition(FindStyledPosition(*style, GetParam().text)), GetParam().described);
}

constexpr char kName[] = "where a member's name stands, in the object at the root";

INSTANTIATE_TEST_SUITE_P(
    Texts, StyledPositionTest,
    testing::ValuesIn(std::vector<StyledCase>{
        {"ElementBegin", "qwen_xml", "", kName},
        {"ElementOpens", "qwen_xml", "\n<parameter=ci", kName},
        {"ElementValue", "qwen_xml", "<parameter=city>", "where a value begins /city"},
        {"ElementString", "qwen_xml", "<parameter=city>Os", "in the string /city"},
        {"ElementNumber", "qwen_xml", "<parameter=days>3", "in the number or word /days"},
        {"ElementJson", "qwen_xml", "<parameter=o>{\"a\": [1, \"x", "in the string /o/a/1"},
        {"SecondElement", "qwen_xml", "<parameter=a>1</parameter><parameter=b>x",
         "in the string /b"},
        {"BehindAnElement", "qwen_xml", "<parameter=a>1</parameter>", kName},
        {"LiteralBegin", "python", "", kName},
        {"LiteralName", "python", "ci", kName},
        {"LiteralValue", "python", "city=", "where a value begins /city"},
        {"LiteralString", "python", "city='Os", "in the string /city"},
        {"LiteralDoubleQuotes", "python", "city=\"O's", "in the string /city"},
        {"LiteralEscape", "python", "city='a\\'b", "in the string /city"},
        {"LiteralWord", "python", "deep=Tru", "in the number or word /deep"},
        {"LiteralSecond", "python", "city='Oslo', days=3", "in the number or word /days"},
        {"LiteralNested", "python", "opts={\"deep\": [True, 'x", "in the string /opts/deep/1"},
        {"LiteralBehind", "python", "city='a, b=c', d=", "where a value begins /d"},
        {"GemmaName", "gemma", "{\n ci", kName},
        {"GemmaValue", "gemma", "{city : ", "where a value begins /city"},
        {"GemmaString", "gemma", "{city: <|\"|>O\"s", "in the string /city"},
        {"GemmaSecond", "gemma", "{city:<|\"|>{,<|\"|> ,\n days: 3", "in the number or word /days"},
        {"GemmaNested", "gemma", "{o: {x :[1, <|\"|>a", "in the string /o/x/1"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd::reasons
