// The program maskctl, run as its users run it: against a server inside itself, and against one on
// a socket.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "service/process/server.h"
#include "tests/tools/maskctl_run.h"

namespace maskd {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kPython = MASKD_PYTHON;
const std::string kExamples = absl::StrCat(MASKD_SOURCE_DIR, "/examples");

TEST_F(MaskctlTest, HelpListsTheCommands) {
  const Outcome outcome = Maskctl("--help");
  EXPECT_EQ(outcome.exit, 0);
  for (const char* command : {"compile", "check", "explain", "tokens", "simulate", "applier",
                              "bench", "vectors", "schemas", "family"}) {
    EXPECT_THAT(outcome.output, HasSubstr(absl::StrCat("\n  ", command)));
  }
}

TEST_F(MaskctlTest, EachCommandHasItsHelp) {
  for (const std::string command : {"compile", "check", "explain", "tokens", "simulate", "bench",
                                    "vectors", "schemas", "family"}) {
    const Outcome outcome = Maskctl(command + " --help");
    EXPECT_EQ(outcome.exit, 0) << command;
    EXPECT_THAT(outcome.output, StartsWith(absl::StrCat("usage: maskctl ", command)));
    EXPECT_THAT(outcome.output, HasSubstr("--server=ADDRESS"));
    EXPECT_THAT(outcome.output, HasSubstr("--local"));
  }
}

TEST_F(MaskctlTest, FamiliesAreListedAndTested) {
  const Outcome list = Maskctl("family list");
  EXPECT_EQ(list.exit, 0) << list.output;
  EXPECT_THAT(list.output, HasSubstr("\nqwen_3_coder       Qwen3-Coder"));
  EXPECT_THAT(list.output, HasSubstr("\nmistral_small_3_2  Mistral Small"));
  const std::string file = absl::StrCat(MASKD_SOURCE_DIR, "/tests/families/qwen_3.jsonl");
  const Outcome right = Maskctl("family test qwen_3 --local " + file);
  EXPECT_EQ(right.exit, 0) << right.output;
  EXPECT_THAT(right.output, HasSubstr("qwen_3: 34 transcripts, 0 wrong"));
  const Outcome wrong = Maskctl("family test llama_3 --local " + file);
  EXPECT_EQ(wrong.exit, 1) << wrong.output;
  EXPECT_THAT(wrong.output, HasSubstr("qwen_3.jsonl:2: refused at byte "));
}

// Arguments come in the order that the request declares.
TEST_F(MaskctlTest, TranscriptsKeepTheOrderOfTheirMembers) {
  const std::string file = directory_ / "order.jsonl";
  std::ofstream(file) << R"({"request":{"tools":[{"type":"function","function":{"name":"f",)"
                      << R"("parameters":{"type":"object","properties":{"z":{"type":"null"},)"
                      << R"("a":{"type":"null"}},"additionalProperties":false}}}]},"text":)"
                      << R"("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"z\": null, )"
                      << R"(\"a\": null}}\n</tool_call>"})";
  const Outcome tested = Maskctl("family test qwen_3 --local " + file);
  EXPECT_EQ(tested.exit, 0) << tested.output;
  EXPECT_THAT(tested.output, HasSubstr("qwen_3: 1 transcripts, 0 wrong"));
}

TEST_F(MaskctlTest, FamiliesAreListedAndTestedAsJson) {
  const auto list = nlohmann::json::parse(Maskctl("family list --json").output);
  EXPECT_EQ(list["families"][0]["name"], "apertus");
  EXPECT_EQ(list["families"][0]["models"], "Apertus 8B and 70B");
  const std::string file = absl::StrCat(MASKD_SOURCE_DIR, "/tests/families/qwen_3.jsonl");
  const auto right =
      nlohmann::json::parse(Maskctl("family test qwen_3 --local --json " + file).output);
  EXPECT_EQ(right["transcripts"], 34);
  EXPECT_TRUE(right["wrong"].empty()) << right;
  const Outcome judged = Maskctl("family test llama_3 --local --json " + file);
  EXPECT_EQ(judged.exit, 1) << judged.output;
  const auto wrong = nlohmann::json::parse(judged.output);
  EXPECT_EQ(wrong["wrong"][0]["line"], 2);
  EXPECT_THAT(wrong["wrong"][0]["fault"].get<std::string>(), StartsWith("refused at byte "));
}

