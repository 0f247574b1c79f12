#include "service/base/errors.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "service/base/log.h"

namespace maskd::service {
namespace {

struct Utf8Case {
  const char* name;
  std::string text;
  std::string valid;
};

class ValidUtf8Test : public testing::TestWithParam<Utf8Case> {};

TEST_P(ValidUtf8Test, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(ValidUtf8(GetParam().text), GetParam().valid);
}

INSTANTIATE_TEST_SUITE_P(Texts, ValidUtf8Test,
                         testing::ValuesIn(std::vector<Utf8Case>{
                             {"Empty", "", ""},
                             {"Valid", "a\xC3\xA9", "a\xC3\xA9"},
                             {"LoneLead", "a\xC3", "a\xEF\xBF\xBD"},
                             {"Surrogate", "\xED\xA0\x80!",
                              "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD!"},
                             {"KeepsNul", std::string("a\0b", 3), std::string("a\0b", 3)},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(LogTest, QuotesWhatWouldBreakTheLine) {
  EXPECT_EQ(FormatEvent("compiled", {{"grammar", "9f2c"}, {"kind", "json_schema"}}),
            "compiled grammar=9f2c kind=json_schema");
  EXPECT_EQ(FormatEvent("x", {{"a", "two words"}, {"b", "line\nend"}, {"c", ""}}),
            "x a=\"two words\" b=\"line\\nend\" c=\"\"");
}

}  // namespace
}  // namespace maskd::service
