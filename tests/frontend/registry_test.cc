// What holds for every kind of grammar: names, options, limits, and what is parsed.
#include <set>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/compile/pipeline.h"
#include "grammar_core/frontend/front_end.h"
#include "grammar_core/frontend/parsed_source.h"
#include "grammar_core/frontend/read_context.h"
#include "grammar_core/frontend/read_result.h"
#include "tests/frontend/reading.h"

namespace maskd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RegistryTest, KindsAreNamed) {
  EXPECT_THAT(FrontEndKinds(),
              ElementsAre("json_schema", "json_object", "json", "choice", "regex", "gbnf", "ebnf",
                          "lark", "response_format", "structural_tag", "chat"));
  const absl::Status status = ReadForTest("yaml", "").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("json_schema, json_object, json, choice, regex, gbnf, ebnf, lark"));
}

TEST(RegistryTest, SourceBytesAreLimited) {
  Limits limits;
  limits.source_bytes = 10;
  const absl::Status status = ReadForTest("choice", "[\"123456\"]  ", {}, limits).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "limit source_bytes is 10, 12 needed");
}

TEST(RegistryTest, OptionsAreChecked) {
  GrammarOptions options;
  options.max_whitespace = -1;
  EXPECT_EQ(ErrorPlace(ReadForTest("json", "", options).status()), "options.max_whitespace");
  options = {};
  options.max_number_digits = 0;
  EXPECT_EQ(ErrorPlace(ReadForTest("json", "", options).status()), "options.max_number_digits");
}

// Place of the error for options that `change` makes; empty where they are fine.
template <typename Change>
std::string FaultOf(Change change) {
  GrammarOptions options;
  change(options);
  const absl::Status status = ParseSource({"json", "", options}, Limits()).status();
  if (!status.ok()) EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return ErrorPlace(status);
}

TEST(RegistryTest, OptionsAreCheckedAtTheirEnds) {
  for (const int indent : {-1, 0, 16, 17}) {
    const std::string place = FaultOf([&](GrammarOptions& options) { options.indent = indent; });
    EXPECT_EQ(place, indent < 0 || indent > 16 ? "options.indent" : "") << indent;
  }
  EXPECT_EQ(FaultOf([](GrammarOptions& options) {
              options.indent = 2;
              options.white_space = WhiteSpace::kCompact;
            }),
            "options.indent");
  for (const int most : {-1, 0, 1}) {
    const auto expected = [&](const char* place) { return std::string(most < 1 ? place : ""); };
    EXPECT_EQ(FaultOf([&](GrammarOptions& options) { options.max_tokens = most; }),
              expected("options.max_tokens"));
    EXPECT_EQ(FaultOf([&](GrammarOptions& options) { options.max_characters = most; }),
              expected("options.max_characters"));
    EXPECT_EQ(FaultOf([&](GrammarOptions& options) { options.max_number_digits = most; }),
              expected("options.max_number_digits"));
  }
  EXPECT_EQ(FaultOf([](GrammarOptions& options) { options.max_whitespace = 0; }), "");
}

TEST(RegistryTest, SeparatorsAreASignAndWhiteSpace) {
  for (const char* good : {",", ", ", ",\n\t\r "}) {
    EXPECT_EQ(FaultOf([&](GrammarOptions& options) { options.item_separator = good; }), "");
    EXPECT_EQ(FaultOf([&](GrammarOptions& options) { options.key_separator = good; }),
              "options.key_separator");
  }
  for (const char* bad : {"", " ", " ,", ",,", ", a", ",\f", ",\xC2\xA0", ";"})
    EXPECT_EQ(FaultOf([&](GrammarOptions& options) { options.item_separator = bad; }),
              "options.item_separator")
        << bad;
  EXPECT_EQ(
      FaultOf([&](GrammarOptions& options) { options.item_separator = std::string(",\0", 2); }),
      "options.item_separator");
  EXPECT_EQ(FaultOf([](GrammarOptions& options) { options.key_separator = ": "; }), "");
}

// A parsed source is moved about before it is read.
TEST(RegistryTest, TheTextsOfSomeKindsAreParsedOnce) {
  std::set<std::string> parsed_kinds;
  for (const std::string& kind : FrontEndKinds()) {
    absl::StatusOr<ParsedSource> parsed = ParseSource({kind, "[\"a\"]"}, Limits());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->source.kind, kind);
    EXPECT_EQ(parsed->context.markers, nullptr);
    EXPECT_EQ(parsed->context.schemas, nullptr);
    if (!parsed->json.has_value()) continue;
    parsed_kinds.insert(kind);
    const ParsedSource moved = *std::move(parsed);
    EXPECT_EQ(moved.json->root().Compact(), "[\"a\"]");
  }
  EXPECT_THAT(parsed_kinds,
              ElementsAre("chat", "choice", "json_schema", "response_format", "structural_tag"));
  Budget budget = Budget::Unlimited();
  ParsedSource choice = *ParseSource({"choice", "[\"a\"]"}, Limits());
  ParsedSource moved = std::move(choice);
  const auto read = ReadParsed(moved, Limits(), budget);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->ir.rules[read->ir.start].name, "choice");
}

TEST(RegistryTest, TextsArePaidForByTheirBytes) {
  const std::string text(32'000, ' ');
  for (const std::int64_t work : {900, 1'100}) {
    Budget budget(Budget::Bounds{.work = work});
    ParsedSource parsed = *ParseSource({"json", text}, Limits());
    const auto read = ReadParsed(parsed, Limits(), budget);
    EXPECT_EQ(parsed.source.text, text);
    EXPECT_EQ(read.status().code() == absl::StatusCode::kResourceExhausted, work < 1'000)
        << read.status();
  }
}

TEST(RegistryTest, KindsWithoutATextTakeNone) {
  EXPECT_TRUE(ReadForTest("json", " \n").ok());
  const absl::Status status = ReadForTest("json_object", "{}").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("takes no text"));
}

TEST(RegistryTest, BudgetStopsTheReading) {
  std::string list = "[\"0\"";
  for (int i = 1; i < 10'000; ++i) list += ",\"" + std::to_string(i) + "\"";
  Budget::Bounds bounds;
  bounds.work = 1'000;
  Budget budget(bounds);
  const absl::Status status = ReduceGrammar({"choice", list + "]", {}}, Limits(), budget).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

TEST(ParseSourceTest, NormalTextDropsOnlyInsignificantSpace) {
  const auto normal = [](absl::string_view kind, absl::string_view text) {
    return NormalText(*ParseSource({std::string(kind), std::string(text), {}}, Limits()));
  };
  EXPECT_EQ(normal("json_schema", " { \"b\" : 1.0 ,\n \"a\" : \"x y\" } "),
            "{\"b\":1.0,\"a\":\"x y\"}");
  EXPECT_EQ(normal("choice", "[ \"a b\" ]"), "[\"a b\"]");
  EXPECT_EQ(normal("regex", " a "), " a ");
  EXPECT_EQ(normal("json", ""), "");
  EXPECT_FALSE(ParseSource({"json_schema", "{", {}}, Limits()).ok());
}

}  // namespace
}  // namespace maskd
