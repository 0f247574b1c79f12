// The JSON-Schema-Test-Suite, by the slow recogniser: nothing invalid passes, nothing
// is ignored, and what is refused is refused by name.
//
// Needs the shared data beside the repository, or in MASKD_SHARED_DIR; skipped where there is none.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/frontend/json/json_document.h"
#include "tests/frontend/schema_tally.h"

namespace maskd {
namespace {

std::string SharedFile(const std::string& name) {
  const char* set = std::getenv("MASKD_SHARED_DIR");
  const std::string dir = set != nullptr ? set : absl::StrCat(MASKD_SOURCE_DIR, "/../shared");
  return absl::StrCat(dir, "/", name);
}

constexpr struct {
  const char* draft;
  const char* uri;
} kDrafts[] = {
    {"draft7", "http://json-schema.org/draft-07/schema#"},
    {"draft2019-09", "https://json-schema.org/draft/2019-09/schema"},
    {"draft2020-12", "https://json-schema.org/draft/2020-12/schema"},
};

// The group's schema, with the draft that the suite's folder implies.
std::string SchemaOf(const JsonValue& group) {
  const JsonValue schema = *group.Find("schema");
  std::string text = schema.Compact();
  if (!schema.is_object() || schema.Find("$schema").has_value()) return text;
  for (const auto& known : kDrafts) {
    if (known.draft != group.Find("draft")->text()) continue;
    const std::string head = absl::StrCat("{\"$schema\":\"", known.uri, "\"");
    return absl::StrCat(head, schema.size() > 0 ? "," : "", text.substr(1));
  }
  return text;
}

// The documents that the suite expects at their addresses.
std::vector<GrammarSource::Document> Remotes() {
  std::ifstream file(SharedFile("vectors/json-schema-test-suite-remotes.json"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto remotes = JsonDocument::Parse(text, Limits());
  std::vector<GrammarSource::Document> documents;
  if (!remotes.ok()) return documents;
  for (const JsonValue document : remotes->root().children())
    documents.push_back({std::string(document.key()), document.Compact()});
  return documents;
}

// The groups of `section`, taken into the tally; false where the data is not there.
bool TakeSection(absl::string_view section, Formats formats, Tally* tally) {
  std::ifstream file(SharedFile("vectors/json-schema-test-suite.jsonl"));
  if (!file.good()) return false;
  Limits limits;
  limits.source_depth = 10'000;
  const std::vector<GrammarSource::Document> documents = Remotes();
  EXPECT_FALSE(documents.empty());
  for (std::string line; std::getline(file, line);) {
    const auto group = JsonDocument::Parse(line, limits);
    EXPECT_TRUE(group.ok()) << group.status();
    if (group.ok() && group->root().Find("section")->text() == section)
      Take(group->root(), SchemaOf(group->root()), documents, tally, formats);
  }
  return true;
}

TEST(JsonSchemaSuiteTest, CoreOfThreeDrafts) {
  Tally tally;
  if (!TakeSection("core", Formats::kByDraft, &tally)) GTEST_SKIP() << "no shared vectors";
  tally.Print();
  EXPECT_TRUE(tally.invalid_accepted.empty()) << tally.invalid_accepted.front();
  EXPECT_TRUE(tally.errors.empty()) << tally.errors.front();
  EXPECT_TRUE(tally.valid_refused.empty()) << tally.valid_refused.front();
  EXPECT_GE(tally.right + tally.unsatisfiable, 1012);
}

// What docs/grammars.md says is left out: A-labels, and U-labels that are long.
bool IsLeftOut(const std::string& failure) {
  return absl::StrContains(failure, "\"xn--") || absl::StrContains(failure, "idn-hostname/1 ");
}

TEST(JsonSchemaSuiteTest, FormatsOfThreeDrafts) {
  Tally tally;
  if (!TakeSection("format", Formats::kAsserted, &tally)) GTEST_SKIP() << "no shared vectors";
  tally.Print();
  EXPECT_TRUE(tally.invalid_accepted.empty()) << tally.invalid_accepted.front();
  for (const std::string& text : tally.valid_refused) EXPECT_TRUE(IsLeftOut(text)) << text;
  EXPECT_LE(tally.valid_refused.size(), 60u);
  EXPECT_TRUE(tally.errors.empty()) << tally.errors.front();
}

}  // namespace
}  // namespace maskd
