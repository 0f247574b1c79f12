// Schemas of objects that are put together of those of their members.
// Oracle: the schema read as a whole, which knows of no members. All must be equal: each node,
// rule, place and remark.
#include "grammar_core/frontend/json_schema/member_schemas.h"

#include <array>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/frontend/json_schema/json_schema.h"
#include "grammar_core/frontend/json_schema/rules/schema_beginning.h"
#include "grammar_core/frontend/json_schema/rules/schema_steps.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

// All that a reading says. Numbers of nodes and rules count.
std::string Said(const ReadResult& read) {
  std::string said = PrintIr(read.ir);
  for (const IrRule& rule : read.ir.rules)
    absl::StrAppend(&said, rule.name, " at '", rule.place, "' is ", rule.body, "\n");
  for (const IrNode& n : read.ir.nodes) {
    absl::StrAppend(&said, static_cast<int>(n.kind), " ", static_cast<int>(n.spelling), " ",
                    n.first_child, " ", n.child_count, "\n");
  }
  absl::StrAppend(&said, "start ", read.ir.start, ": ", absl::StrJoin(read.ir.children, " "), "\n");
  for (const auto* remarks : {&read.warnings, &read.bounds})
    for (const Diagnostic& one : *remarks)
      absl::StrAppend(&said, one.place, ": ", one.message, "\n");
  return absl::StrCat(said, read.faults.size(), " faults");
}

// Nothing where it is not put together; then the whole need not even be a schema.
std::optional<KnownSchema> Join(const std::string& text, const GrammarOptions& options,
                                const Limits& limits = {}) {
  Budget budget = Budget::Unlimited();
  const SchemaBeginning beginning(options, limits);
  const auto document = JsonDocument::Parse(text, limits);
  EXPECT_TRUE(document.ok()) << text;
  std::vector<std::pair<std::string, SchemaRef>> known;
  return JoinMembers(
      document->root(), options, beginning, limits, budget,
      [&](absl::string_view member) -> absl::StatusOr<SchemaRef> {
        for (const auto& [read, schema] : known)
          if (read == member) return schema;
        SchemaSteps steps;
        auto read = ReadJsonSchema(
            *JsonDocument::Parse(member, limits), {"json_schema", std::string(member), options},
            limits, budget, SchemaValues::kInline, {.beginning = &beginning, .steps = &steps});
        if (!read.ok()) return read.status();
        known.emplace_back(member, std::make_shared<const KnownSchema>(
                                       *std::move(read), std::move(steps), beginning.hashes));
        return known.back().second;
      });
}

// Whether it was put together.
bool Compare(const std::string& text, const GrammarOptions& options) {
  const std::optional<KnownSchema> joined = Join(text, options);
  if (!joined.has_value()) return false;
  Budget budget = Budget::Unlimited();
  const auto whole = ReadJsonSchema({"json_schema", text, options}, Limits(), budget);
  EXPECT_TRUE(whole.ok()) << text << "\n" << whole.status();
  if (!whole.ok()) return true;
  EXPECT_EQ(Said(joined->read), Said(*whole)) << text;
  const KnownSchema known(*whole);
  EXPECT_EQ(joined->has_value, known.has_value) << text;
  EXPECT_TRUE(joined->hashes == known.hashes) << text;
  return true;
}

const std::array kOptions = {GrammarOptions(),
                             GrammarOptions{.white_space = WhiteSpace::kCompact},
                             GrammarOptions{.indent = 2},
                             GrammarOptions{.item_separator = ", ", .key_separator = ": "},
                             GrammarOptions{.property_order = PropertyOrder::kAny},
                             GrammarOptions{.spelling = JsonSpelling::kCanonical},
                             GrammarOptions{.strictness = Strictness::kRelax},
                             GrammarOptions{.additional_properties = false},
                             GrammarOptions{.max_number_digits = 5}};

