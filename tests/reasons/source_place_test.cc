#include "reasons/source_place.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maskd::reasons {
namespace {

struct PlaceCase {
  std::string name;
  std::string source;
  std::string place;
  std::string text;  // what the span covers
  int line;
  int column;
};

class SourcePlaceTest : public testing::TestWithParam<PlaceCase> {};

TEST_P(SourcePlaceTest, SpansWhatIsNamed) {
  const PlaceCase& param = GetParam();
  const auto span = FindPlace(param.source, param.place);
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(param.source.substr(span->begin, span->end - span->begin), param.text);
  EXPECT_EQ(span->line, param.line);
  EXPECT_EQ(span->column, param.column);
}

INSTANTIATE_TEST_SUITE_P(
    Places, SourcePlaceTest,
    testing::ValuesIn(std::vector<PlaceCase>{
        {"Member", R"({"a": 1, "b": "x"})", "/b", R"("x")", 1, 15},
        {"Nested", "{\n \"a\": {\"b\": [1, {\"c\": null}]}}", "/a/b/1/c", "null", 2, 23},
        {"WholeObject", R"({"a": {"b": [1, 2]} , "c": 3})", "/a", R"({"b": [1, 2]})", 1, 7},
        {"Item", "[10, [20], 30]", "/2", "30", 1, 12},
        {"EscapedPointer", R"({"a/b": {"~": 7}})", "/a~1b/~0", "7", 1, 15},
        {"EscapedName", R"({"\u0061\"": true})", "/a\"", "true", 1, 14},
        {"BracketsInAString", R"({"a": "]}", "b": 2})", "/b", "2", 1, 18},
        {"Unfinished", R"({"a": 1, "b": {"c": 2)", "/b/c", "2", 1, 21},
        {"EmptyName", R"({"": 5})", "/", "5", 1, 6},
        {"LineAndColumn", "root ::= a\nb ::= \"x\"", "2:7", "\"", 2, 7},
        {"WideCharacter", "é", "1:1", "é", 1, 1},
        {"PastTheEnd", "ab", "1:9", "", 1, 3},
    }),
    [](const auto& test) { return test.param.name; });

TEST(SourcePlaceTest, WhatIsNotThereIsNotFound) {
  const std::string source = R"({"a": [1]})";
  for (const char* place :
       {"/b", "/a/1", "/a/x", "/a/0/c", "", "options.indent", "7", "0:1", "9:1", "1:0", "1:2:3"}) {
    EXPECT_FALSE(FindPlace(source, place).has_value()) << place;
  }
}

TEST(SourcePlaceTest, AMembersNameIsFoundByItsPointer) {
  const std::string source = R"({"a": {"b~\u002f" : [1]}, "b/": 2})";
  const auto span = FindName(source, "/a/b~0~1");
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(source.substr(span->begin, span->end - span->begin), R"("b~\u002f")");
  EXPECT_EQ(span->column, 8);
  for (const char* const place : {"/a/b", "/a/b~0~1/0", "", "1:2"})
    EXPECT_FALSE(FindName(source, place).has_value()) << place;
}

TEST(SourcePlaceTest, DeepNestingCostsNoStack) {
  const std::string deep(1'000'000, '[');
  const auto span = FindPlace(R"({"a": )" + deep, "/a");
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->end, deep.size() + 6);
}

}  // namespace
}  // namespace maskd::reasons
