// maskctl schemas: what it counts and what it prints.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/tools/maskctl_run.h"
#include "tools/cli/schemas/respelling.h"
#include "tools/cli/schemas/schema_case.h"

namespace maskd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kRight[] =
    R"({"id": "a", "keyword": "type", "schema": {"type": "integer"}, "valid": ["1", "-7"], "invalid": ["1.5", "\"1\""]})"
    "\n\n"
    R"({"id": "b", "keyword": "enum", "schema": "{\"enum\": []}", "tests": [{"valid": false, "text": "1"}]})"
    "\n"
    R"({"id": "c", "draft": "draft4", "schema": {"exclusiveMinimum": true, "minimum": 1}, "valid": ["2"], "invalid": ["1"]})"
    "\n"
    R"({"id": "d", "keyword": "type", "schema": {"required": ["a", "b"], "properties": {"a": {}, "b": {}}}, "valid": ["{\"a\":1,\"b\":\"é\"}"], "shuffled": ["{\"b\":1,\"a\":1}"], "invalid": []})"
    "\n";

class WrongSchemaTest : public MaskctlTest, public testing::WithParamInterface<WrongStatement> {};

// Cases that state what is not so, each in one way.
INSTANTIATE_TEST_SUITE_P(
    Cases, WrongSchemaTest,
    testing::ValuesIn(std::vector<WrongStatement>{
        {"ValidRefused",
         R"({"id": "x", "keyword": "k", "schema": {"type": "null"}, "valid": ["nul", "1"], "invalid": []})",
         "x: valid refused at byte 3: \"nul\"\nx: valid refused at byte 0: \"1\"\n",
         "| k | 1 | 0 | 0 | 1 | 0 | 0 | 2 | 2 | 0 |"},
        {"InvalidAccepted",
         R"({"id": "x", "keyword": "k", "schema": {"type": "null"}, "valid": [], "invalid": ["null"]})",
         "x: invalid accepted: \"null\"\n", "| k | 1 | 0 | 0 | 0 | 1 | 0 | 1 | 0 | 1 |"},
        {"NotCompiled",
         R"({"id": "x", "keyword": "k", "schema": {"items": [{"$ref": "http://x.example/"}]}, "valid": ["[]"], "invalid": []})",
         "x: not compiled: UNIMPLEMENTED", "| k | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |"},
        {"Unsatisfiable",
         R"({"id": "x", "keyword": "k", "schema": false, "valid": ["1"], "invalid": []})",
         "x: not compiled: INVALID_ARGUMENT", "| k | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |"},
        {"ByLine", R"({"schema": false, "valid": ["1"]})", "line 1: not compiled", "|  | 1 | 0 |"},
    }),
    [](const auto& test) { return test.param.name; });

TEST_P(WrongSchemaTest, IsPrintedAndCounted) {
  const Outcome outcome = Maskctl("schemas --local " + Write("s.jsonl", GetParam().line));
  EXPECT_EQ(outcome.exit, 1) << outcome.output;
  EXPECT_THAT(outcome.output, StartsWith(GetParam().printed));
  EXPECT_THAT(outcome.output, HasSubstr(GetParam().row));
}

