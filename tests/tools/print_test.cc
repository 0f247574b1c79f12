#include "tools/cli/print.h"

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "tools/cli/simulate/json_place.h"
#include "tools/cli/simulate/report.h"

namespace maskd::cli {
namespace {

struct QuotedCase {
  std::string name;
  std::string bytes;
  std::string quoted;
};

class QuotedTest : public testing::TestWithParam<QuotedCase> {};

TEST_P(QuotedTest, ShowsTextAsItIsAndOtherBytesByNumber) {
  EXPECT_EQ(Quoted(GetParam().bytes), GetParam().quoted);
}

INSTANTIATE_TEST_SUITE_P(Bytes, QuotedTest,
                         testing::ValuesIn(std::vector<QuotedCase>{
                             {"Empty", "", "\"\""},
                             {"Words", " a b", "\" a b\""},
                             {"QuoteAndBackslash", "\"\\", "\"\\\"\\\\\""},
                             {"Control", "a\n\x7F", "\"a\\x0a\\x7f\""},
                             {"Utf8", "\xC3\xA9\xE2\x82\xAC", "\"\xC3\xA9\xE2\x82\xAC\""},
                             {"HalfOfACodePoint", "\xE2\x82", "\"\\xe2\\x82\""},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(JsonPlace, KnowsStringsAndEscapes) {
  JsonPlace place;
  place.Take("{\"a");
  EXPECT_TRUE(place.in_string());
  place.Take("\\");
  place.Take("\"");
  EXPECT_TRUE(place.in_string());
  place.Take("\\\\\":");
  EXPECT_FALSE(place.in_string());
  place.Take("\"\"");
  EXPECT_FALSE(place.in_string());
}

TEST(Percentile, IsTheNearestRank) {
  const std::vector<double> values = {5, 1, 4, 2, 3};
  EXPECT_EQ(Percentile(values, 0), 1);
  EXPECT_EQ(Percentile(values, 0.5), 3);
  EXPECT_EQ(Percentile(values, 1), 5);
  EXPECT_EQ(Percentile({7}, 0.99), 7);
}

}  // namespace
}  // namespace maskd::cli
