// References and what they name, by the rules of JSON Schema Core, sections 8 and 9.
#include "grammar_core/frontend/json_schema/reading/schema_resources.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/reading/standard_schemas.h"
#include "tests/json_schema/reading/pointers.h"

namespace maskd {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;
using Documents = std::vector<GrammarSource::Document>;

// A schema's resources with all that must outlive them.
class Loaded {
 public:
  explicit Loaded(absl::string_view schema, Documents given = {})
      : given_(std::move(given)), resources_(Made(schema)) {}
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  SchemaResources& operator*() { return resources_; }
  SchemaResources* operator->() { return &resources_; }
  [[nodiscard]] JsonValue At(absl::string_view pointer) const {
    return ValueAt(resources_.root(), pointer);
  }
  absl::StatusOr<JsonValue> Resolve(absl::string_view ref) { return resources_.Resolve(At(ref)); }

 private:
  SchemaResources Made(absl::string_view schema) {
    JsonDocument document = *JsonDocument::Parse(schema, limits_);
    std::vector<Diagnostic> warnings;
    const Dialect dialect = *ReadDialect(document.root(), given_, limits_, &warnings);
    return {std::move(document), given_, dialect, limits_, budget_};
  }

  const Limits limits_;
  Budget budget_ = Budget::Unlimited();
  const Documents given_;
  SchemaResources resources_;
};

struct RefCase {
  const char* name;
  const char* schema;
  const char* ref;
  const char* target;
};

class ResolveTest : public testing::TestWithParam<RefCase> {};

TEST_P(ResolveTest, NamesThisSchema) {
  Loaded loaded(GetParam().schema);
  const absl::StatusOr<JsonValue> target = loaded.Resolve(GetParam().ref);
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->Pointer(), GetParam().target);
}

