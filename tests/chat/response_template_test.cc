// Response templates that transformers and TRL ship (tests/peers/response_templates.json says
// where), turned round to files of families, or refused at their place.
#include "grammar_core/frontend/chat/response_template.h"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/chat/family.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

Json ReadJson(const std::string& path) {
  std::ifstream file(absl::StrCat(MASKD_SOURCE_DIR, path));
  return Json::parse(std::string{std::istreambuf_iterator<char>(file), {}});
}

Json Rows() { return ReadJson("/tests/peers/response_templates.json"); }

absl::StatusOr<std::string> Import(const Json& given, const Json& row = Json::object()) {
  ResponseTemplateOptions options = {"mine", "Models", std::nullopt};
  if (row.contains("space")) options.space = row["space"].get<std::string>();
  return FamilyOfResponseTemplate(given.dump(), options);
}

TEST(ResponseTemplate, EachIsAFamilyOrRefusedAtItsPlace) {
  int taken = 0;
  int refused = 0;
  const Json rows = Rows();
  for (const auto& [name, row] : rows.items()) {
    const auto file = Import(row["template"], row);
    if (!row.contains("refused")) {
      ++taken;
      EXPECT_TRUE(file.ok()) << name << ": " << file.status();
    } else {
      ++refused;
      EXPECT_EQ(ErrorPlace(file.status()), row["refused"]) << name << ": " << file.status();
    }
    if (!row.contains("refused_without_space")) continue;
    EXPECT_EQ(ErrorPlace(Import(row["template"]).status()), row["refused_without_space"]) << name;
  }
  EXPECT_EQ(taken, 8);
  EXPECT_EQ(refused, 4);
}

// The call that our own file of the family has, which was made from its chat template.
TEST(ResponseTemplate, WritesTheCallsOfTheFamilysOwnFile) {
  const Json rows = Rows();
  for (const auto& [name, own] :
       {std::pair{"tf_qwen2", "qwen_3"}, std::pair{"tf_gemma4", "gemma_4"},
        std::pair{"trl_qwen3", "qwen_3"}, std::pair{"trl_llama3", "llama_3"}}) {
    const auto file = Import(rows[name]["template"], rows[name]);
    ASSERT_TRUE(file.ok()) << name << ": " << file.status();
    const Json calls = Json::parse(*file)["calls"];
    const Json known =
        ReadJson(absl::StrCat("/grammar_core/frontend/chat/families/", own, ".json"))["calls"];
    EXPECT_EQ(calls["call"], known["call"]) << name;
    EXPECT_EQ(calls["parallel"], known["parallel"]) << name;
  }
}

TEST(ResponseTemplate, PlacesOfATokenizersFileHaveItsMember) {
  const auto file = Import({{"response_template", Rows()["trl_gptoss"]["template"]}});
  EXPECT_EQ(ErrorPlace(file.status()), "/response_template/fields/content/open");
  const auto older = Import({{"response_schema", {{"type", "object"}}}});
  EXPECT_EQ(ErrorPlace(older.status()), "/response_schema");
  EXPECT_EQ(ErrorPlace(Import(Json::object()).status()), "/response_template");
}

// A change of one member, which is where it is refused.
TEST(ResponseTemplate, WhatSaysNoOneTextIsRefusedAtItsPlace) {
  const Json whole = Rows()["tf_gemma4"]["template"];
  ASSERT_TRUE(Import(whole).ok());
  const std::string calls = "/fields/tool_calls";
  for (const auto& [place, value] : {
           std::pair<std::string, Json>{"/version", 2},
           {"/defaults/name", "x"},
           {"/fields/citations", {{"open", "<c>"}}},
           {"/fields/reasoning_content/open", {"<a>", "<b>"}},
           {"/fields/reasoning_content/repeats", true},
           {calls + "/close", {"<a>", "<b>"}},
           {calls + "/content", "kv-lines"},
           {calls + "/transform/id", "{id}"},
           {calls + "/open_pattern", "call:(?P<name>[a-z]+)"},
           {calls + "/open_pattern", "call:(?P<name>\\S+)"},
           {calls + "/open_pattern", "a|b(?P<name>\\w+)"},
           {calls + "/content_args/allow_non_json", true},
       }) {
    Json changed = whole;
    changed[Json::json_pointer(place)] = value;
    EXPECT_EQ(ErrorPlace(Import(changed).status()), place) << value;
  }
}

// Whatever JSON stands in place of a member, there is a family or an error.
TEST(ResponseTemplate, TakesAnyValueInAnyPlace) {
  const Json values = {nullptr,          true,          7, "", "(", "(?P<", "\\", Json::array(),
                       Json::array({1}), Json::object()};
  int tried = 0;
  const Json rows = Rows();
  for (const auto& [name, row] : rows.items()) {
    const Json flat = row["template"].flatten();
    for (const auto& [place, leaf] : flat.items()) {
      for (Json::json_pointer at(place); !at.empty(); at = at.parent_pointer()) {
        for (const Json& value : values) {
          Json changed = row["template"];
          changed[at] = value;
          const auto file = Import(changed, {{"space", "\n"}});
          EXPECT_TRUE(!file.ok() || ReadChatFamily(*file).ok());
          ++tried;
        }
      }
    }
  }
  EXPECT_GT(tried, 1000);
}

}  // namespace
}  // namespace maskd
