#include "grammar_core/automaton/row_bounds.h"

#include "gtest/gtest.h"

#include "tests/frontend/reading.h"

namespace maskd {
namespace {

RowBounds BoundsOf(absl::string_view schema, const GrammarOptions& options = {},
                   const Limits& limits = {}) {
  return {ReadForTest("json_schema", schema, options)->ir, limits};
}

TEST(RowBoundsTest, AreThoseOfTheLimits) {
  Limits limits;
  limits.row_bytes = 1234;
  limits.emptiness_states = 56;
  const RowBounds bounds = BoundsOf(R"({"type":"null"})", {}, limits);
  EXPECT_EQ(bounds.bytes, 1234);
  EXPECT_EQ(bounds.search_states, 56);
}

// Behind "1." eleven zeros have to come before a digit tells values apart.
TEST(RowBoundsTest, EndsOfIntervalsAskForTheirZeros) {
  const auto zeros = [](absl::string_view schema) { return BoundsOf(schema).most_zeros; };
  const std::size_t few = zeros(R"({"type":"string"})");
  EXPECT_GE(zeros(R"({"type":"number","minimum":1,"maximum":1.000000000001})"), few + 11);
  EXPECT_GT(few, 0) << "an array may have more items than there are short numbers";
}

TEST(RowBoundsTest, LinesAreToldFromOtherWhiteSpace) {
  constexpr char kArray[] = R"({"type":"array","items":{"type":"null"}})";
  GrammarOptions on_lines;
  on_lines.indent = 2;
  EXPECT_TRUE(BoundsOf(kArray, on_lines).breaks_lines);
  EXPECT_FALSE(BoundsOf(kArray).breaks_lines);
}

}  // namespace
}  // namespace maskd