// Schemas of members: some that many have, some that must not be taken apart from the whole.
const std::array kMembers = {
    R"({"type":"string"})",
    R"({"type":"string","minLength":2,"maxLength":9})",
    R"({"type":"string","pattern":"^[a-f]+$"})",
    R"({"type":"string","format":"date-time"})",
    R"({"type":"string","format":"email"})",
    R"({"type":"integer"})",
    R"({"type":"integer","minimum":0,"maximum":120})",
    R"({"type":"number"})",
    R"({"type":["string","null"]})",
    R"({"type":"boolean","default":true})",
    R"({"type":"null"})",
    R"({"enum":["a","b","é\"c"]})",
    R"({"enum":[1,2.50,null,{"a":[1]}]})",
    R"({"const":"x"})",
    R"({"type":"string","enum":["a","b",1]})",
    R"({"type":"string","enum":[1]})",
    R"({"type":"array"})",
    R"({"type":"array","items":{"type":"string"}})",
    R"({"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":4})",
    R"({"type":"array","items":{"type":"string"},"uniqueItems":true})",
    R"({"type":"array","items":{"type":"array","items":{"type":"number"}}})",
    R"({"type":"array","items":{}})",
    R"({"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}]})",
    R"({"type":"object"})",
    R"({"type":"object","properties":{},"additionalProperties":false})",
    R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}})",
    R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],)"
    R"("additionalProperties":false})",
    R"({"type":"object","properties":{"c":{"type":"array","items":{"type":"object",)"
    R"("properties":{"d":{"type":"string"}},"additionalProperties":false}}},"required":["c"]})",
    R"({"type":"object","additionalProperties":{"type":"string"}})",
    R"({"type":"object","patternProperties":{"^x":{"type":"integer"}}})",
    R"({"type":"object","required":["z"],"additionalProperties":false})",
    R"({"type":"object","minProperties":1})",
    R"({"anyOf":[{"type":"string"},{"type":"integer"}]})",
    R"({"anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],)"
    R"("additionalProperties":false},{"type":"array","items":{"type":"string"}}]})",
    R"({"oneOf":[{"type":"string"},{"type":"null"}]})",
    R"({"allOf":[{"type":"array","items":{"type":"string"}}]})",
    R"({"not":{"type":"string"}})",
    R"({"if":{"type":"string"},"then":{"minLength":1}})",
    R"({"$ref":"#/properties/p0"})",
    R"({"$ref":"#"})",
    R"({"$anchor":"here","type":"string"})",
    R"({"type":"string","nosuch":1})",
    R"({"type":"nosuch"})",
    R"({})",
    R"(true)",
    R"(false)",
    R"({"type":"object","properties":{"q":true}})",
    R"({"type":"object","unevaluatedProperties":false,"properties":{"a":{"type":"string"}}})",
};

