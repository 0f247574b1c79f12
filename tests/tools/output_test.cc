// What maskctl prints, and to whom: JSON, colour, versions; lint as its users run it.
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "tests/tools/maskctl_run.h"

namespace maskd {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

nlohmann::json JsonOf(const std::string& arguments) {
  // Standard error aside: RunShell() has both.
  const Outcome outcome =
      RunShell(absl::StrCat("(", MASKD_MASKCTL, " ", arguments, " 2>/dev/null)"));
  return nlohmann::json::parse(outcome.output.substr(0, outcome.output.rfind('\n')), nullptr,
                               false);
}

TEST_F(MaskctlTest, SaysItsVersion) {
  EXPECT_THAT(Maskctl("version").output, MatchesRegex("maskctl [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(Maskctl("--version").output, Maskctl("version").output);
  EXPECT_TRUE(JsonOf("version --json")["version"].is_string());
  EXPECT_EQ(Maskctl("version 1").exit, 2);
}

TEST_F(MaskctlTest, AnswersAreJsonWhereThatIsAskedFor) {
  const std::string schema = Write("a.json", R"({"type": "boolean"})");
  EXPECT_EQ(JsonOf("compile --local --json " + schema)["grammar_id"].get<std::string>().size(),
            64U);
  EXPECT_EQ(JsonOf("explain --local --json " + schema)["kind"], "json_schema");
  EXPECT_EQ(JsonOf("check --local --json --text=true " + schema)["accepted"], true);
  EXPECT_EQ(JsonOf("check --local --json --text=1 " + schema)["stop"]["byte_offset"], "0");
  EXPECT_EQ(JsonOf("tokens --local --json")["tokenizers"][0]["name"], "bytes");
  EXPECT_EQ(JsonOf("tokens --local --json --text=a")["tokens"][0]["bytes"], "61");
  EXPECT_EQ(JsonOf("tokens --local --json --after=tru " + schema)["allowed"], 1);
  EXPECT_EQ(
      JsonOf("simulate --local --json --sequences=1 --constrained=1 " + schema)["sequences"].size(),
      1U);
  const std::string cases = Write("c.jsonl", R"({"schema": {"type": "null"}, "valid": ["null"]})"
                                             "\n");
  EXPECT_EQ(JsonOf("schemas --local --json " + cases)["groups"][""]["right"], 1);
}

TEST_F(MaskctlTest, AnErrorIsJsonToo) {
  const std::string schema = Write("a.json", R"({"type": "strange"})");
  const nlohmann::json json = JsonOf("compile --local --json " + schema);
  EXPECT_EQ(json["error"]["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(json["error"]["reason"], "INVALID_GRAMMAR");
  EXPECT_EQ(json["error"]["place"], "/type");
  EXPECT_EQ(Maskctl("compile --local --json " + schema).exit, 1);
}

TEST_F(MaskctlTest, ThereIsNoColourInAPipe) {
  const std::string schema = Write("a.json", R"({"type": "boolean"})");
  for (const char* text : {"true", "tru", "x"}) {
    const Outcome outcome = Maskctl(absl::StrCat("check --local ", schema, " --text=", text));
    EXPECT_THAT(outcome.output, Not(HasSubstr("\x1b"))) << text;
  }
  EXPECT_THAT(Maskctl("compile --local /nonexistent").output, Not(HasSubstr("\x1b")));
}

TEST_F(MaskctlTest, TheServersAddressMayStandInTheEnvironment) {
  setenv("MASKD_ADDRESS", "unix:/nonexistent/of/environment.sock", 1);
  const Outcome from_environment = Maskctl("tokens");
  const Outcome from_flag = Maskctl("tokens --server=unix:/nonexistent/of/flag.sock");
  unsetenv("MASKD_ADDRESS");
  EXPECT_THAT(from_environment.output, HasSubstr("/nonexistent/of/environment.sock"));
  EXPECT_THAT(from_flag.output, HasSubstr("/nonexistent/of/flag.sock"));
}

TEST_F(MaskctlTest, CheckNamesTheRulesOfASchema) {
  const std::string schema =
      Write("a.json", R"({"properties": {"city": {"enum": ["Lima", "Oslo"]}}})");
  const Outcome outcome = Maskctl("check --local --text='{\"city\": \"Rome\"}' " + schema);
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.output,
              HasSubstr("stands      in the string /city\n"
                        "rule        /properties/city/enum (1:34), enum: [\"Lima\",\"Oslo\"]\n"));
}

TEST_F(MaskctlTest, LintSaysPlaceRuleAndFix) {
  const std::string schema =
      Write("a.json", "{\"type\": \"object\",\n \"properties\": {\"a\": {\"type\": \"string\"}}}");
  const Outcome outcome = Maskctl("lint --local " + schema);
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              HasSubstr(absl::StrCat(schema,
                                     ":2:22: note: /properties/a: the string may be of any "
                                     "length [open-string]\n    fix: add \"maxLength\"")));
  EXPECT_EQ(Maskctl("lint --local --fail_on=note " + schema).exit, 1);
  EXPECT_EQ(Maskctl("lint --local --quiet --fail_on=note " + schema).exit, 0);
  EXPECT_EQ(Maskctl("lint --local --provider=openai " + schema).exit, 1);
  EXPECT_EQ(Maskctl("lint --local --provider=openai --fail_on=never " + schema).exit, 0);
}

TEST_F(MaskctlTest, LintFindsMembersThatNoTextHas) {
  const std::string schema = Write("a.json", R"({"type": "object", "properties": {
      "dead": {"$ref": "#/$defs/none"}, "fine": {"$ref": "#/$defs/some"}},
      "$defs": {"none": {"type": "string", "allOf": [{"type": "null"}]},
                "some": {"type": "null"}}})");
  const nlohmann::json json = JsonOf("lint --local --json --quiet " + schema);
  ASSERT_EQ(json["findings"].size(), 1U) << json;
  EXPECT_EQ(json["findings"][0]["rule"], "dead-member");
  EXPECT_EQ(json["findings"][0]["place"], "/properties/dead");
}

TEST_F(MaskctlTest, LintSaysWhatEachGrammarCosts) {
  const std::string schema = Write("a.json", R"({"enum": ["a"]})");
  const std::string wrong = Write("b.json", R"({"enum": []})");
  const std::string files = schema + " " + wrong;
  EXPECT_THAT(Maskctl("lint --local " + files).output,
              HasSubstr(absl::StrCat(schema, ": costs: holds ")));
  EXPECT_THAT(Maskctl("lint --local --quiet " + files).output, Not(HasSubstr("costs")));
  const nlohmann::json json = JsonOf("lint --local --json " + files);
  ASSERT_EQ(json["costs"].size(), 1U) << json;
  EXPECT_EQ(json["costs"][0]["file"], schema);
  EXPECT_GT(std::stoll(json["costs"][0]["held_bytes"].get<std::string>()), 0);
}

TEST_F(MaskctlTest, LintCountsOneAsOne) {
  const std::string schema = Write("a.json", R"({"type": "string"})");
  EXPECT_THAT(Maskctl("lint --local " + schema).output,
              HasSubstr("1 file: 0 errors, 0 warnings, 1 note\n"));
}

TEST_F(MaskctlTest, CheckSaysInJsonWhereATextStandsAndWhichRulesSpeakThere) {
  const std::string schema = Write("a.json", "{\n\"enum\": [\"a\"]}");
  const nlohmann::json json = JsonOf("check --local --json --text='\"b' " + schema);
  EXPECT_EQ(json["accepted"], false);
  EXPECT_EQ(json["reason"]["stands"], "in the string at the root");
  ASSERT_EQ(json["reason"]["rules"].size(), 1U) << json;
  EXPECT_EQ(json["reason"]["rules"][0]["place"], "/enum");
  EXPECT_EQ(json["reason"]["rules"][0]["line"], 2);
  EXPECT_FALSE(JsonOf("check --local --json --text='\"a\"' " + schema).contains("reason"));
}

TEST_F(MaskctlTest, CheckNamesThePartsOfRules) {
  const std::string grammar = Write("a.gbnf", "root ::= \"a\" b\nb ::= [0-9]\n");
  EXPECT_THAT(Maskctl("check --local --kind=gbnf --text=ax " + grammar).output,
              HasSubstr("stands      in the rule b\nrule        b (2:7), [0-9]\n"));
}

TEST_F(MaskctlTest, LintHoldsOtherKindsToTheCompilerAlone) {
  const std::string grammar = Write("a.gbnf", "root ::= \"a\" foo\n");
  const Outcome outcome = Maskctl("lint --local --kind=gbnf " + grammar);
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.output, StartsWith(absl::StrCat(grammar, ":1:14: error: INVALID_ARGUMENT")));
  EXPECT_EQ(Maskctl("lint --local --provider=nobody " + grammar).exit, 2);
}