TEST_F(MaskctlTest, FamiliesAreImportedAndTested) {
  const std::string given = directory_ / "tokenizer_config.json";
  std::ofstream(given) << R"({"response_template": {"start_anchor": "<turn>", "fields": {
      "content": {"close": "<end>"},
      "tool_calls": {"open": "<tool_call>", "close": "</tool_call>", "repeats": true,
                     "content": "json", "transform": {"function": "{content}"}}}}})";
  const Outcome made = Maskctl("family import mine --space='\\n' " + given);
  ASSERT_EQ(made.exit, 0) << made.output;
  const std::string family = directory_ / "mine.json";
  std::ofstream(family) << made.output;
  const std::string texts = directory_ / "texts.jsonl";
  std::ofstream(texts) << nlohmann::json(
      {{"request", {{"tools", {{{"type", "function"}, {"function", {{"name", "add"}}}}}}}},
       {"text", "<tool_call>\n{\"name\": \"add\", \"arguments\": {}}\n</tool_call>"},
       {"message",
        {{"tool_calls", {{{"name", "add"}, {"arguments", nlohmann::json::object()}}}}}}});
  const Outcome tested = Maskctl("family test " + family + " --local " + texts);
  EXPECT_EQ(tested.exit, 0) << tested.output;
  EXPECT_THAT(tested.output, HasSubstr("mine.json: 1 transcripts, 0 wrong"));
  const Outcome refused = Maskctl("family import mine " + given);
  EXPECT_EQ(refused.exit, 1) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("/response_template/fields/tool_calls/content: "));
  const Outcome behind =
      Maskctl("family import mine --space='\\n' --behind_arguments='\\n' " + given);
  EXPECT_EQ(behind.exit, 1) << behind.output;
  EXPECT_THAT(behind.output, HasSubstr("/response_template/fields/tool_calls: "));
  EXPECT_EQ(Maskctl("family import mine --space='\\q' " + given).exit, 2);
}

// JSON in which a number is past any double.
TEST_F(MaskctlTest, FamilyTestPrintsJsonWhateverTheArgumentsAre) {
  const std::string texts = directory_ / "texts.jsonl";
  std::ofstream(texts) << nlohmann::json(
      {{"request", {{"tools", {{{"name", "f"}, {"parameters", {{"type", "object"}}}}}}}},
       {"text", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1e999}}\n</tool_call>"},
       {"message", nlohmann::json::object()}});
  const auto said =
      nlohmann::json::parse(Maskctl("family test qwen_3 --local --json " + texts).output);
  EXPECT_EQ(said["wrong"][0]["fault"],
            R"(reads as {"tool_calls":[{"arguments":"{\"a\": 1e999}","name":"f"}]})");
}

struct UsageCase {
  std::string name;
  std::string arguments;
  std::string message;
};

class UsageTest : public testing::TestWithParam<UsageCase> {};

TEST_P(UsageTest, IsExitStatusTwoAndSaysWhatIsWrong) {
  const Outcome outcome = Maskctl(GetParam().arguments);
  EXPECT_EQ(outcome.exit, 2) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    CommandLines, UsageTest,
    testing::ValuesIn(std::vector<UsageCase>{
        {"Nothing", "", "usage: maskctl COMMAND"},
        {"UnknownCommand", "mask", "there is no command \"mask\"; maskctl --help lists them"},
        {"MisspelledCommand", "chek", "there is no command \"chek\"; is check meant?"},
        {"HelpOfNothing", "help mask", "there is no command \"mask\""},
        {"OneDash", "compile -local x.json", "-local: a flag begins with two dashes"},
        {"AGrammarForAFile", "compile --local '{\"type\": 1}'",
         "{\"type\": 1}: is a grammar, not its file; \"-\" reads it from standard input"},
        {"TwoInputs", "check --local x.json --text=1 --tokens=1",
         "one of --text, --text_file and --tokens is needed; 2 were given"},
        {"AddressIsAPath", "tokens --server=/tmp/maskd.sock",
         "--server: \"/tmp/maskd.sock\" is neither unix:/path nor host:port"},
        {"AddressHasNoPort", "top --server=localhost",
         "--server: \"localhost\" is neither unix:/path nor host:port"},
        {"UnknownFlag", "compile --schema=x",
         "maskctl compile: INVALID_ARGUMENT: --schema: there is"},
        {"NoFile", "compile --local", "one grammar file is needed"},
        {"TwoFiles", "compile --local a b", "2 were given"},
        {"LocalAndServer", "tokens --local --server=x", "--server: has no meaning with --local"},
        {"NoInput", "check --local x.json", "one of --text, --text_file and --tokens is needed"},
        {"BadTokens", "check --local x.json --tokens=1,x", "--tokens: \"x\" is not a token id"},
        {"BadChoice", "compile --local x --white_space=some",
         "--white_space: \"some\" is not one of"},
        {"BadNumber", "simulate --sequences=0", "--sequences: \"0\" is not a number from 1"},
        {"MoreConstrained", "simulate --constrained=9", "--constrained: 9 is more than"},
        {"MoreHeldThanRows", "applier --batches=128:2,3:4",
         "--batches: \"3:4\" is not ROWS:HELD with 0 <= HELD <= ROWS"},
        {"NoRows", "bench --rows=8,0", "--rows: \"0\" is not a number from 1 to 4096"},
        {"NoSchemas", "simulate --schemas=/nonexistent", "--schemas: /nonexistent: "},
        {"UnknownApplier",
         absl::StrCat("simulate --applier=cuda --schemas=", kExamples, "/schemas"),
         "--applier: applier \"cuda\" is not known on cpu"},
    }),
    [](const auto& test) { return test.param.name; });

