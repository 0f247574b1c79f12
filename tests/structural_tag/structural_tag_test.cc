#include "grammar_core/frontend/structural_tag/structural_tag.h"

#include <string>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/structural_tag/tag_parts.h"

namespace maskd {
namespace {

absl::StatusOr<ReadResult> ReadTag(const std::string& text, const Limits& limits = {}) {
  Budget budget = Budget::Unlimited();
  absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text, limits);
  if (!document.ok()) return document.status();
  return ReadStructuralTag(*std::move(document), {"structural_tag", text}, {}, limits, budget);
}

TEST(StructuralTag, BothShapesOfOneTagTakeTheSameTexts) {
  const auto newer = ReadTag(R"({"type":"structural_tag","format":{"type":"triggered_tags",
    "triggers":["<f="],"tags":[
      {"begin":"<f=a>","content":{"type":"json_schema","json_schema":{"type":"null"}},"end":"</f>"},
      {"begin":"<f=b>","content":{"type":"json_schema","json_schema":{"type":"boolean"}},
       "end":"</f>"}]}})");
  const auto older = ReadTag(R"({"structures":[
    {"begin":"<f=a>","schema":{"type":"null"},"end":"</f>"},
    {"begin":"<f=b>","schema":{"type":"boolean"},"end":"</f>"}],"triggers":["<f="]})");
  ASSERT_TRUE(newer.ok()) << newer.status();
  ASSERT_TRUE(older.ok()) << older.status();
  IrRecognizer of_newer(newer->ir);
  IrRecognizer of_older(older->ir);
  for (const char* text : {"", "text", "<f=a>null</f>", "a<f=b>true</f>b<f=a>null</f>", "<f"}) {
    EXPECT_TRUE(of_newer.Accepts(text)) << text;
    EXPECT_TRUE(of_older.Accepts(text)) << text;
  }
  for (const char* text : {"<f=", "<f=a>true</f>", "<f=a>null", "<f=c>null</f>"}) {
    EXPECT_FALSE(of_newer.Accepts(text)) << text;
    EXPECT_FALSE(of_older.Accepts(text)) << text;
  }
}

TEST(StructuralTag, TheOlderFormMayWantATag) {
  const auto read = ReadTag(R"({"structures":[{"begin":"<","schema":{"type":"null"},"end":">"}],
    "triggers":["<"],"at_least_one":true})");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(IrRecognizer(read->ir).Accepts("<null>x"));
  EXPECT_FALSE(IrRecognizer(read->ir).Accepts("x"));
}

TEST(StructuralTag, ErrorsStandAtPointersOfItsText) {
  const auto place = [](const std::string& text) {
    const absl::Status status = ReadTag(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return ErrorPlace(status);
  };
  EXPECT_EQ(place(R"({"type":"tag"})"), "/type");
  EXPECT_EQ(place(R"({"format":{"type":"regex","pattern":"("}})"), "/format/pattern");
  EXPECT_EQ(place(R"({"structures":[{"begin":"<","schema":{"type":"x"},"end":">"}],
    "triggers":["<"]})"),
            "/structures/0/schema/type");
  EXPECT_EQ(place(R"({"structures":[{"begin":"<","schema":5,"end":">"}],"triggers":["<"]})"),
            "/structures/0/schema");
}

TEST(StructuralTag, LimitsHold) {
  Limits shallow;
  shallow.source_depth = 2;
  const std::string nested = R"({"format":{"type":"optional","content":{"type":"any_text"}}})";
  EXPECT_TRUE(absl::IsResourceExhausted(ReadTag(nested, shallow).status()));
  Limits few;
  few.ir_nodes = 2;
  EXPECT_TRUE(absl::IsResourceExhausted(ReadTag(nested, few).status()));
  EXPECT_TRUE(ReadTag(nested).ok());
}

}  // namespace
}  // namespace maskd