TEST(MemberSchemasTest, AreTheWholeWhateverStandsSideBySide) {
  std::mt19937 random(11);
  const auto below = [&](std::size_t n) { return random() % n; };
  int joined = 0;
  constexpr int kSchemas = 6000;
  for (int i = 0; i < kSchemas; ++i) {
    std::vector<std::string> members;
    std::vector<std::string> required;
    const std::size_t count = 1 + below(5);
    for (std::size_t p = 0; p < count; ++p) {
      const std::string name = absl::StrCat("p", p, below(9) == 0 ? "/~\\u00e9" : "");
      members.push_back(absl::StrCat("\"", name, "\":", kMembers[below(kMembers.size())]));
      if (below(2) == 0) required.push_back(absl::StrCat("\"", name, "\""));
    }
    std::string text =
        absl::StrCat(R"({"type":"object","properties":{)", absl::StrJoin(members, ","), "}");
    if (below(2) == 0)
      absl::StrAppend(&text, R"(,"required":[)", absl::StrJoin(required, ","), "]");
    const std::array more = {R"(,"additionalProperties":false)", "",
                             R"(,"additionalProperties":true)", R"(,"minProperties":1)"};
    absl::StrAppend(&text, more[below(10) == 0 ? below(more.size()) : below(2)], "}");
    joined += Compare(text, kOptions[below(kOptions.size())]) ? 1 : 0;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(joined, kSchemas / 10);
}

// Alone and in pairs, so that each is seen beside each, in both orders.
TEST(MemberSchemasTest, AreTheWholeInPairs) {
  int joined = 0;
  for (const char* const x : kMembers) {
    for (const char* const y : kMembers) {
      for (const char* const more : {"", R"(,"additionalProperties":false)"}) {
        const std::string text = absl::StrCat(R"({"type":"object","properties":{"x":)", x,
                                              R"(,"y":)", y, "}", more, "}");
        joined += Compare(text, {}) ? 1 : 0;
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(joined, 1000);
}

TEST(MemberSchemasTest, MostToolsOfTemplatesArePutTogether) {
  std::ifstream file(absl::StrCat(MASKD_SOURCE_DIR, "/tests/families/qwen_3.jsonl"));
  int joined = 0;
  int all = 0;
  for (std::string line; std::getline(file, line);) {
    const Json row = Json::parse(line);
    if (!row["request"].contains("tools")) continue;
    for (const Json& tool : row["request"]["tools"]) {
      const Json& function = tool.contains("function") ? tool["function"] : tool;
      if (!function.contains("parameters")) continue;
      ++all;
      joined += Compare(function["parameters"].dump(), {}) ? 1 : 0;
    }
  }
  EXPECT_GT(all, 0);
  EXPECT_GE(joined, all / 2);
}

// Schemas that stand in two members, one of them deeper, with choices in another order of numbers.
TEST(MemberSchemasTest, ARuleInTwoMembersIsReadAsAWhole) {
  const std::string ways = R"({"type":"array","items":{"anyOf":[{"type":"string"},{"type":)"
                           R"("object","properties":{"h":{"type":"string"}}}]}})";
  const std::string text =
      absl::StrCat(R"({"type":"object","properties":{"x":{"type":"object",)",
                   R"("properties":{"a":{"type":"null"},"y":)", ways, R"(}},"z":)", ways, "}}");
  EXPECT_FALSE(Compare(text, {}));
}

TEST(MemberSchemasTest, OfEqualMembersThoseWithChoicesAreReadAsAWhole) {
  const auto twice = [](const std::string& schema) {
    return absl::StrCat(R"({"type":"object","properties":{"x":)", schema, R"(,"y":)", schema, "}}");
  };
  EXPECT_TRUE(Compare(twice(R"({"type":"array","items":{"type":"string"}})"), {}));
  EXPECT_FALSE(Compare(twice(R"({"type":"array","items":{"anyOf":[{"type":"string"}]}})"), {}));
}

// Places behind these are cut in the whole, and too many members would fill a store.
TEST(MemberSchemasTest, LongPlacesAndManyMembersAreReadAsAWhole) {
  const auto with = [](std::size_t name, int members) {
    std::vector<std::string> all = {absl::StrCat("\"", std::string(name, 'n'),
                                                 R"(":{"type":"array","items":{"type":"array"}})")};
    for (int i = 1; i < members; ++i) all.push_back(absl::StrCat("\"", i, R"(":{"type":"null"})"));
    return absl::StrCat(R"({"type":"object","properties":{)", absl::StrJoin(all, ","), "}}");
  };
  EXPECT_TRUE(Compare(with(100, 1), {}));
  EXPECT_TRUE(Compare(with(182, 1), {}));
  EXPECT_FALSE(Compare(with(183, 1), {}));
  EXPECT_TRUE(Compare(with(1, 64), {}));
  EXPECT_FALSE(Compare(with(1, 65), {}));
}

TEST(MemberSchemasTest, LimitsThatTheWholeExceedsAreToldOfTheWhole) {
  const std::string text = R"({"type":"object","properties":{"a":{"type":"string"},)"
                           R"("b":{"type":"array","items":{"type":"integer"}}}})";
  Limits limits;
  ASSERT_TRUE(Join(text, {}, limits).has_value());
  Budget budget = Budget::Unlimited();
  const auto fits = [&] { return ReadJsonSchema({"json_schema", text, {}}, limits, budget).ok(); };
  for (limits.ir_nodes = 40; limits.ir_nodes < 200; ++limits.ir_nodes)
    EXPECT_EQ(Join(text, {}, limits).has_value(), fits()) << limits.ir_nodes;
  limits = Limits();
  limits.schema_sets = 1;
  EXPECT_FALSE(Join(text, {}, limits).has_value());
}

}  // namespace
}  // namespace maskd
