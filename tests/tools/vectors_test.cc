// maskctl vectors: what it counts, what it prints, and a real vocabulary.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "service/process/server.h"
#include "tests/tools/maskctl_run.h"

namespace maskd {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kRight[] =
    R"({"id": "a", "kind": "choice", "grammar": "[\"ab\", \"é\"]", "expect": "ok", "accepts": ["ab", "é"], "rejects": ["a", "abb", ""]})"
    "\n"
    R"({"id": "b", "kind": "choice", "grammar": "[]", "expect": "error", "accepts": [], "rejects": []})"
    "\n\n"
    R"({"id": "c", "kind": "regex", "grammar": "a(?=b)*", "expect": "exact-or-error", "accepts": [], "rejects": []})"
    "\n"
    R"({"id": "d", "kind": "regex", "grammar": "[0-9]{2,}", "expect": "ok", "accepts": ["12", "123"], "rejects": ["1", "x"], "note": "more fields are not read"})"
    "\n";

class WrongVectorTest : public MaskctlTest, public testing::WithParamInterface<WrongStatement> {};

// Vectors that state what is not so, each in one way.
INSTANTIATE_TEST_SUITE_P(
    Vectors, WrongVectorTest,
    testing::ValuesIn(std::vector<WrongStatement>{
        {"RightTextRefused",
         R"({"id": "x", "kind": "choice", "grammar": "[\"ab\"]", "expect": "ok", "accepts": ["ac"], "rejects": []})",
         "x: refused at byte 1: \"ac\"\n", "| choice | 1 | 0 | 0 | 1 | 0 | 1 | 0 | 0 | 0 |"},
        {"TextThatMayNotEnd",
         R"({"id": "x", "kind": "choice", "grammar": "[\"ab\"]", "expect": "ok", "accepts": ["a"], "rejects": []})",
         "x: refused at byte 1: \"a\"\n", "| choice | 1 | 0 | 0 | 1 | 0 | 1 | 0 | 0 | 0 |"},
        {"WrongTextAccepted",
         R"({"id": "x", "kind": "choice", "grammar": "[\"ab\"]", "expect": "ok", "accepts": [], "rejects": ["ab", "b"]})",
         "x: accepted: \"ab\"\n", "| choice | 1 | 0 | 0 | 2 | 1 | 0 | 0 | 0 | 0 |"},
        {"NotCompiled",
         R"({"id": "x", "kind": "regex", "grammar": "(", "expect": "ok", "accepts": [], "rejects": []})",
         "x: not compiled: INVALID_ARGUMENT", "| regex | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 |"},
        {"Compiled",
         R"({"id": "x", "kind": "regex", "grammar": "a", "expect": "error", "accepts": [], "rejects": []})",
         "x: compiled, though it is wrong\n", "| regex | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 |"},
    }),
    [](const auto& test) { return test.param.name; });

TEST_P(WrongVectorTest, IsPrintedAndCounted) {
  const Outcome outcome = Maskctl("vectors --local " + Write("v.jsonl", GetParam().line));
  EXPECT_EQ(outcome.exit, 1) << outcome.output;
  EXPECT_THAT(outcome.output, StartsWith(GetParam().printed));
  EXPECT_THAT(outcome.output, HasSubstr(GetParam().row));
}

TEST_F(MaskctlTest, RightVectorsAreATableOnly) {
  const Outcome outcome = Maskctl("vectors --local " + Write("v.jsonl", kRight));
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
  EXPECT_THAT(outcome.output, StartsWith("| kind | vectors | right |"));
  EXPECT_THAT(outcome.output, EndsWith("| choice | 2 | 2 | 0 | 5 | 0 | 0 | 0 | 0 | 0 |\n"
                                       "| regex | 2 | 2 | 1 | 4 | 0 | 0 | 0 | 0 | 0 |\n"
                                       "| all of these | 4 | 4 | 1 | 9 | 0 | 0 | 0 | 0 | 0 |\n"));
}

TEST_F(MaskctlTest, VectorsAsJson) {
  const Outcome outcome = Maskctl("vectors --local --json " + Write("v.jsonl", kRight));
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_THAT(outcome.output, StartsWith("{\"kinds\":{\"choice\":{\"vectors\":2,\"right\":2,"));
  EXPECT_THAT(outcome.output, EndsWith("\"kinds_not_supported\":{},\"failures\":[]}\n"));
}

TEST_F(MaskctlTest, VectorsOfAnUnknownKindAreNamedAndAreNoPass) {
  const std::string unknown =
      R"({"id": "x", "kind": "yacc", "grammar": "", "expect": "error", "accepts": [], "rejects": []})";
  const Outcome alone = Maskctl("vectors --local " + Write("alone.jsonl", unknown));
  EXPECT_EQ(alone.exit, 1);
  EXPECT_THAT(alone.output,
              HasSubstr("NOT RUN, there is no such kind of grammar: yacc (1 vectors)\n"));
  const Outcome among = Maskctl("vectors --local " + Write("among.jsonl", kRight + unknown));
  EXPECT_EQ(among.exit, 0) << among.output;
  EXPECT_THAT(among.output, HasSubstr("yacc (1 vectors)"));
}

TEST_F(MaskctlTest, AFileThatIsNoVectorsIsSaidWithItsLine) {
  const Outcome outcome =
      Maskctl("vectors --local " + Write("v.jsonl", "\n{\"id\": \"x\", \"kind\": \"choice\"}\n"));
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.output, HasSubstr("v.jsonl: line 2: grammar: is missing"));
}

TEST_F(MaskctlTest, VectorsHoldForAnySpellingInTokens) {
  const std::string vocabulary = MASKD_SOURCE_DIR "/build/vocab/llama3.tiktoken";
  if (!std::filesystem::exists(vocabulary))
    GTEST_SKIP() << "NOT TESTED: no " << vocabulary << "; scripts/fetch-vocab makes it";
  for (const char* spelling : {"longest", "shortest", "random --seed=7"}) {
    const Outcome outcome =
        Maskctl(absl::StrCat("vectors --local --tokenizer=llama3=", vocabulary,
                             ",preset=llama3 --cut=", spelling, " ", Write("v.jsonl", kRight)));
    EXPECT_EQ(outcome.exit, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("| all of these | 4 | 4 | 1 | 9 |"));
  }
}

TEST_F(MaskctlTest, VectorsOfAServer) {
  service::Config config;
  config.listen = {absl::StrCat("unix:", Path("maskd.sock"))};
  config.metrics_listen.clear();
  const auto server = service::Server::Start(config);
  ASSERT_TRUE(server.ok()) << server.status();
  const Outcome outcome = Maskctl(
      absl::StrCat("vectors --server=", config.listen.front(), " ", Write("v.jsonl", kRight)));
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
}

}  // namespace
}  // namespace maskd
