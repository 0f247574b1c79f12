// What either dialect lets stand behind a backslash: each character, in literals and in classes.
#include "grammar_core/frontend/ebnf/dialect.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

// The characters of ASCII that may stand behind a backslash and are one character then.
std::string EscapedOf(const LiteralStyle& style) {
  std::string escaped;
  for (char c = '!'; c < 0x7F; ++c) {
    if (c == 'x' || c == 'u' || c == 'U') continue;  // digits follow
    const std::string text = absl::StrCat("\\", std::string(1, c));
    PatternCursor cursor(text, "", "grammar");
    if (ReadLiteralCharacter(cursor, style).ok()) escaped.push_back(c);
  }
  return escaped;
}

// As llama.cpp's parser and xgrammar's have them (docs/ebnf.md).
TEST(EbnfDialectTest, EachHasItsEscapes) {
  EXPECT_EQ(EscapedOf(LiteralStyleOf(EbnfDialect::kGbnf)), "\"-[\\]nrt");
  EXPECT_EQ(EscapedOf(ClassStyleOf(EbnfDialect::kGbnf)), "\"-[\\]nrt");
  EXPECT_EQ(EscapedOf(LiteralStyleOf(EbnfDialect::kEbnf)), "\"'/0?\\abefnrtv");
  EXPECT_EQ(EscapedOf(ClassStyleOf(EbnfDialect::kEbnf)), "\"$'()*+-./0?[\\]^abefnrtv{|}");
}

TEST(EbnfDialectTest, HexDigitsAndLinesDiffer) {
  const auto read = [](EbnfDialect dialect, absl::string_view text) {
    PatternCursor cursor(text, "", "grammar");
    return *ReadLiteralCharacter(cursor, LiteralStyleOf(dialect));
  };
  EXPECT_EQ(read(EbnfDialect::kGbnf, "\\x0041"), 0x00U);
  EXPECT_EQ(read(EbnfDialect::kEbnf, "\\x0041"), 0x41U);
  EXPECT_TRUE(LiteralStyleOf(EbnfDialect::kGbnf).newlines);
  EXPECT_FALSE(LiteralStyleOf(EbnfDialect::kEbnf).newlines);
  EXPECT_FALSE(ClassStyleOf(EbnfDialect::kEbnf).newlines);
}

}  // namespace
}  // namespace maskd