TEST_F(MaskctlTest, NoServerIsSaidWithItsAddress) {
  const Outcome outcome = Maskctl("tokens --server=unix:/nonexistent/maskd.sock");
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.output, HasSubstr("UNAVAILABLE: no server at unix:/nonexistent/maskd.sock"));
  EXPECT_THAT(outcome.output, HasSubstr("No such file or directory; --server or MASKD_ADDRESS"));
  const Outcome top = Maskctl("top --server=unix:/nonexistent/admin.sock");
  EXPECT_EQ(top.exit, 1);
  EXPECT_THAT(top.output, HasSubstr("UNAVAILABLE: no server at unix:/nonexistent/admin.sock: "));
  EXPECT_THAT(top.output, HasSubstr("a server has an admin address with --admin_listen"));
}

TEST_F(MaskctlTest, AWrongAddressOfTheEnvironmentNamesItsVariable) {
  const Outcome outcome =
      RunShell(absl::StrCat("MASKD_ADDRESS=nowhere ", MASKD_MASKCTL, " tokens"));
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.output,
              HasSubstr("MASKD_ADDRESS: \"nowhere\" is neither unix:/path nor host:port"));
}

TEST_F(MaskctlTest, HelpIsAskedForInEachUsualWay) {
  for (const char* words : {"compile --help", "compile -h", "compile help", "help compile",
                            "--help compile", "compile a.json --help"}) {
    const Outcome outcome = Maskctl(words);
    EXPECT_EQ(outcome.exit, 0) << words;
    EXPECT_THAT(outcome.output, StartsWith("usage: maskctl compile ")) << words;
  }
  for (const char* words : {"help", "help --help", "--help help", "help help"}) {
    const Outcome outcome = Maskctl(words);
    EXPECT_EQ(outcome.exit, 0) << words;
    EXPECT_THAT(outcome.output, HasSubstr("usage: maskctl COMMAND")) << words;
  }
  const std::string schema = Write("a.json", R"({"const": "help"})");
  EXPECT_EQ(Maskctl("check --local " + schema + " --text help").output.substr(0, 7), "refused");
}

TEST_F(MaskctlTest, HelpHasWhatIsACommandsOwnFirst) {
  const std::string help = Maskctl("check --help").output;
  EXPECT_LT(help.find("--text="), help.find("--kind="));
  EXPECT_LT(help.find("--kind="), help.find("--server="));
  EXPECT_THAT(Maskctl("completion --help").output, Not(HasSubstr("flags")));
}

TEST_F(MaskctlTest, ApplierShowsWhatIsSpared) {
  const Outcome table = Maskctl("applier cpu:portable --batches=128:2 --vocab_size=32000");
  EXPECT_EQ(table.exit, 0) << table.output;
  EXPECT_THAT(table.output, HasSubstr("applier: cpu:portable; supported here: auto, cpu"));
  EXPECT_THAT(table.output, HasSubstr("4,096,000      64,000      98.4 %"));
  const Outcome json = Maskctl("applier cpu --json --batches=1:1");
  EXPECT_THAT(json.output, AllOf(HasSubstr(R"("wrong": 0)"), HasSubstr(R"("greedy_after": 90)")));
  const Outcome unknown = Maskctl("applier metal");
  EXPECT_EQ(unknown.exit, 1);
  EXPECT_THAT(unknown.output, HasSubstr(R"(applier "metal" is not known)"));
}

