#include "grammar_core/frontend/json_schema/reading/dialect.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr SchemaDraft kDrafts[] = {SchemaDraft::k4, SchemaDraft::k6, SchemaDraft::k7,
                                   SchemaDraft::k2019, SchemaDraft::k2020};
constexpr SchemaVocabulary kVocabularies[] = {
    SchemaVocabulary::kCore, SchemaVocabulary::kApplicator, SchemaVocabulary::kUnevaluated,
    SchemaVocabulary::kValidation, SchemaVocabulary::kFormat};

struct Read {
  absl::StatusOr<Dialect> dialect;
  std::vector<Diagnostic> warnings = {};
};

Read ReadRoot(absl::string_view schema, const std::vector<GrammarSource::Document>& given = {}) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(schema, Limits());
  if (!document.ok()) return {document.status()};
  Read read = {Dialect()};
  read.dialect = ReadDialect(document->root(), given, Limits(), &read.warnings);
  return read;
}

// Of a schema in the meta-schema `text`.
Read ReadBelow(absl::string_view text) {
  return ReadRoot(
      R"({"$schema":"http://x.example/meta"})",
      {{"http://x.example/other", "no JSON"}, {"http://x.example/meta", std::string(text)}});
}

// Those that are not read.
std::vector<SchemaVocabulary> LeftOut(const Dialect& dialect) {
  std::vector<SchemaVocabulary> left_out;
  for (const SchemaVocabulary vocabulary : kVocabularies)
    if (!dialect.has(vocabulary)) left_out.push_back(vocabulary);
  return left_out;
}

TEST(DialectTest, ByDefaultAllOfTheLastDraft) {
  const Dialect dialect;
  EXPECT_EQ(dialect.draft, SchemaDraft::k2020);
  EXPECT_FALSE(dialect.named);
  EXPECT_THAT(LeftOut(dialect), IsEmpty());
}

TEST(DialectTest, RefStandsAloneUpToDraft7) {
  for (const SchemaDraft draft : kDrafts) {
    const bool older =
        draft == SchemaDraft::k4 || draft == SchemaDraft::k6 || draft == SchemaDraft::k7;
    EXPECT_EQ(Dialect{.draft = draft}.ref_stands_alone(), older) << static_cast<int>(draft);
  }
}

TEST(DialectTest, FormatsByTheOptionElseByTheDraft) {
  for (const SchemaDraft draft : kDrafts) {
    for (const bool named : {false, true}) {
      for (const bool asserted : {false, true}) {
        const Dialect dialect = {.draft = draft, .named = named, .format_assertion = asserted};
        EXPECT_TRUE(dialect.asserts_formats(Formats::kAsserted));
        EXPECT_FALSE(dialect.asserts_formats(Formats::kAnnotations));
        const bool annotations = named && draft >= SchemaDraft::k2019 && !asserted;
        EXPECT_EQ(dialect.asserts_formats(Formats::kByDraft), !annotations)
            << static_cast<int>(draft) << named << asserted;
      }
    }
  }
}

struct UriCase {
  const char* name;
  const char* uri;
  SchemaDraft draft;
};

class NamedDraftTest : public testing::TestWithParam<UriCase> {};

