#include "tests/rooms/shown_terms.h"

#include "gtest/gtest.h"

#include "tests/rooms/engine_parts.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

TEST(ShownTermsTest, AreTextWhileAStoreIsKnown) {
  const TermId number(7);
  EXPECT_EQ(testing::PrintToString(number), "7");
  {
    SmallGrammar grammar("regex", "[0-9]{2}x");
    EXPECT_EQ(testing::PrintToString(grammar.Behind("12")), "utf8(\"x\")");
    {
      const auto read = ReadForTest("choice", R"(["abc"])");
      ASSERT_TRUE(read.ok());
      EngineParts parts(read->ir);
      EXPECT_EQ(testing::PrintToString(parts.Behind("a")), "utf8(\"bc\")");
      EXPECT_EQ(testing::PrintToString(kUnknownTerm), "unknown");
    }
    EXPECT_EQ(testing::PrintToString(grammar.Behind("12")), "utf8(\"x\")");
  }
  EXPECT_EQ(testing::PrintToString(number), "7");
}

}  // namespace
}  // namespace maskd
