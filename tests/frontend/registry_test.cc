#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/compile/pipeline.h"
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