TEST_F(MaskctlTest, CompileShowsIdAndCosts) {
  const std::string schema = Write("a.json", R"({"type": "boolean"})");
  const Outcome outcome = Maskctl("compile --local " + schema);
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
  EXPECT_THAT(outcome.output, ContainsRegex("grammar +[0-9a-f]{64}"));
  EXPECT_THAT(outcome.output, HasSubstr("compiled in "));
}

TEST_F(MaskctlTest, AWrongSchemaSaysWhere) {
  const std::string schema =
      Write("a.json", R"({"type": "object", "properties": {"a": {"type": "strange"}}})");
  const Outcome outcome = Maskctl("compile --local " + schema);
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.output, HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(outcome.output, HasSubstr("/properties/a/type"));
}

TEST_F(MaskctlTest, RemotesAreWhatAReferenceMayLeadTo) {
  const std::string schema = Write("a.json", R"({"$ref": "http://x.example/a"})");
  const std::string remotes = Write("r.json", R"({"http://x.example/a": {"type": "null"}})");
  const Outcome with = Maskctl("check --local --text=null --remotes=" + remotes + " " + schema);
  EXPECT_EQ(with.exit, 0) << with.output;
  const Outcome without = Maskctl("compile --local " + schema);
  EXPECT_EQ(without.exit, 1);
  EXPECT_THAT(without.output,
              HasSubstr("/$ref: $ref is not supported: \"http://x.example/a\" is neither"));
  const Outcome wrong = Maskctl("compile --local --remotes=" + schema + "x " + schema);
  EXPECT_THAT(wrong.output, HasSubstr("a.jsonx: cannot be read"));
  const Outcome list = Maskctl("compile --local --remotes=" + Write("l", "[]") + " " + schema);
  EXPECT_THAT(list.output, HasSubstr("is no JSON object of documents"));
}

TEST_F(MaskctlTest, SeparatorsAreExact) {
  const std::string schema = Write("a.json", R"({"type": "object"})");
  const std::string check = "check --local --item_separator=', ' --key_separator=': ' " + schema;
  EXPECT_EQ(Maskctl(check + R"( --text='{"a": [1, 2]}')").exit, 0);
  EXPECT_EQ(Maskctl(check + R"( --text='{"a":[1, 2]}')").exit, 1);
  const Outcome wrong = Maskctl("compile --local --item_separator=x " + schema);
  EXPECT_THAT(wrong.output, HasSubstr("options.item_separator: must be ','"));
}

TEST_F(MaskctlTest, IndentationIsExact) {
  const std::string schema = Write("a.json", R"({"type": "array"})");
  const std::string check = "check --local --indent=2 " + schema;
  EXPECT_EQ(Maskctl(check + " --text='[\n  1\n]'").exit, 0);
  EXPECT_EQ(Maskctl(check + " --text='[1]'").exit, 1);
  const Outcome wrong = Maskctl("compile --local --indent=17 " + schema);
  EXPECT_THAT(wrong.output, HasSubstr("options.indent: 17 is not in [0, 16]"));
  const Outcome bounds = Maskctl("explain --local --indent=2 " + schema);
  EXPECT_THAT(bounds.output, Not(HasSubstr("options.max_whitespace")));
}

TEST_F(MaskctlTest, AMissingFileIsSaid) {
  const Outcome outcome = Maskctl("compile --local /nonexistent/a.json");
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.output,
              HasSubstr("/nonexistent/a.json: cannot be read: No such file or directory"));
  const Outcome folder = Maskctl("compile --local " + directory_.string());
  EXPECT_THAT(folder.output, HasSubstr(": cannot be read: Is a directory"));
  const Outcome schemas = RunShell(
      absl::StrCat("cd ", directory_.string(), " && ", MASKD_MASKCTL, " simulate --local"));
  EXPECT_THAT(schemas.output, HasSubstr("--schemas: examples/schemas: No such file or directory; "
                                        "name files of schemas instead"));
}

TEST_F(MaskctlTest, AMissingVocabularyIsSaid) {
  const std::string schema = Write("a.json", "true");
  const Outcome outcome =
      Maskctl("compile --local --tokenizer=/nonexistent/tokenizer.json " + schema);
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.output, HasSubstr("/nonexistent/tokenizer.json"));
  // No word stands for the embedded vocabulary but its name.
  for (const char* name : {"tokenizer.json", "llama3"}) {
    const Outcome relative =
        Maskctl(absl::StrCat("compile --local --tokenizer=", name, " ", schema));
    EXPECT_EQ(relative.exit, 1) << relative.output;
    EXPECT_THAT(relative.output, HasSubstr(absl::StrCat(": ", name, ": no such file")));
  }
  EXPECT_EQ(Maskctl("compile --local --tokenizer=bytes " + schema).exit, 0);
}

