// Response templates of every form that is turned round, or refused at its place. Those that
// transformers and TRL ship are held to transformers' parser by tests/peers.
#include "grammar_core/frontend/chat/response_template.h"

#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/chat/family.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

Json Template(const Json& calls, Json content = {{"close", {"<end>", "<eos>"}}}) {
  return {{"defaults", {{"role", "assistant"}}},
          {"start_anchor", "<turn>"},
          {"fields",
           {{"reasoning_content", {{"open", "<think>"}, {"close_pattern", "</think>\\s*"}}},
            {"tool_calls", calls},
            {"content", std::move(content)}}}};
}

// A call in one JSON object, in elements, and in JSON with quotes of its own.
const Json& ObjectTemplate() {
  static const Json& kept =
      *new Json(Template({{"open_pattern", "\\s*<call>"},
                          {"close", "</call>"},
                          {"repeats", true},
                          {"content", "json"},
                          {"transform", {{"type", "function"}, {"function", "{content}"}}}},
                         {{"close_pattern", "\\s*(?:<\\|end\\|>|<eos>)\\s*|$"}}));
  return kept;
}

const Json& ElementsTemplate() {
  static const Json& kept = *new Json(
      Template({{"open_pattern", "<call>(?P<name>[^\\n]+)\\n"},
                {"close_pattern", "</call>\\s*"},
                {"repeats", true},
                {"content", "xml-inline"},
                {"content_args", {{"tag_pattern", "<(?P<key>[^>]+)>\\s*(?P<value>.*?)\\s*</>"}}},
                {"transform", {{"function", {{"name", "{name}"}, {"arguments", "{content}"}}}}}}));
  return kept;
}

const Json& QuotedTemplate() {
  static const Json& kept = *new Json(
      Template({{"open_pattern", "<call>to:(?P<name>\\w+)"},
                {"close", "</call>"},
                {"repeats", true},
                {"content", "json"},
                {"content_args",
                 {{"unquoted_keys", true}, {"string_delims", Json::array({{"<q>", "<q>"}})}}},
                {"transform", {{"function", {{"name", "{name}"}, {"arguments", "{content}"}}}}}}));
  return kept;
}

absl::StatusOr<std::string> Import(const Json& given, const char* space = nullptr,
                                   const char* behind_arguments = "") {
  ResponseTemplateOptions options = {"mine", "Models", std::nullopt, behind_arguments};
  if (space != nullptr) options.space = space;
  return FamilyOfResponseTemplate(given.dump(), options);
}

Json Family(const absl::StatusOr<std::string>& file) {
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? Json::parse(*file) : Json::object();
}

TEST(ResponseTemplate, CallsAreWrittenAsTheyAreRead) {
  EXPECT_EQ(Family(Import(ObjectTemplate(), "\n"))["calls"],
            Json::parse(R"({"trigger": "<call>", "separator": "\n", "parallel": true,
                "call": ["<call>\n{\"name\": \"", {"name": "json"}, "\", \"arguments\": ",
                         {"arguments": "json"}, "}\n</call>"]})"));
  EXPECT_EQ(Family(Import(ElementsTemplate(), "\n", "<!>\n"))["calls"],
            Json::parse(R"({"trigger": "<call>", "separator": "\n", "parallel": true,
                "call": ["<call>", {"name": "raw"}, "\n",
                         {"arguments": {"open": "<", "behind_name": ">", "close": "</>",
                                        "pad": "\n"}}, "<!>\n</call>"]})"));
  EXPECT_EQ(Family(Import(QuotedTemplate()))["calls"],
            Json::parse(R"({"trigger": "<call>to:", "parallel": true,
                "call": ["<call>to:", {"name": "word"}, "{",
                         {"arguments": {"quote": "<q>", "words": "json", "names": "word"}},
                         "}</call>"]})"));
}

