// Over the bytes without '~' and the markers <call> and </call>.
#include "grammar_core/frontend/structural_tag/marker_speller.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/structural_tag/tag_parts.h"

namespace maskd {
namespace {

TEST(MarkerSpeller, AMarkerIsItsToken) {
  TagParts parts(&CallMarkers());
  IrBuilder& b = parts.builder;
  const NodeId call = b.Tokens({.ids = {{kCallToken, kCallToken}}});
  const NodeId end = b.Tokens({.ids = {{kEndToken, kEndToken}}});
  EXPECT_EQ(parts.speller.Spell("<call>", "/a"), call);
  EXPECT_EQ(parts.speller.Spell("a<call></call>b", "/a"),
            b.Concat({b.Bytes("a"), call, end, b.Bytes("b")}));
  EXPECT_EQ(parts.speller.Spell("<call", "/a"), b.Bytes("<call"));
  EXPECT_EQ(parts.speller.Spell("", "/a"), b.Empty());
  EXPECT_TRUE(parts.speller.status().ok());
}

TEST(MarkerSpeller, AllIsTextWithoutAVocabulary) {
  TagParts parts;
  IrBuilder& b = parts.builder;
  EXPECT_EQ(parts.speller.Spell("a<call>~", "/a"), b.Bytes("a<call>~"));
  EXPECT_EQ(parts.speller.Spell("", "/a"), b.Empty());
  EXPECT_FALSE(parts.speller.HasMarker("<call>"));
  EXPECT_EQ(parts.speller.TextOnly({"<call>"}), std::vector<std::string>{"<call>"});
  parts.speller.Keep("<call>", "/a");
  parts.speller.Keep(TokenSpec{.names = {"<call>"}});
  parts.speller.Finish(&parts.result);
  EXPECT_TRUE(parts.result.markers.empty());
}

TEST(MarkerSpeller, TheFirstTextThatNoTokensSpellIsTold) {
  TagParts parts(&CallMarkers());
  (void)parts.speller.Spell("a", "/a");
  (void)parts.speller.Spell("<call>~", "/b");
  (void)parts.speller.Spell("~", "/c");
  EXPECT_EQ(parts.speller.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(parts.speller.status()), "/b");
}

struct HeadCase {
  const char* text;
  std::size_t bytes;
  bool has_marker;
};

TEST(MarkerSpeller, AMarkerInTheFirstBytesMayGoOnBehindThem) {
  TagParts parts(&CallMarkers());
  for (const HeadCase& head : {HeadCase{"<call>", 1, true}, HeadCase{"<call>", 0, false},
                               HeadCase{"ab<call>", 2, false}, HeadCase{"ab<call>", 3, true},
                               HeadCase{"<call", 5, false}, HeadCase{"a</call>x", 99, true}})
    EXPECT_EQ(parts.speller.HasMarker(head.text, head.bytes), head.has_marker)
        << head.text << " " << head.bytes;
  EXPECT_TRUE(parts.speller.HasMarker("x<call>"));
  EXPECT_EQ(parts.speller.TextOnly({"a", "a<call>", "<call"}),
            (std::vector<std::string>{"a", "<call"}));
}

TEST(MarkerSpeller, AMarkerThatBeginsInTheFirstBytesIsWhole) {
  TagParts parts(&CallMarkers());
  for (const auto& [text, bytes, whole] : {std::tuple{"<call>x", 1, 6},
                                           {"<call>x", 6, 6},
                                           {"<call>x", 7, 7},
                                           {"<call>x", 0, 0},
                                           {"ab<call>", 1, 1},
                                           {"ab<call>", 2, 2},
                                           {"ab<call>c", 3, 8},
                                           {"ab", 9, 2}})
    EXPECT_EQ(parts.speller.WithWholeMarkers(text, bytes), whole) << text << " " << bytes;
  EXPECT_EQ(TagParts().speller.WithWholeMarkers("<call>", 1), 1U);
}

TEST(MarkerSpeller, WhatIsSpelledOrNamedIsKeptWhereItWasFirst) {
  TagParts parts(&CallMarkers());
  (void)parts.speller.Spell("</call>", "/first");
  parts.speller.Keep("x</call>", "/later");
  parts.speller.Keep(TokenSpec{.names = {"<call>", "a"}, .place = "/named"});
  parts.speller.Finish(&parts.result);
  EXPECT_EQ(parts.result.markers, (std::vector<std::int32_t>{kCallToken, kEndToken}));
  ASSERT_EQ(parts.result.bounds.size(), 2U);
  EXPECT_EQ(parts.result.bounds[0].place, "/named");
  EXPECT_EQ(parts.result.bounds[1].place, "/first");
}

TEST(MarkerSpeller, AMarkersIdKeepsItAndOtherIdsDoNot) {
  TagParts parts(&CallMarkers());
  parts.speller.Keep(TokenSpec{.ids = {{'a', 'a'}, {1U << 20U, 1U << 20U}, {0, 300}}});
  parts.speller.Keep(TokenSpec{.ids = {{kEndToken, kEndToken}}});
  parts.speller.Finish(&parts.result);
  EXPECT_EQ(parts.result.markers, std::vector<std::int32_t>{kEndToken});
}

TEST(MarkerSpeller, APatternWithAMarkerIsRemarkedOnce) {
  TagParts parts(&CallMarkers());
  std::vector<Diagnostic> warnings;
  parts.speller.WarnOfMarkersIn("<cal", "/p", &warnings);
  EXPECT_TRUE(warnings.empty());
  parts.speller.WarnOfMarkersIn(R"(a\<call\>|\<\/call>)", "/p", &warnings);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].place, "/p");
  EXPECT_THAT(warnings[0].message, testing::HasSubstr("\"<call>\""));
  parts.speller.Finish(&parts.result);
  EXPECT_TRUE(parts.result.markers.empty());
}