INSTANTIATE_TEST_SUITE_P(
    Pointers, ResolveTest,
    testing::ValuesIn(std::vector<RefCase>{
        {"Root", R"({"items":{"$ref":"#"}})", "/items/$ref", ""},
        {"Pointer", R"({"$ref":"#/$defs/a","$defs":{"a":{}}})", "/$ref", "/$defs/a"},
        {"Boolean", R"({"$ref":"#/not","not":true})", "/$ref", "/not"},
        {"Index", R"({"$ref":"#/allOf/10","allOf":[{},{},{},{},{},{},{},{},{},{},true]})", "/$ref",
         "/allOf/10"},
        {"DigitsAreAKeyOfAnObject", R"({"$ref":"#/$defs/01","$defs":{"01":{}}})", "/$ref",
         "/$defs/01"},
        {"Escapes", R"({"$ref":"#/$defs/a~1b~0c","$defs":{"a/b~c":{}}})", "/$ref",
         "/$defs/a~1b~0c"},
        {"EscapesOnce", R"({"$ref":"#/$defs/~01","$defs":{"~1":{},"/":{}}})", "/$ref",
         "/$defs/~01"},
        {"Percent", R"({"$ref":"#/$defs/%61%25","$defs":{"a%":{}}})", "/$ref", "/$defs/a%"},
        {"PercentFirst", R"({"$ref":"#/$defs%2Fa","$defs":{"a":{}}})", "/$ref", "/$defs/a"},
        {"EmptyKey", R"({"$ref":"#/$defs/","$defs":{"":{}}})", "/$ref", "/$defs/"},
        {"UnderAnUnknownKeyword", R"({"$ref":"#/x-y/a","x-y":{"a":{}}})", "/$ref", "/x-y/a"},
        {"BesideAnIdOfTheRoot",
         R"({"$id":"http://x.example/s","$ref":"#/$defs/a","$defs":{"a":{}}})", "/$ref",
         "/$defs/a"},
    }),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Names, ResolveTest,
    testing::ValuesIn(std::vector<RefCase>{
        {"OwnUri",
         R"({"$id":"http://x.example/s","$ref":"http://x.example/s#/$defs/a","$defs":{"a":{}}})",
         "/$ref", "/$defs/a"},
        {"RelativeToTheRoot",
         R"({"$id":"http://x.example/d/s","$ref":"a",
             "$defs":{"a":{"$id":"http://x.example/d/a"}}})",
         "/$ref", "/$defs/a"},
        {"EachIdChangesTheBase",
         R"({"$id":"http://x.example/","items":{"$id":"d/","items":{"$ref":"b"}},
             "$defs":{"b":{"$id":"b"},"c":{"$id":"d/b"}}})",
         "/items/items/$ref", "/$defs/c"},
        {"PointersAreRelativeToTheResource",
         R"({"$id":"http://x.example/s","$defs":{"b":{},
             "a":{"$id":"a","$ref":"#/$defs/b","$defs":{"b":{}}}}})",
         "/$defs/a/$ref", "/$defs/a/$defs/b"},
        {"UrnAsBase", R"({"$id":"urn:a:b","$ref":"urn:a:b#/$defs/a","$defs":{"a":{}}})", "/$ref",
         "/$defs/a"},
        {"WithoutABase", R"({"$ref":"a","$defs":{"a":{"$id":"a"}}})", "/$ref", "/$defs/a"},
        {"Anchor", R"({"$ref":"#n","$defs":{"a":{"$anchor":"n"}}})", "/$ref", "/$defs/a"},
        {"DynamicAnchorIsAnAnchorToo", R"({"$ref":"#n","$defs":{"a":{"$dynamicAnchor":"n"}}})",
         "/$ref", "/$defs/a"},
        {"AnchorOfAResource",
         R"({"$ref":"a#n","$defs":{"b":{"$anchor":"n"},"a":{"$id":"a","not":{"$anchor":"n"}}}})",
         "/$ref", "/$defs/a/not"},
        {"IdInAnEnumIsAValue",
         R"({"$ref":"http://x.example/a","$defs":{"e":{"enum":[{"$id":"http://x.example/a"}]},
             "a":{"$id":"http://x.example/a"}}})",
         "/$ref", "/$defs/a"},
        {"IdThatIsAPropertysName",
         R"({"$ref":"#n","properties":{"$anchor":{"$anchor":"n"},"$id":{}}})", "/$ref",
         "/properties/$anchor"},
        {"AnchorOfDraft7",
         R"({"$schema":"http://json-schema.org/draft-07/schema#","allOf":[{"$ref":"#n"}],
             "definitions":{"a":{"$id":"#n"}}})",
         "/allOf/0/$ref", "/definitions/a"},
        {"IdBesideRefIsNoneInDraft7",
         R"({"$schema":"http://json-schema.org/draft-07/schema#","$id":"http://x.example/s",
             "definitions":{"a":{"$id":"http://x.example/a"},
                            "b":{"$id":"http://y.example/","$ref":"a"}}})",
         "/definitions/b/$ref", "/definitions/a"},
        {"IdOfDraft4",
         R"({"$schema":"http://json-schema.org/draft-04/schema#","id":"http://x.example/s",
             "allOf":[{"$ref":"a"}],"definitions":{"a":{"id":"a"},"b":{"$id":"a"}}})",
         "/allOf/0/$ref", "/definitions/a"},
    }),
    [](const auto& test) { return std::string(test.param.name); });

struct ErrorCase {
  const char* name;
  const char* schema;
  const char* message;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};

class ResolveErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(ResolveErrorTest, IsAtTheReference) {
  Loaded loaded(GetParam().schema);
  const absl::Status status = loaded.Resolve("/not/$ref").status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_EQ(ErrorPlace(status), "/not/$ref");
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    References, ResolveErrorTest,
    testing::ValuesIn(std::vector<ErrorCase>{
        {"Nothing", R"({"not":{"$ref":"#/$defs/a"}})", "names nothing"},
        {"NoAnchor", R"({"not":{"$ref":"#a"}})", "no such anchor"},
        {"IndexPastTheEnd", R"({"not":{"$ref":"#/allOf/1"},"allOf":[{}]})", "names nothing"},
        {"IndexWithAZero", R"({"not":{"$ref":"#/allOf/00"},"allOf":[{}]})", "names nothing"},
        {"IndexPastAList", R"({"not":{"$ref":"#/allOf/-"},"allOf":[{}]})", "names nothing"},
        {"LoneTilde", R"({"not":{"$ref":"#/~"},"~":{}})", "names nothing"},
        {"LonePercent", R"({"not":{"$ref":"#/%4"}})", "percent-encoded"},
        {"NumberIsNoSchema", R"({"not":{"$ref":"#/$defs/a"},"$defs":{"a":1}})", "names no schema"},
        {"ListIsNoSchema", R"({"not":{"$ref":"#/allOf"},"allOf":[{}]})", "names no schema"},
        {"NotGiven", R"({"not":{"$ref":"http://x.example/a"}})", "http://x.example/a",
         absl::StatusCode::kUnimplemented},
        {"NotGivenBelowABase", R"({"$id":"http://x.example/s","not":{"$ref":"a"}})",
         "http://x.example/a", absl::StatusCode::kUnimplemented},
        {"OtherResourcesPointers",
         R"({"not":{"$id":"http://x.example/a","$ref":"#/$defs/b"},"$defs":{"b":{}}})",
         "names nothing"},
    }),
    [](const auto& test) { return std::string(test.param.name); });

TEST(GivenDocumentsTest, AreReadWhereAReferenceLeadsThere) {
  Loaded loaded(R"({"$ref":"http://x.example/a#/$defs/b","not":{"$ref":"http://x.example/c"}})",
                {{"http://x.example/never", "no JSON"},
                 {"http://x.example/a#", R"({"$defs":{"b":{"$ref":"c"}}})"},
                 {"http://x.example/c", R"({"$id":"http://y.example/","items":{"$ref":"d"}})"},
                 {"http://y.example/d", "true"}});
  const absl::StatusOr<JsonValue> b = loaded.Resolve("/$ref");
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_EQ(b->Pointer(), "http://x.example/a#/$defs/b");
  const absl::StatusOr<JsonValue> c = loaded->Resolve(*b->Find("$ref"));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->Pointer(), "http://x.example/c#");
  EXPECT_EQ(loaded.Resolve("/not/$ref")->id(), c->id()) << "a document is read once";
  const absl::StatusOr<JsonValue> d = loaded->Resolve(*c->Find("items")->Find("$ref"));
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(d->Pointer(), "http://y.example/d#");
}

// Not a document that has the name without the steps up.
TEST(GivenDocumentsTest, NamesWithoutABaseMayLeadUp) {
  Loaded loaded(R"({"$ref":"../a","not":{"$ref":"b/../a"}})", {{"../a", "true"}, {"a", "false"}});
  const absl::StatusOr<JsonValue> up = loaded.Resolve("/$ref");
  ASSERT_TRUE(up.ok()) << up.status();
  EXPECT_EQ(up->type(), JsonType::kTrue);
  const absl::StatusOr<JsonValue> beside = loaded.Resolve("/not/$ref");
  ASSERT_TRUE(beside.ok()) << beside.status();
  EXPECT_EQ(beside->type(), JsonType::kFalse);
}

TEST(GivenDocumentsTest, ErrorsAreAtThePlaceInTheDocument) {
  for (const auto& [text, place] : std::vector<std::pair<std::string, std::string>>{
           {"{\n  7", "http://x.example/a:2:3"}, {"[]", "http://x.example/a#"}}) {
    Loaded loaded(R"({"$ref":"http://x.example/a"})", {{"http://x.example/a", text}});
    const absl::Status status = loaded.Resolve("/$ref").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ErrorPlace(status), place);
  }
}

TEST(GivenDocumentsTest, ComeBeforeTheDraftsOwn) {
  const std::string uri = "http://json-schema.org/draft-07/schema";
  Loaded own(R"({"$ref":"http://json-schema.org/draft-07/schema#"})");
  EXPECT_EQ(own.Resolve("/$ref")->Find("title")->text(), "Core schema meta-schema");
  Loaded given(R"({"$ref":"http://json-schema.org/draft-07/schema#"})", {{uri, "false"}});
  EXPECT_EQ(given.Resolve("/$ref")->type(), JsonType::kFalse);
}

TEST(DialectOfTest, IsTheResourcesOwn) {
  const std::string draft7 = "http://json-schema.org/draft-07/schema#";
  Loaded loaded(
      R"({"$schema":"https://json-schema.org/draft/2019-09/schema","$ref":"a",
                    "not":{"$ref":"http://x.example/b"},"if":{"$ref":"http://x.example/c"},
                    "$defs":{"a":{"$id":"a","$schema":")" +
          draft7 + R"(","items":{}}}})",
      {{"http://x.example/b", R"({"$schema":")" + draft7 + "\"}"}, {"http://x.example/c", "{}"}});
  EXPECT_EQ(loaded->DialectOf(*loaded.Resolve("/$ref")).draft, SchemaDraft::k7);
  EXPECT_EQ(loaded->DialectOf(loaded.At("/$defs/a/items")).draft, SchemaDraft::k7);
  EXPECT_EQ(loaded->DialectOf(loaded.At("")).draft, SchemaDraft::k2019);
  EXPECT_EQ(loaded->DialectOf(*loaded.Resolve("/not/$ref")).draft, SchemaDraft::k7);
  EXPECT_EQ(loaded->DialectOf(*loaded.Resolve("/if/$ref")).draft, SchemaDraft::k2019)
      << "a document that names no draft is read in that of who refers to it";
}

// Whether there are references, and which were followed before, changes nothing.
TEST(DialectOfTest, IsTheResourcesOwnWithoutAReference) {
  Loaded loaded(R"({"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{
      "a":{"$id":"a","$schema":"http://json-schema.org/draft-07/schema#","items":[{}]}}})");
  EXPECT_EQ(loaded->DialectOf(loaded.At("/properties/a")).draft, SchemaDraft::k7);
  EXPECT_EQ(loaded->DialectOf(loaded.At("/properties/a/items/0")).draft, SchemaDraft::k7);
  EXPECT_EQ(loaded->DialectOf(loaded.At("")).draft, SchemaDraft::k2020);
}

constexpr const char* kTree =
    R"({"$id":"http://x.example/strict","$dynamicAnchor":"node","$ref":"tree","$defs":{
        "tree":{"$id":"tree","$dynamicAnchor":"node","items":{"$dynamicRef":"#node"},
                "not":{"$dynamicRef":"#plain"},"if":{"$anchor":"plain"}}}})";

TEST(DynamicScopeTest, AReferenceToADynamicAnchorHasItsName) {
  Loaded loaded(kTree);
  const JsonValue tree = *loaded.Resolve("/$ref");
  EXPECT_EQ(tree.Pointer(), "/$defs/tree");
  const JsonValue node = loaded.At("/$defs/tree/items/$dynamicRef");
  EXPECT_EQ(loaded->Resolve(node)->id(), tree.id());
  EXPECT_EQ(loaded->DynamicName(node, tree), "node");
  const JsonValue plain = loaded.At("/$defs/tree/not/$dynamicRef");
  EXPECT_EQ(loaded->DynamicName(plain, *loaded->Resolve(plain)), std::nullopt);
  EXPECT_EQ(loaded->size(), 2);
  EXPECT_THAT(PointersOf(loaded->DynamicTargets("node")), UnorderedElementsAre("", "/$defs/tree"));
  EXPECT_EQ(loaded->DynamicTargets("plain").size(), 0);
}

TEST(DynamicScopeTest, TheOutermostResourceDecides) {
  Loaded loaded(kTree);
  const JsonValue tree = *loaded.Resolve("/$ref");
  SchemaResources::Scope outer;
  loaded->Enter(loaded.At("").id(), &outer);
  loaded->Enter(tree.id(), &outer);
  EXPECT_EQ(outer, (SchemaResources::Scope{{"node", loaded.At("").id()}}));
  SchemaResources::Scope inner;
  loaded->Enter(loaded.At("/$defs/tree/items").id(), &inner);
  EXPECT_EQ(inner, (SchemaResources::Scope{{"node", tree.id()}}));
}

TEST(DynamicScopeTest, RecursiveReferencesHaveAnEmptyName) {
  for (const bool anchor : {true, false}) {
    Loaded loaded(R"({"$schema":"https://json-schema.org/draft/2019-09/schema",
        "$recursiveAnchor":)" +
                  std::string(anchor ? "true" : "false") + R"(,"items":{"$recursiveRef":"#"}})");
    const JsonValue ref = loaded.At("/items/$recursiveRef");
    const absl::StatusOr<JsonValue> target = loaded->Resolve(ref);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->id(), loaded.At("").id());
    EXPECT_EQ(loaded->DynamicName(ref, *target),
              anchor ? std::optional<std::string>("") : std::nullopt);
  }
}

}  // namespace
}  // namespace maskd