TEST_F(MaskctlTest, APathIsAVocabularyNamedAfterItself) {
  const std::string path = Write("two.tiktoken", "YQ== 0\nYg== 1\n");
  const Outcome outcome = RunShell(absl::StrCat(
      "cd ", directory_.string(), " && ", MASKD_MASKCTL, " tokens --local --tokenizer='",
      std::filesystem::path(path).filename().string(), ",special=<e>:2,stop=<e>'"));
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
  EXPECT_THAT(outcome.output, StartsWith("two: 3 tokens, stop ids 2"));
}

TEST_F(MaskctlTest, CheckAnswersYesOrNo) {
  const std::string schema = Write("a.json", R"({"enum": ["red", "green"]})");
  const Outcome yes = Maskctl("check --local " + schema + R"( --text='"red"')");
  EXPECT_EQ(yes.exit, 0) << yes.output;
  EXPECT_EQ(yes.output, "accepted\n");
  const Outcome open = Maskctl("check --local " + schema + R"( --text='"re')");
  EXPECT_EQ(open.exit, 1);
  EXPECT_EQ(open.output, "accepted so far, but the text may not end here\n");
  const Outcome no = Maskctl("check --local " + schema + R"( --text='"rod"')");
  EXPECT_EQ(no.exit, 1);
  EXPECT_THAT(no.output, StartsWith("refused at byte 2: \"o\"\n"));
  EXPECT_THAT(no.output, HasSubstr("allowed     2 tokens, such as \"\\\\\" \"e\""));
}

TEST_F(MaskctlTest, CheckTakesTokensAndFiles) {
  const std::string schema = Write("a.json", R"({"const": 7})");
  const Outcome tokens = Maskctl("check --local " + schema + " --tokens=55,256");
  EXPECT_EQ(tokens.exit, 0) << tokens.output;
  EXPECT_EQ(tokens.output, "accepted, finished by a stop token\n");
  const Outcome file = Maskctl("check --local " + schema + " --text_file=" + Write("t", "7"));
  EXPECT_EQ(file.exit, 0) << file.output;
}

TEST_F(MaskctlTest, ExplainShowsTheRules) {
  const std::string schema = Write("a.json", R"(["yes", "no"])");
  const Outcome outcome = Maskctl("explain --local --kind=choice " + schema);
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("kind        choice"));
  EXPECT_THAT(outcome.output, HasSubstr("yes"));
}

TEST_F(MaskctlTest, ExplainListsWhatIsBounded) {
  const std::string schema = Write(
      "b.json",
      R"({"properties": {"h": {"type": "string", "format": "hostname"}, "d": {"format": "uuid"}}})");
  const Outcome outcome = Maskctl("explain --local --max_whitespace=3 " + schema);
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              HasSubstr("bound       options.max_whitespace: white space: at most 3 characters"));
  EXPECT_THAT(outcome.output, HasSubstr("bound       options.max_number_digits: numbers: at most"));
  EXPECT_THAT(outcome.output, HasSubstr("bound       /properties/h/format: format hostname:"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("/properties/d/format:")));
}

TEST_F(MaskctlTest, TokensListsAndShows) {
  const Outcome list = Maskctl("tokens --local");
  EXPECT_EQ(list.exit, 0) << list.output;
  EXPECT_THAT(list.output, HasSubstr("257 tokens, stop ids 256"));
  const Outcome id = Maskctl("tokens --local --id=65,10,256");
  EXPECT_EQ(id.exit, 0);
  EXPECT_EQ(id.output, "       65  \"A\"\n       10  \"\\x0a\"\n      256  \"<|end|>\"  special\n");
  const Outcome text = Maskctl("tokens --local --text=B");
  EXPECT_EQ(text.output, "       66  \"B\"\n");
  EXPECT_EQ(Maskctl("tokens --local --text=BB").exit, 1);
  EXPECT_EQ(Maskctl("tokens --local --id=257").exit, 1);
}

