// Patterns of response templates in pieces, held to std::regex where it knows their syntax.
#include "grammar_core/frontend/chat/response_pattern.h"

#include <regex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

using Kind = PatternPiece::Kind;

std::vector<PatternPiece> Pieces(const std::string& pattern) {
  auto pieces = ReadResponsePattern(pattern, "/p");
  EXPECT_TRUE(pieces.ok()) << pattern << ": " << pieces.status();
  return pieces.ok() ? *std::move(pieces) : std::vector<PatternPiece>();
}

// A text that the pieces say; with the least of white space or with some.
std::string Said(const std::vector<PatternPiece>& pieces, bool with_space) {
  std::string text;
  for (const PatternPiece& piece : pieces) {
    const std::string space = piece.text.empty() ? "\n " : piece.text;
    if (piece.kind == Kind::kText) text += piece.text;
    if (piece.kind == Kind::kChoice) text += piece.choices[with_space ? 0 : 1];
    if (piece.kind == Kind::kSpace && (with_space || piece.is_needed)) text += space;
  }
  return text;
}

TEST(ResponsePattern, WhatPiecesSayIsWhatThePatternMatches) {
  for (const std::string pattern : {R"(<tool_call>\s*)", R"(\s+</think>\n?)", R"(\[TOOL\] *\{)",
                                    R"((?:<\|im_end\|>|<\/s>)\s*)", R"(a\.b\ts?)"}) {
    if (pattern == R"(a\.b\ts?)") {
      EXPECT_FALSE(ReadResponsePattern(pattern, "/p").ok()) << "a letter that may be missing";
      continue;
    }
    const std::vector<PatternPiece> pieces = Pieces(pattern);
    ASSERT_FALSE(pieces.empty());
    const std::regex oracle(pattern);
    EXPECT_TRUE(std::regex_match(Said(pieces, true), oracle)) << pattern;
    EXPECT_TRUE(std::regex_match(Said(pieces, false), oracle)) << pattern;
  }
}

TEST(ResponsePattern, ACaptureHasItsNameAndBody) {
  for (const std::string begin : {"(?P<name>", "(?<name>"}) {
    const std::vector<PatternPiece> pieces = Pieces("<f=" + begin + R"([^>)\]]+)>)");
    ASSERT_EQ(pieces.size(), 3U);
    EXPECT_EQ(pieces[0].text, "<f=");
    EXPECT_EQ(pieces[1].kind, Kind::kCapture);
    EXPECT_EQ(pieces[1].text, "name");
    EXPECT_EQ(pieces[1].body, R"([^>)\]]+)");
    EXPECT_EQ(pieces[2].text, ">");
  }
}

// At the pattern's place, with the byte.
TEST(ResponsePattern, WhatSaysNoOneTextIsRefused) {
  for (const auto& [pattern, byte] :
       std::vector<std::pair<std::string, std::string>>{{"ab|c", "byte 2"},
                                                        {"a[bc]", "byte 1"},
                                                        {"a.", "byte 1"},
                                                        {"ab*", "byte 1"},
                                                        {"a{2}", "byte 0"},
                                                        {"^a", "byte 0"},
                                                        {"a(?=b)", "byte 1"},
                                                        {"a(b)", "byte 1"},
                                                        {"a(?:b", "byte 1"},
                                                        {"a(?P<n>b", "byte 1"},
                                                        {R"(a\d)", "byte 1"},
                                                        {"a\\", "byte 1"}}) {
    const auto pieces = ReadResponsePattern(pattern, "/p");
    EXPECT_TRUE(absl::IsUnimplemented(pieces.status())) << pattern << ": " << pieces.status();
    EXPECT_EQ(ErrorPlace(pieces.status()), "/p") << pattern;
    EXPECT_NE(pieces.status().message().find(byte), std::string::npos)
        << pattern << ": " << pieces.status();
  }
}

// Of sets, as std::regex has them: whether "x" and then the character is all of one capture.
TEST(ResponsePattern, ACaptureTakesWhatItsSetHas) {
  for (const std::string body :
       {".+", R"(\w+)", R"(\S+)", R"([^>]+)", R"([^\s{]*)", R"([^"\\]+)"}) {
    for (const char next : {'>', '{', ' ', '"', 'a', '\\'}) {
      const bool takes = std::regex_match(std::string("x") + next, std::regex(body));
      EXPECT_EQ(CaptureTakes(body, next), takes) << body << " before " << next;
      EXPECT_EQ(CaptureTakes(body + "?", next), false) << "a lazy one stops, " << body;
      EXPECT_EQ(CaptureHas(body, next), takes) << body << " has " << next;
      EXPECT_EQ(CaptureHas(body + "?", next), takes) << body << "? has " << next;
    }
  }
  for (const std::string body : {"[a-z]+", "[^a-z]+", "ab+", ".", "[^]"})
    EXPECT_EQ(CaptureTakes(body, '>'), CaptureHas(body, '>')) << body;
  for (const std::string body : {"[a-z]+", "[^a-z]+", "ab+", ".", "[^]"})
    EXPECT_EQ(CaptureHas(body, '>'), std::nullopt) << body;
}

}  // namespace
}  // namespace maskd
