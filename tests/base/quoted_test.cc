#include "grammar_core/base/quoted.h"

#include <string>

#include "gtest/gtest.h"

namespace maskd {
namespace {

TEST(QuotedTest, WhatPeopleCanReadStaysAsItIs) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("a b~"), "\"a b~\"");
  EXPECT_EQ(Quoted("\xC3\xA9\xF0\x9F\x98\x80"), "\"\xC3\xA9\xF0\x9F\x98\x80\"");
}

TEST(QuotedTest, QuotesAndBackslashesAreEscaped) { EXPECT_EQ(Quoted("\"\\"), R"("\"\\")"); }

TEST(QuotedTest, TheRestIsHexadecimal) {
  EXPECT_EQ(Quoted(std::string("\0\n\x1F\x7F", 4)), R"("\x00\x0a\x1f\x7f")");
}

TEST(QuotedTest, BytesThatAreNoCharacterAreShownOneByOne) {
  EXPECT_EQ(Quoted("\xC3"), R"("\xc3")");
  EXPECT_EQ(Quoted("\x80"
                   "a"),
            R"("\x80a")");
  EXPECT_EQ(Quoted("\xED\xA0\x80"), R"("\xed\xa0\x80")") << "half of a surrogate pair";
  EXPECT_EQ(Quoted("\xC0\xAF"), R"("\xc0\xaf")") << "longer than it may be";
}

}  // namespace
}  // namespace maskd
