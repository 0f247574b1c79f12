// Over the bytes without '~' and the markers <call> and </call>.
#include "grammar_core/frontend/structural_tag/marker_speller.h"

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

}  // namespace
}  // namespace maskd