TEST_F(MaskctlTest, TokensShowsWhatAGrammarAllows) {
  const std::string schema = Write("a.json", R"({"enum": ["red", "rot"]})");
  const Outcome outcome =
      Maskctl("tokens --local --white_space=compact " + schema + " --after='\"r'");
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
  EXPECT_EQ(outcome.output,
            "      101  \"e\"\n      111  \"o\"\n"
            "2 of 257 tokens are allowed; the text may not end here\n");
  const Outcome any =
      Maskctl("tokens --local --white_space=compact --spelling=any " + schema + " --after='\"r'");
  EXPECT_EQ(any.output,
            "       92  \"\\\\\"\n      101  \"e\"\n      111  \"o\"\n"
            "3 of 257 tokens are allowed; the text may not end here\n");
  const Outcome refused = Maskctl("tokens --local " + schema + " --after=x");
  EXPECT_EQ(refused.exit, 1) << refused.output;
}

// Whether the texts of `path` satisfy their schemas, by another project's validator.
void ExpectValid(const std::string& path) {
  if (RunShell(kPython + " -c 'import jsonschema'").exit != 0)
    GTEST_SKIP() << "NOT VALIDATED: the Python package jsonschema is not installed";
  const Outcome outcome =
      RunShell(absl::StrCat(kPython, " ", kExamples, "/validate_json.py ", path));
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
}

TEST_F(MaskctlTest, SimulateEndsEveryTextForAnySeed) {
  for (const int seed : {1, 2, 3}) {
    const Outcome outcome =
        Maskctl(absl::StrCat("simulate --local --max_tokens=1500 --seed=", seed,
                             " --schemas=", kExamples, "/schemas --out=", Path("out.jsonl")));
    ASSERT_EQ(outcome.exit, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("held to invoice"));
    EXPECT_THAT(outcome.output, HasSubstr("wait for the masks after it"));
    const std::string lines = ReadAll(Path("out.jsonl"));
    EXPECT_EQ(std::ranges::count(lines, '\n'), 5);
    ExpectValid(Path("out.jsonl"));
  }
}

TEST_F(MaskctlTest, SimulateGivesTheSameTextsForTheSameSeed) {
  const std::string command =
      absl::StrCat("simulate --local --max_tokens=1500 --schemas=", kExamples, "/schemas --out=");
  ASSERT_EQ(Maskctl(command + Path("one")).exit, 0);
  ASSERT_EQ(Maskctl(command + Path("two")).exit, 0);
  EXPECT_EQ(ReadAll(Path("one")), ReadAll(Path("two")));
  EXPECT_NE(ReadAll(Path("one")), "");
}

TEST_F(MaskctlTest, ASequenceThatCannotEndFailsTheSimulation) {
  const std::string schema = Write("a.json", R"({"type": "string", "minLength": 100})");
  const Outcome outcome = Maskctl(
      "simulate --local --sequences=1 --constrained=1 --max_tokens=20 --out=" + Path("out") + " " +
      schema);
  EXPECT_EQ(outcome.exit, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("the text has not ended after 20 tokens"));
  EXPECT_EQ(ReadAll(Path("out")), "");
}

TEST_F(MaskctlTest, AGrammarThatDoesNotCompileFailsItsSequenceOnly) {
  const std::string good = Write("good.json", R"({"const": true})");
  const std::string bad = Write("bad.json", R"({"type": "strange"})");
  const Outcome outcome =
      Maskctl("simulate --local --sequences=2 --constrained=2 " + good + " " + bad);
  EXPECT_EQ(outcome.exit, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("FAILED INVALID_ARGUMENT"));
  EXPECT_THAT(outcome.output, HasSubstr("held to good"));
  EXPECT_THAT(outcome.output, HasSubstr("\n  true\n"));
}