TEST(ResponseTemplate, WhatIsPassedOverMustBeSaid) {
  EXPECT_EQ(ErrorPlace(Import(ObjectTemplate()).status()), "/fields/tool_calls/content");
  EXPECT_EQ(ErrorPlace(Import(ElementsTemplate()).status()),
            "/fields/tool_calls/content_args/tag_pattern");
  EXPECT_EQ(ErrorPlace(Import(ObjectTemplate(), "\n", "x").status()), "/fields/tool_calls");
}

// Transformers would read free text with one of them as two texts.
TEST(ResponseTemplate, FreeTextHoldsNothingThatEndsATurn) {
  EXPECT_EQ(Family(Import(ObjectTemplate(), "\n"))["excludes"],
            Json({"<think>", "</think>", "<|end|>", "<eos>"}));
  EXPECT_EQ(Family(Import(QuotedTemplate()))["excludes"],
            Json({"<think>", "</think>", "<end>", "<eos>"}));
}

// The call that our own file of the family has, which was made from its chat template.
TEST(ResponseTemplate, WritesTheCallsOfTheFamilysOwnFile) {
  Json qwen = ObjectTemplate();
  qwen["/fields/tool_calls/open_pattern"_json_pointer] = "\\s*<tool_call>";
  qwen["/fields/tool_calls/close"_json_pointer] = "</tool_call>";
  const Json llama =
      Template({{"open_pattern", R"re(\{"name":\s*"(?P<name>[^"]+)",\s*"parameters":\s*)re"},
                {"close_pattern", "\\}<end>"},
                {"repeats", true},
                {"content", "json"},
                {"transform", {{"function", {{"name", "{name}"}, {"arguments", "{content}"}}}}}});
  for (const auto& [name, given, space] :
       {std::tuple{"qwen_3", qwen, "\n"}, std::tuple{"llama_3", llama, " "}}) {
    std::ifstream file(
        absl::StrCat(MASKD_SOURCE_DIR, "/grammar_core/frontend/chat/families/", name, ".json"));
    const Json known = Json::parse(std::string{std::istreambuf_iterator<char>(file), {}})["calls"];
    const Json calls = Family(Import(given, space))["calls"];
    EXPECT_EQ(calls["call"], known["call"]) << name;
    EXPECT_EQ(calls["parallel"], known["parallel"]) << name;
  }
}

TEST(ResponseTemplate, PlacesOfATokenizersFileHaveItsMember) {
  Json opened = QuotedTemplate();
  opened["/fields/content/open"_json_pointer] = "<answer>";
  const auto file = Import({{"response_template", opened}});
  EXPECT_EQ(ErrorPlace(file.status()), "/response_template/fields/content/open");
  const auto older = Import({{"response_schema", {{"type", "object"}}}});
  EXPECT_EQ(ErrorPlace(older.status()), "/response_schema");
  EXPECT_EQ(ErrorPlace(Import(Json::object()).status()), "/response_template");
}

// A change of one member, which is where it is refused.
TEST(ResponseTemplate, WhatSaysNoOneTextIsRefusedAtItsPlace) {
  const Json& whole = QuotedTemplate();
  ASSERT_TRUE(Import(whole).ok());
  const std::string calls = "/fields/tool_calls";
  for (const auto& [place, value] : {
           std::pair<std::string, Json>{"/version", 2},
           {"/defaults/name", "x"},
           {"/fields/citations", {{"open", "<c>"}}},
           {"/fields/reasoning_content/open", {"<a>", "<b>"}},
           {"/fields/reasoning_content/open", ""},
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
  for (const Json* whole : {&ObjectTemplate(), &ElementsTemplate(), &QuotedTemplate()}) {
    const Json flat = whole->flatten();
    for (const auto& [place, leaf] : flat.items()) {
      for (Json::json_pointer at(place); !at.empty(); at = at.parent_pointer()) {
        for (const Json& value : values) {
          Json changed = *whole;
          changed[at] = value;
          const auto file = Import(changed, "\n");
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