// Oracle: every marker is looked for at every place.
TEST(MarkerTableTest, MarkersAreFoundByTheirBeginnings) {
  const std::vector<std::string> markers = {"<", "<a", "<ab>", "<|", "<|x|>", "[b", "ab", "<aa"};
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  tokens['<'].bytes.clear();
  for (const std::string& marker : markers) tokens.push_back({marker, true});
  tokens.push_back({"the end", true});
  const auto end = static_cast<TokenId>(tokens.size() - 1);
  for (const bool has_short : {true, false}) {
    if (!has_short) tokens[256].bytes = "no";
    const MarkerTable table(*Vocabulary::Create("markers", tokens, {end}, {}));
    for (const std::string& text : TextsOver("<a|b[", 5)) {
      for (std::size_t bytes = 0; bytes <= text.size() + 1; ++bytes) {
        bool has = false;
        for (std::size_t at = 0; at < std::min(bytes, text.size()); ++at)
          for (const std::string& marker : markers)
            has = has || ((has_short || marker.size() > 1) &&
                          text.compare(at, marker.size(), marker) == 0);
        ASSERT_EQ(table.HasMarker(text, bytes), has) << text << " " << bytes;
      }
      std::string joined;
      for (const MarkerTable::Piece& piece : table.Cut(text)) {
        joined.append(piece.text.data(), piece.text.size());
        const auto is_longer = [&](const std::string& marker) {
          const std::size_t at = static_cast<std::size_t>(piece.text.data() - text.data());
          return marker.size() > piece.text.size() && text.compare(at, marker.size(), marker) == 0;
        };
        if (piece.marker == MarkerTable::kNone)
          EXPECT_FALSE(table.HasMarker(piece.text, piece.text.size())) << text;
        else
          EXPECT_TRUE(std::ranges::none_of(markers, is_longer)) << text;
      }
      EXPECT_EQ(joined, text);
    }
  }
}

}  // namespace
}  // namespace maskd
