#include "grammar_core/frontend/json_schema/reading/schema_set.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/read_result.h"
#include "tests/json_schema/reading/pointers.h"

namespace maskd {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Kind = SchemaPart::Kind;
using Documents = std::vector<GrammarSource::Document>;

// A schema's set with all that must outlive it.
class Loaded {
 public:
  explicit Loaded(absl::string_view schema, Documents given = {},
                  Budget budget = Budget::Unlimited())
      : budget_(std::move(budget)), given_(std::move(given)), set_(Made(schema)) {}
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  [[nodiscard]] const absl::Status& status() const { return set_.status(); }
  const SchemaSet* operator->() const { return &*set_; }
  [[nodiscard]] JsonId At(absl::string_view pointer) const {
    return ValueAt(set_->root(), pointer).id();
  }
  [[nodiscard]] const SchemaView& View(absl::string_view pointer) const {
    return set_->view(At(pointer));
  }

 private:
  absl::StatusOr<SchemaSet> Made(absl::string_view schema) {
    JsonDocument document = *JsonDocument::Parse(schema, limits_);
    std::vector<Diagnostic> warnings;
    const Dialect dialect = *ReadDialect(document.root(), given_, limits_, &warnings);
    return SchemaSet::Load({std::move(document), given_, dialect, limits_, budget_}, dialect,
                           Formats::kByDraft, budget_);
  }

  const Limits limits_;
  Budget budget_;
  const Documents given_;
  absl::StatusOr<SchemaSet> set_;
};

TEST(SchemaSetTest, HasWhatTheRootReachesAndEachOnce) {
  const Loaded set(R"({"properties":{"a":{"$ref":"#/$defs/s"},"b":{"$ref":"#/$defs/s"},
      "c":{"items":{"$ref":"#"}}},"$defs":{"s":{"minLength":1},"never":{"type":5}}})");
  ASSERT_TRUE(set.status().ok()) << set.status();
  EXPECT_EQ(set->size(), 1 + 3 + 1 + 1) << "the root, a, b and c, the items of c, s";
  EXPECT_EQ(set->view(set->root().id()).at.id(), 0);
  EXPECT_EQ(set.View("/$defs/s").length.min, 1);
}

TEST(SchemaSetTest, ReferencesAreResolved) {
  const Loaded set(R"({"$ref":"#/$defs/s","$defs":{"s":{"$ref":"http://x.example/t"}}})",
                   {{"http://x.example/t", R"({"minLength":2})"}});
  ASSERT_TRUE(set.status().ok()) << set.status();
  const SchemaPart& part = set.View("").parts.at(0);
  EXPECT_EQ(part.kind, Kind::kSchema);
  EXPECT_EQ(part.id, set.At("/$defs/s"));
  EXPECT_EQ(set->view(set->view(part.id).parts.at(0).id).length.min, 2);
  EXPECT_FALSE(set->is_dynamic());
}

TEST(SchemaSetTest, SchemasWithoutKeywordsAreWhatTheyAre) {
  const Loaded set(R"({"properties":{"a":{},"b":{},"c":true,"d":false,"e":false}})");
  ASSERT_TRUE(set.status().ok()) << set.status();
  EXPECT_EQ(set->size(), 6);
  for (const char* name : {"a", "b", "c"})
    EXPECT_TRUE(set.View(absl::StrCat("/properties/", name)).is_true()) << name;
  for (const char* name : {"d", "e"})
    EXPECT_TRUE(set.View(absl::StrCat("/properties/", name)).is_false) << name;
  EXPECT_EQ(set->FirstOf(set.At("/properties/b")), set.At("/properties/a"));
  EXPECT_EQ(set->FirstOf(set.At("/properties/e")), set.At("/properties/d"));
}

TEST(SchemaSetTest, TheHighestErrorIsTold) {
  const Loaded set(R"({"properties":{"a":{"items":{"type":"x"}},"b":{"type":"y"}}})");
  EXPECT_EQ(set.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(set.status()), "/properties/b/type");
}

struct CycleCase {
  const char* name;
  const char* schema;
  const char* place;  // null where there is no circle
};

class CycleTest : public testing::TestWithParam<CycleCase> {};

TEST_P(CycleTest, IsRefusedWithoutAPartOfTheInstanceInBetween) {
  const Loaded set(GetParam().schema);
  if (GetParam().place == nullptr) {
    EXPECT_TRUE(set.status().ok()) << set.status();
    return;
  }
  EXPECT_EQ(set.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(set.status()), GetParam().place);
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, CycleTest,
    testing::ValuesIn(std::vector<CycleCase>{
        {"Items", R"({"items":{"$ref":"#"}})", nullptr},
        {"Members", R"({"additionalProperties":{"anyOf":[{"$ref":"#"},{"type":"null"}]}})",
         nullptr},
        {"Names", R"({"propertyNames":{"$ref":"#"}})", nullptr},
        {"Contains", R"({"contains":{"not":{"$ref":"#"}}})", nullptr},
        {"Unreached", R"({"$defs":{"a":{"$ref":"#/$defs/a"}}})", nullptr},
        {"TwoWaysToOneSchema",
         R"({"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"null"}}})",
         nullptr},
        {"Else", R"({"if":{},"else":{"$ref":"#"}})", "/else/$ref"},
        {"OneOf", R"({"oneOf":[{},{"oneOf":[{},{"$ref":"#"}]}]})", "/oneOf/1/oneOf/1/$ref"},
        {"BelowAMember", R"({"properties":{"a":{"not":{"$ref":"#/properties/a"}}}})",
         "/properties/a/not/$ref"},
        {"OfADynamicTarget",
         R"({"$id":"http://x.example/s","$dynamicAnchor":"n","$ref":"t","$defs":{
             "t":{"$id":"t","allOf":[{"$dynamicRef":"#n"}],"$dynamicAnchor":"n"}}})",
         "/$defs/t/allOf/0/$dynamicRef"},
    }),
    [](const auto& test) { return std::string(test.param.name); });