TEST_F(MaskctlTest, LintSaysAPlaceOnce) {
  const std::string grammar = Write("a.gbnf", "root ::= \"a\" foo\n");
  const std::string schema = Write("a.json", R"({"properties": {"a": {"type": "strin"}}})");
  const auto times = [](const std::string& text, const std::string& place) {
    int count = 0;
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(times(Maskctl("lint --local --kind=gbnf " + grammar).output, "1:14"), 1);
  const std::string broken = Write("b.json", "{\"type\": }");
  EXPECT_EQ(times(Maskctl("lint --local " + broken).output, "1:10"), 1);
  EXPECT_EQ(times(Maskctl("lint --local " + schema).output, "/properties/a/type"), 1);
}

TEST_F(MaskctlTest, CheckNamesThePlaceForEveryKind) {
  const auto rules = [&](const std::string& kind, const std::string& source,
                         const std::string& text) {
    const std::string file = Write(kind + ".txt", source);
    const std::string output =
        Maskctl(absl::StrCat("check --local --kind=", kind, " --text='", text, "' ", file)).output;
    const std::size_t begin = output.find("rule ");
    const std::size_t end = output.find("allowed ");
    return begin == std::string::npos ? "" : output.substr(begin, end - begin);
  };
  EXPECT_EQ(rules("regex", "ab[0-9]+c", "abx"), "rule        1:3, [0-9]\n");
  EXPECT_EQ(rules("regex", "(?!ab)a[a-c]", "ab"),
            "rule        1:1, (?!ab)\nrule        1:8, [a-c]\n");
  EXPECT_EQ(rules("choice", "[\"red\", \"rose\"]", "rx"),
            "rule        /0 (1:2), \"red\" goes on with \"ed\"\n"
            "rule        /1 (1:9), \"rose\" goes on with \"ose\"\n");
  EXPECT_EQ(rules("response_format", R"({"type": "regex", "pattern": "a[bc]"})", "ax"),
            "rule        /pattern (1:32), [bc], at 1:2 in it\n");
  EXPECT_EQ(rules("json_schema", R"({"pattern": "^a\\u005b[bc]$"})", "\"a[x"),
            "rule        /pattern (1:23), [bc], at 1:9 in it\n");
  EXPECT_EQ(rules("structural_tag",
                  R"({"structures": [{"begin": "<a>", "schema": {"maximum": 3, "type": "integer"},
                      "end": "</a>"}], "triggers": ["<a"]})",
                  "<a>4"),
            "rule        /structures/0/schema/type (1:67), type: \"integer\"\n");
}

TEST_F(MaskctlTest, ThePlaygroundStaysOnThisMachine) {
  const Outcome outcome = Maskctl("playground --local --listen=0.0.0.0:0");
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.output, HasSubstr("--any_address allows it"));
}

}  // namespace
}  // namespace maskd