TEST_F(MaskctlTest, RefusalsAreCountedByKeyword) {
  const Outcome outcome = Maskctl(
      "schemas --local " +
      Write("s.jsonl", R"({"schema": {"items": [{"$ref": "http://x.example/"}]}, "valid": []})"));
  EXPECT_THAT(outcome.output, HasSubstr("| `$ref` | 1 |"));
}

TEST_F(MaskctlTest, RightSchemasAreATableOnly) {
  const std::string file = Write("s.jsonl", kRight);
  for (const std::string texts : {"given", "spaced", "escaped"}) {
    const Outcome outcome =
        Maskctl(absl::StrCat("schemas --local --property_order=any --texts=", texts, " ", file));
    EXPECT_EQ(outcome.exit, 0) << outcome.output;
    EXPECT_THAT(outcome.output, StartsWith("| keyword | schemas | right |"));
    EXPECT_THAT(outcome.output, HasSubstr("|  | 1 | 1 | 0 | 0 | 0 | 0 | 2 | 0 | 0 |\n"
                                          "| enum | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |\n"
                                          "| type | 2 | 2 | 0 | 0 | 0 | 0 | 6 | 0 | 0 |\n"
                                          "| all of these | 4 | 4 |"));
  }
}

TEST_F(MaskctlTest, ShuffledTextsNeedAnyOrder) {
  const Outcome outcome = Maskctl("schemas --local " + Write("s.jsonl", kRight));
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("NOT RUN, they need --property_order=any: 1 shuffled"));
}

TEST_F(MaskctlTest, TextsAreCutAndSpelledAsIsAsked) {
  const std::string file = Write("s.jsonl", kRight);
  for (const char* flags : {"--cut=shortest", "--cut=random --seed=3", "--spelling=any",
                            "--spelling=canonical --cut=shortest"}) {
    const Outcome outcome = Maskctl(absl::StrCat("schemas --local ", flags, " ", file));
    EXPECT_EQ(outcome.exit, 0) << flags << outcome.output;
  }
}

TEST_F(MaskctlTest, SchemasAreChosenAndFailuresLimited) {
  const std::string file = Write("s.jsonl", kRight);
  const Outcome chosen = Maskctl("schemas --local --only=keyword=enum --by=id " + file);
  EXPECT_THAT(chosen.output, HasSubstr("| b | 1 | 1 |"));
  const std::string wrong = R"({"id": "x", "schema": true, "invalid": ["1", "2", "3"]})";
  const Outcome limited = Maskctl("schemas --local --limit=1 " + Write("w.jsonl", wrong));
  EXPECT_THAT(limited.output, StartsWith("x: invalid accepted: \"1\"\n... and 2 more failures\n"));
}

TEST_F(MaskctlTest, AWrongLineOfSchemasIsSaid) {
  const std::string file = Write("s.jsonl", "{\"schema\": true}\n{\"valid\": []}\n");
  const Outcome outcome = Maskctl("schemas --local " + file);
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.output, HasSubstr("s.jsonl: line 2: schema: is missing"));
  EXPECT_EQ(Maskctl("schemas --local --only=x " + file).exit, 2);
}

TEST(SchemaCaseTest, NumbersKeepTheirSpelling) {
  const auto one = cli::ReadSchemaCase(R"({"schema": {"const": 1e999}, "draft": "2019-09"})");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->schema,
            R"({"$schema":"https://json-schema.org/draft/2019-09/schema","const":1e999})");
}

TEST(SchemaCaseTest, TestsAreSortedByVerdict) {
  const auto one = cli::ReadSchemaCase(
      R"({"schema": true, "tests": [{"valid": true, "text": "1"}, {"valid": false, "text": "2"}]})");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_THAT(one->valid, ElementsAre("1"));
  EXPECT_THAT(one->invalid, ElementsAre("2"));
}

struct RespellingCase {
  std::string name;
  std::string text;
  std::string spaced;
  std::string escaped;
};

class RespellingTest : public testing::TestWithParam<RespellingCase> {};

INSTANTIATE_TEST_SUITE_P(
    Texts, RespellingTest,
    testing::ValuesIn(std::vector<RespellingCase>{
        {"Object", R"({"a,":[1,2]})", R"({"a,": [1, 2]})", R"({"\u0061\u002c":[1,2]})"},
        {"Spaced", R"([1, 2])", R"([1, 2])", R"([1, 2])"},
        {"Escapes", R"("\"\u0041x")", R"("\"\u0041x")", R"("\"\u0041\u0078")"},
        {"Pair", "\"\xF0\x9F\x98\x80\"", "\"\xF0\x9F\x98\x80\"", R"("\ud83d\ude00")"},
        {"NotUtf8", "\"\xFF\"", "\"\xFF\"", "\"\xFF\""},
        {"Open", R"("a\)", R"("a\)", R"("\u0061\)"},
    }),
    [](const auto& test) { return test.param.name; });

TEST_P(RespellingTest, IsTheSameValue) {
  EXPECT_EQ(Respelled(GetParam().text, cli::Respelling::kGiven), GetParam().text);
  EXPECT_EQ(Respelled(GetParam().text, cli::Respelling::kSpaced), GetParam().spaced);
  EXPECT_EQ(Respelled(GetParam().text, cli::Respelling::kEscaped), GetParam().escaped);
}

}  // namespace
}  // namespace maskd