// Schemas of which each refers to the next, and the last one to `end`.
std::string Chain(int length, absl::string_view end) {
  std::string text = R"({"$ref":"#/$defs/0","$defs":{)";
  for (int i = 0; i + 1 < length; ++i)
    absl::StrAppend(&text, "\"", i, R"(":{"$ref":"#/$defs/)", i + 1, "\"},");
  absl::StrAppend(&text, "\"", length - 1, "\":", end, "}}");
  return text;
}

TEST(SchemaSetTest, ALongChainNeedsNoStack) {
  constexpr int kLength = 100'000;
  const Loaded set(Chain(kLength, R"({"minLength":1})"));
  ASSERT_TRUE(set.status().ok()) << set.status();
  EXPECT_EQ(set->size(), kLength + 1);
  EXPECT_EQ(set->FirstOf(0), set->FirstOf(set.View("").parts.at(0).id));
  const Loaded circle(Chain(kLength, R"({"allOf":[{"$ref":"#/$defs/0"}]})"));
  EXPECT_EQ(circle.status().code(), absl::StatusCode::kInvalidArgument);
}

constexpr const char* kTree =
    R"({"$id":"http://x.example/s","$dynamicAnchor":"n","items":{"$ref":"t"},"$defs":{
        "t":{"$id":"t","$dynamicAnchor":"n","items":{"$dynamicRef":"#n"}},
        "u":{"$id":"u","$dynamicAnchor":"n","minItems":7}}})";

// All that the reference may lead to is read, also what nothing else names.
TEST(SchemaSetTest, DynamicReferences) {
  const Loaded set(kTree);
  ASSERT_TRUE(set.status().ok()) << set.status();
  EXPECT_TRUE(set->is_dynamic());
  const SchemaView& view = set.View("/$defs/t/items");
  ASSERT_EQ(view.parts.size(), 1);
  EXPECT_EQ(view.parts[0].kind, Kind::kDynamic);
  EXPECT_EQ(view.parts[0].id, set.At("/$defs/t")) << "by default";
  EXPECT_EQ(view.dynamic_name, "n");
  EXPECT_EQ(set.View("/$defs/u").item_count.min, 7);
  for (const char* pointer : {"", "/items", "/$defs/t", "/$defs/t/items", "/$defs/u"})
    EXPECT_EQ(set->FirstOf(set.At(pointer)), set.At(pointer)) << pointer;
}

// Without an anchor of that name a dynamic reference is an ordinary one.
TEST(SchemaSetTest, DynamicReferencesToAPlace) {
  const Loaded set(R"({"items":{"$dynamicRef":"#/$defs/a"},"$defs":{"a":{"minItems":1}}})");
  ASSERT_TRUE(set.status().ok()) << set.status();
  EXPECT_FALSE(set->is_dynamic());
  EXPECT_EQ(set.View("/items").parts.at(0).kind, Kind::kSchema);
  EXPECT_EQ(set.View("/items").parts.at(0).id, set.At("/$defs/a"));
}

TEST(SchemaSetTest, ContainsEvaluatesFrom2020On) {
  const std::string draft = R"({"$schema":"https://json-schema.org/draft/)";
  EXPECT_TRUE(Loaded("{}")->contains_evaluates());
  EXPECT_TRUE(Loaded(draft + R"(2020-12/schema"})")->contains_evaluates());
  EXPECT_FALSE(Loaded(draft + R"(2019-09/schema"})")->contains_evaluates());
}

TEST(SchemaSetTest, NotesBecomeWarnings) {
  const Loaded set(R"({"x":1,"properties":{"a":{"y":2}},"$defs":{"never":{"z":3}}})");
  std::vector<Diagnostic> warnings = {{"/before", "one"}};
  set->AddNotes(&warnings);
  ASSERT_EQ(warnings.size(), 3);
  EXPECT_EQ(warnings[0].place, "/before");
  EXPECT_EQ(warnings[1].place, "/x");
  EXPECT_EQ(warnings[2].place, "/properties/a/y");
}

TEST(SchemaSetTest, NotesHaveABound) {
  std::string schema = "{\"x\":0";
  for (std::size_t i = 0; i < 2 * kMaxWarnings; ++i) absl::StrAppend(&schema, ",\"x", i, "\":0");
  const Loaded set(schema + "}");
  std::vector<Diagnostic> warnings;
  set->AddNotes(&warnings);
  EXPECT_EQ(warnings.size(), kMaxWarnings + 1);
}

TEST(SchemaSetTest, ABudgetThatEndsIsToldWithAPlace) {
  std::string schema = R"({"properties":{"a":{"minLength":1})";
  for (int i = 0; i < 10'000; ++i) absl::StrAppend(&schema, ",\"a", i, R"(":{"minLength":1})");
  const Loaded set(schema + "}}", {}, Budget(Budget::Bounds{.work = 2'000}));
  EXPECT_EQ(set.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(ErrorPlace(set.status()), StartsWith("/properties/a"));
  EXPECT_THAT(std::string(set.status().message()), HasSubstr("compile_work"));
}

}  // namespace
}  // namespace maskd
