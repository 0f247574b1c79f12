// Over a vocabulary with the markers <call> and </call>, and without one.
#include "grammar_core/frontend/structural_tag/tags_by_trigger.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/tag_texts.h"
#include "tests/structural_tag/tag_parts.h"

namespace maskd {
namespace {

// Tags by what they begin with, as JSON, and the triggers.
struct Grouped {
  TagParts parts;
  std::vector<TagFormat> formats;
  std::vector<NodeId> wholes;
  std::vector<NodeId> tails;
  absl::StatusOr<TriggeredGroups> groups;

  Grouped(const std::vector<std::string>& begins, absl::string_view triggers,
          const std::vector<std::string>& excludes = {}, const MarkerTable* markers = nullptr)
      : parts(markers) {
    std::string tags;
    for (const std::string& begin : begins)
      absl::StrAppend(&tags, tags.empty() ? "" : ",", Tag(begin, Const("k"), R"("</f>")"));
    formats = *ReadFormats(parts.Value(Whole(absl::StrCat(R"({"type":"triggered_tags","triggers":)",
                                                          triggers, R"(,"tags":[)", tags, "]}"))),
                           parts.budget);
    for (std::size_t i = 0; i < formats.size(); ++i) {
      wholes.push_back(parts.builder.Bytes(absl::StrCat("whole", i)));
      tails.push_back(parts.builder.Bytes(absl::StrCat("tail", i)));
    }
    groups = TagsByTrigger(formats[0], formats, wholes, tails, excludes, parts.budget,
                           parts.speller, parts.builder);
  }
};

TEST(TagsByTrigger, TagsOfOneTriggerAreOneWay) {
  Grouped grouped({R"("<f=a>")", R"("<g>")", R"("<f=")"}, R"(["<g","<f="])");
  ASSERT_TRUE(grouped.groups.ok()) << grouped.groups.status();
  IrBuilder& b = grouped.parts.builder;
  ASSERT_EQ(grouped.groups->by_text.size(), 2U);
  EXPECT_EQ(grouped.groups->by_text[0].text, "<g");
  EXPECT_EQ(grouped.groups->by_text[0].behind, b.Bytes(">tail2"));
  EXPECT_EQ(grouped.groups->by_text[1].text, "<f=");
  EXPECT_EQ(grouped.groups->by_text[1].behind, b.Alt({b.Bytes("a>tail1"), b.Bytes("tail3")}));
  EXPECT_TRUE(grouped.groups->marked.empty());
}

TEST(TagsByTrigger, ATriggerWithAPartOfAMarkerMarksItsTag) {
  for (const char* trigger : {R"(["<"])", R"(["<call>"])", R"(["<call>x"])"}) {
    Grouped grouped({R"("<call>xy")"}, trigger, {}, &CallMarkers());
    ASSERT_TRUE(grouped.groups.ok()) << grouped.groups.status();
    IrBuilder& b = grouped.parts.builder;
    EXPECT_TRUE(grouped.groups->by_text.empty());
    ASSERT_EQ(grouped.groups->marked.size(), 1U);
    EXPECT_EQ(grouped.groups->marked[0], b.Bytes("whole1"));
  }
}

TEST(TagsByTrigger, OneTriggerMayLeadToTextsAndMarkers) {
  Grouped grouped({R"("<call>")", R"("<f>")", R"("<f></call>")"}, R"(["<"])", {}, &CallMarkers());
  ASSERT_TRUE(grouped.groups.ok()) << grouped.groups.status();
  EXPECT_EQ(grouped.groups->marked.size(), 1U);
  ASSERT_EQ(grouped.groups->by_text.size(), 1U);
  IrBuilder& b = grouped.parts.builder;
  const NodeId end = b.Tokens({.ids = {{kEndToken, kEndToken}}});
  EXPECT_EQ(
      grouped.groups->by_text[0].behind,
      b.Concat({b.Bytes("f>"), b.Alt({b.Bytes("tail2"), b.Concat({end, b.Bytes("tail3")})})}));
}

struct RefusedCase {
  const char* name;
  std::vector<std::string> begins;
  const char* triggers;
  std::vector<std::string> excludes;
  const char* place;
};

class RefusedTriggersTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedTriggersTest, AreToldAtTheTagOrTheTrigger) {
  const RefusedCase& refused = GetParam();
  Grouped grouped(refused.begins, refused.triggers, refused.excludes, &CallMarkers());
  EXPECT_EQ(grouped.groups.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(grouped.groups.status()), refused.place) << grouped.groups.status();
}

INSTANTIATE_TEST_SUITE_P(
    Tags, RefusedTriggersTest,
    testing::ValuesIn(std::vector<RefusedCase>{
        {"NoTrigger", {R"("<f>")"}, R"(["<g"])", {}, "/format/tags/0/begin"},
        {"ShorterThanIt", {R"("<f>")", R"("<")"}, R"(["<f"])", {}, "/format/tags/1/begin"},
        {"TwoTriggers", {R"("<f>")"}, R"(["<f","<"])", {}, "/format/tags/0/begin"},
        {"OneTriggerTwice", {R"("<f>")"}, R"(["<f","<f"])", {}, "/format/tags/0/begin"},
        {"UnusedTrigger", {R"("<f>")"}, R"(["<f","<g"])", {}, "/format/triggers/1"},
        {"NoList", {R"("<f>")"}, R"("<f")", {}, "/format/triggers"},
        {"EmptyTrigger", {R"("<f>")"}, R"([""])", {}, "/format/triggers/0"},
        {"AToken", {R"({"type":"token","token":1})"}, R"(["<"])", {}, "/format/tags/0/begin"},
        {"ExcludedMarker", {R"("<call>")"}, R"(["<call>"])", {"<call>"}, "/format/tags/0/begin"},
        {"ExcludedPart", {R"("<call>")"}, R"(["<"])", {"call"}, "/format/tags/0/begin"},
        {"ExcludedInTrigger", {R"("a<call>")"}, R"(["a<call>"])", {"a"}, "/format/tags/0/begin"},
    }),
    [](const auto& test) { return test.param.name; });

// What is excluded is so from free text and triggers; a tag's begin may go on with it.
TEST(TagsByTrigger, WhatStandsBehindTheTriggerMayBeExcluded) {
  for (const char* excluded : {"x", "x\n"}) {
    Grouped text({R"("<f>x\n")"}, R"(["<f>"])", {excluded}, &CallMarkers());
    EXPECT_TRUE(text.groups.ok()) << text.groups.status();
    Grouped marked({R"("<call>x\n")"}, R"(["<call>"])", {excluded}, &CallMarkers());
    EXPECT_TRUE(marked.groups.ok()) << marked.groups.status();
    Grouped partly({R"("<call>x\n")"}, R"(["<ca"])", {excluded, ">x"}, &CallMarkers());
    EXPECT_TRUE(partly.groups.ok()) << partly.groups.status();
  }
}

}  // namespace
}  // namespace maskd