TEST_F(MaskctlTest, ValidatorFindsAWrongText) {
  if (RunShell(kPython + " -c 'import jsonschema'").exit != 0)
    GTEST_SKIP() << "NOT TESTED: the Python package jsonschema is not installed";
  const std::string path =
      Write("r.jsonl",
            "{\"name\": \"a\", \"schema\": {\"type\": \"integer\"}, \"text\": \"\\\"x\\\"\"}\n"
            "{\"name\": \"b\", \"schema\": {\"type\": \"integer\"}, \"text\": \"3\"}\n");
  const Outcome outcome =
      RunShell(absl::StrCat(kPython, " ", kExamples, "/validate_json.py ", path));
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.output, HasSubstr("a: INVALID: $: 'x' is not of type 'integer'"));
  EXPECT_THAT(outcome.output, HasSubstr("1 of 2 valid"));
}

// A server on a socket, as maskd runs it.
class ServedTest : public MaskctlTest {
 protected:
  void SetUp() override {
    service::Config config;
    config.listen = {address()};
    config.metrics_listen.clear();
    auto server = service::Server::Start(config);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  [[nodiscard]] std::string address() const { return absl::StrCat("unix:", Path("maskd.sock")); }

  std::unique_ptr<service::Server> server_;
};

TEST_F(ServedTest, CompilesOnceForAllCallers) {
  const std::string schema = Write("a.json", R"({"type": "boolean"})");
  const std::string command = absl::StrCat("compile --server=", address(), " ", schema);
  EXPECT_THAT(Maskctl(command).output, HasSubstr("from cache  no"));
  EXPECT_THAT(Maskctl(command).output, HasSubstr("from cache  yes"));
}

TEST_F(ServedTest, AnUnknownTokenizerIsRefused) {
  const std::string schema = Write("a.json", "true");
  const Outcome outcome =
      Maskctl(absl::StrCat("compile --tokenizer=gpt9 --server=", address(), " ", schema));
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.output, HasSubstr("NOT_FOUND"));
  EXPECT_THAT(outcome.output, HasSubstr("gpt9"));
}

TEST_F(ServedTest, SimulatesAgainstIt) {
  const Outcome outcome =
      Maskctl(absl::StrCat("simulate --max_tokens=1500 --server=", address(),
                           " --schemas=", kExamples, "/schemas --out=", Path("out.jsonl")));
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
  ExpectValid(Path("out.jsonl"));
}

TEST_F(ServedTest, BenchTimesWhatIsNewAndWhatIsKnown) {
  const std::string known = Write("known.json", R"({"type": "integer"})");
  const std::string command = absl::StrCat("bench --rows=1,3 --steps=50 --server=", address(), " ");
  const Outcome first = Maskctl(command + known);
  EXPECT_EQ(first.exit, 0) << first.output;
  EXPECT_THAT(first.output, ContainsRegex("COMPILES, ms .*\nnew +1 .*\n\nSTEPS, us"));
  const std::string fresh = Write("fresh.json", R"({"enum": ["a", "b"]})");
  const Outcome second = Maskctl(absl::StrCat(command, "--json ", known, " ", fresh));
  EXPECT_EQ(second.exit, 0) << second.output;
  EXPECT_THAT(second.output,
              ContainsRegex(R"(^\{"compiles":\{"new":\{"count":1,"p50_ms":[0-9.]+,.*)"
                            R"("known":\{"count":1,"p50_ms":[0-9.]+,.*)"
                            R"("steps":\[\{"rows":1,"count":50,"p50_us":[0-9.]+,.*)"
                            R"(\{"rows":3,"count":50,"p50_us":[0-9.]+,)"));
}

TEST_F(ServedTest, BenchEndsWhereAFileIsMissing) {
  const Outcome outcome =
      Maskctl(absl::StrCat("bench --steps=2 --server=", address(), " ", Path("none")));
  EXPECT_EQ(outcome.exit, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("none"));
}

TEST_F(ServedTest, ThePlainLoopWritesItsObject) {
  for (int seed = 1; seed <= 5; ++seed) {
    const Outcome outcome = RunShell(absl::StrCat(MASKD_PLAIN_LOOP, " ", address(), " ", seed));
    EXPECT_EQ(outcome.exit, 0) << outcome.output;
    EXPECT_THAT(outcome.output,
                ContainsRegex("^\\{\"city\":\"(Lima|Oslo|Kyoto)\",\"celsius\":-?[0-9.eE+-]+,"
                              "\"sky\":\"(sun|cloud|rain)\"\\}\n$"));
  }
}

}  // namespace
}  // namespace maskd
