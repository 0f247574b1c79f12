#include "grammar_core/frontend/json_schema/reading/standard_schemas.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/reading/uri.h"

namespace maskd {
namespace {

JsonDocument Parsed(absl::string_view text) {
  absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text, Limits());
  EXPECT_TRUE(document.ok()) << document.status();
  return *std::move(document);
}

// Draft 4 had the name without a dollar sign.
TEST(StandardSchemasTest, EachHasTheUriOfItsText) {
  std::set<std::string> uris;
  for (const EmbeddedJson& schema : StandardSchemas()) {
    const JsonDocument document = Parsed(schema.text);
    const std::optional<JsonValue> newer = document.root().Find("$id");
    const std::optional<JsonValue> id = newer.has_value() ? newer : document.root().Find("id");
    ASSERT_TRUE(id.has_value()) << schema.uri;
    EXPECT_EQ(id->text(), schema.uri);
    uris.insert(std::string(schema.uri));
  }
  EXPECT_EQ(uris.size(), StandardSchemas().size()) << "some URI is there twice";
  // Drafts 4, 6 and 7; 2019-09 with its 6 vocabularies, 2020-12 with its 8.
  EXPECT_EQ(uris.size(), 3 + 7 + 9);
}

// A draft is written in itself, and a vocabulary in the draft that it is of.
TEST(StandardSchemasTest, EachIsInADraftThatIsThere) {
  for (const EmbeddedJson& schema : StandardSchemas()) {
    const JsonDocument document = Parsed(schema.text);
    const std::optional<JsonValue> above = document.root().Find("$schema");
    ASSERT_TRUE(above.has_value()) << schema.uri;
    EXPECT_TRUE(FindStandardSchema(absl::StripSuffix(above->text(), "#")).has_value())
        << above->text();
  }
}

TEST(StandardSchemasTest, NoReferenceLeadsElsewhere) {
  int documents = 0;
  for (const EmbeddedJson& schema : StandardSchemas()) {
    const JsonDocument document = Parsed(schema.text);
    for (JsonId id = 0; id < document.root().subtree_end(); ++id) {
      const JsonValue value = document.root().at(id);
      if (value.key() != "$ref" || !value.is_string()) continue;
      const std::string to = SplitFragment(value.text()).document;
      if (to.empty()) continue;
      ++documents;
      EXPECT_TRUE(FindStandardSchema(ResolveUri(schema.uri, to)).has_value())
          << value.text() << " in " << schema.uri;
    }
  }
  EXPECT_GE(documents, 6 + 7) << "each draft since 2019-09 refers to its vocabularies";
}

TEST(FindStandardSchemaTest, ByEitherScheme) {
  for (const EmbeddedJson& schema : StandardSchemas()) {
    absl::string_view name = absl::StripSuffix(schema.uri, "#");
    name = absl::StripPrefix(absl::StripPrefix(name, "http://"), "https://");
    EXPECT_EQ(FindStandardSchema(absl::StrCat("http://", name)), schema.text);
    EXPECT_EQ(FindStandardSchema(absl::StrCat("https://", name)), schema.text);
  }
}

TEST(FindStandardSchemaTest, NothingElse) {
  for (const char* uri :
       {"", "http://", "http://json-schema.org/", "http://json-schema.org/draft-03/schema",
        "http://json-schema.org/draft-07/schema.json", "http://json-schema.org/draft-07/Schema",
        "ftp://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2020-12/schema/",
        "https://json-schema.org/draft/2020-12/meta/hyper-schema", "meta/core"})
    EXPECT_EQ(FindStandardSchema(uri), std::nullopt) << uri;
}

}  // namespace
}  // namespace maskd