// Schemas in the wild have either scheme, with an empty fragment or without.
TEST_P(NamedDraftTest, IsRead) {
  for (const char* scheme : {"http://", "https://"}) {
    for (const char* end : {"", "#"}) {
      const Read read =
          ReadRoot(absl::StrCat(R"({"$schema":")", scheme, GetParam().uri, end, R"("})"));
      ASSERT_TRUE(read.dialect.ok()) << read.dialect.status();
      EXPECT_EQ(read.dialect->draft, GetParam().draft);
      EXPECT_TRUE(read.dialect->named);
      EXPECT_THAT(LeftOut(*read.dialect), IsEmpty());
      EXPECT_THAT(read.warnings, IsEmpty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Drafts, NamedDraftTest,
    testing::ValuesIn(std::vector<UriCase>{
        {"Draft4", "json-schema.org/draft-04/schema", SchemaDraft::k4},
        {"Draft6", "json-schema.org/draft-06/schema", SchemaDraft::k6},
        {"Draft7", "json-schema.org/draft-07/schema", SchemaDraft::k7},
        {"Draft2019", "json-schema.org/draft/2019-09/schema", SchemaDraft::k2019},
        {"Draft2020", "json-schema.org/draft/2020-12/schema", SchemaDraft::k2020},
    }),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ReadDialectTest, WithoutAName) {
  for (const char* schema : {"{}", "true", R"({"items":{"$schema":"http://x.example/s"}})"}) {
    const Read read = ReadRoot(schema);
    ASSERT_TRUE(read.dialect.ok()) << read.dialect.status();
    EXPECT_EQ(read.dialect->draft, SchemaDraft::k2020);
    EXPECT_FALSE(read.dialect->named);
    EXPECT_THAT(read.warnings, IsEmpty());
  }
}

TEST(ReadDialectTest, AnotherIsReadAsTheLastDraftWithAWarning) {
  const Read read = ReadRoot(R"({"$schema":"http://json-schema.org/draft-03/schema#"})");
  ASSERT_TRUE(read.dialect.ok()) << read.dialect.status();
  EXPECT_EQ(read.dialect->draft, SchemaDraft::k2020);
  EXPECT_FALSE(read.dialect->named);
  ASSERT_EQ(read.warnings.size(), 1);
  EXPECT_EQ(read.warnings[0].place, "/$schema");
}

TEST(ReadDialectTest, NoStringIsAnError) {
  const Read read = ReadRoot(R"({"$schema":7})");
  EXPECT_EQ(read.dialect.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(read.dialect.status()), "/$schema");
}

constexpr const char* kVocab2019 = "https://json-schema.org/draft/2019-09/vocab/";
constexpr const char* kVocab2020 = "https://json-schema.org/draft/2020-12/vocab/";

struct MetaCase {
  const char* name;
  std::string meta;
  SchemaDraft draft;
  std::vector<SchemaVocabulary> left_out = {};
  bool format_assertion = false;
};

class MetaSchemaTest : public testing::TestWithParam<MetaCase> {};

TEST_P(MetaSchemaTest, SaysWhichKeywordsCount) {
  const Read read = ReadBelow(GetParam().meta);
  ASSERT_TRUE(read.dialect.ok()) << read.dialect.status();
  EXPECT_TRUE(read.dialect->named);
  EXPECT_EQ(read.dialect->draft, GetParam().draft);
  EXPECT_EQ(LeftOut(*read.dialect), GetParam().left_out);
  EXPECT_EQ(read.dialect->format_assertion, GetParam().format_assertion);
  EXPECT_THAT(read.warnings, IsEmpty());
}

// A meta-schema with `vocabularies`, the names and whether they are required.
std::string Meta(absl::string_view draft, absl::string_view vocabularies) {
  return absl::StrCat(R"({"$schema":"https://json-schema.org/draft/)", draft,
                      R"(/schema","$vocabulary":{)", vocabularies, "}}");
}

std::string Entry(absl::string_view uri, absl::string_view name, bool required = true) {
  return absl::StrCat("\"", uri, name, "\":", required ? "true" : "false");
}

INSTANTIATE_TEST_SUITE_P(
    Vocabularies, MetaSchemaTest,
    testing::ValuesIn(std::vector<MetaCase>{
        {"WithoutAnyWord", "{}", SchemaDraft::k2020},
        {"OfAnOlderDraft", R"({"$schema":"http://json-schema.org/draft-07/schema#"})",
         SchemaDraft::k7},
        {"OlderDraftsHaveNone",
         R"({"$schema":"http://json-schema.org/draft-06/schema#","$vocabulary":{"urn:x":true}})",
         SchemaDraft::k6},
        {"CoreIsAlwaysThere",
         Meta("2020-12", ""),
         SchemaDraft::k2020,
         {SchemaVocabulary::kApplicator, SchemaVocabulary::kUnevaluated,
          SchemaVocabulary::kValidation, SchemaVocabulary::kFormat}},
        {"Some",
         Meta("2020-12",
              absl::StrCat(Entry(kVocab2020, "core"), ",", Entry(kVocab2020, "applicator"), ",",
                           Entry(kVocab2020, "format-annotation"))),
         SchemaDraft::k2020,
         {SchemaVocabulary::kUnevaluated, SchemaVocabulary::kValidation}},
        {"NotRequiredIsThereAsWell",
         Meta("2020-12", absl::StrCat(Entry(kVocab2020, "validation", false), ",",
                                      Entry(kVocab2020, "unevaluated", false))),
         SchemaDraft::k2020,
         {SchemaVocabulary::kApplicator, SchemaVocabulary::kFormat}},
        {"In2019UnevaluatedIsApplicator",
         Meta("2019-09",
              absl::StrCat(Entry(kVocab2019, "core"), ",", Entry(kVocab2019, "applicator"))),
         SchemaDraft::k2019,
         {SchemaVocabulary::kValidation, SchemaVocabulary::kFormat}},
        {"AssertedFormats",
         Meta("2020-12", Entry(kVocab2020, "format-assertion")),
         SchemaDraft::k2020,
         {SchemaVocabulary::kApplicator, SchemaVocabulary::kUnevaluated,
          SchemaVocabulary::kValidation},
         true},
        // Validation, section 7.2.2: who knows the vocabulary asserts formats then too.
        {"AssertedFormatsNotRequired",
         Meta("2020-12", Entry(kVocab2020, "format-assertion", false)),
         SchemaDraft::k2020,
         {SchemaVocabulary::kApplicator, SchemaVocabulary::kUnevaluated,
          SchemaVocabulary::kValidation},
         true},
        {"UnknownNotRequired",
         Meta("2020-12",
              absl::StrCat(Entry("urn:", "x", false), ",", Entry(kVocab2020, "validation"))),
         SchemaDraft::k2020,
         {SchemaVocabulary::kApplicator, SchemaVocabulary::kUnevaluated,
          SchemaVocabulary::kFormat}},
    }),
    [](const auto& test) { return std::string(test.param.name); });

TEST(MetaSchemaErrorTest, ARequiredVocabularyThatIsNotKnown) {
  const Read read = ReadBelow(Meta("2020-12", Entry("urn:", "x")));
  EXPECT_EQ(read.dialect.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ErrorPlace(read.dialect.status()), "/$schema");
  EXPECT_THAT(std::string(read.dialect.status().message()), HasSubstr("urn:x"));
}

TEST(MetaSchemaErrorTest, NoJson) {
  const Read read = ReadBelow("{");
  EXPECT_EQ(read.dialect.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(read.dialect.status()), "/$schema");
}

TEST(MetaSchemaErrorTest, AnEmptyFragmentTellsNoUrisApart) {
  const std::string meta = Meta("2020-12", "");
  for (const auto& [schema, uri] : std::vector<std::pair<std::string, std::string>>{
           {"http://x.example/m#", "http://x.example/m"},
           {"http://x.example/m", "http://x.example/m#"}}) {
    const Read read = ReadRoot(absl::StrCat(R"({"$schema":")", schema, "\"}"), {{uri, meta}});
    ASSERT_TRUE(read.dialect.ok()) << read.dialect.status();
    EXPECT_EQ(LeftOut(*read.dialect).size(), 4) << schema;
  }
}

}  // namespace
}  // namespace maskd
