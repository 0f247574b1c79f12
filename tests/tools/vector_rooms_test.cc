// Test vectors: how a file is read, how verdicts are counted, and texts through a server's masks.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "tools/cli/connection.h"
#include "tools/cli/vectors/tally.h"
#include "tools/cli/vectors/text_runner.h"
#include "tools/cli/vectors/vector.h"

namespace maskd::cli {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ReadVectors, ReadsEachLine) {
  const auto vectors = ReadVectors(
      "\n"
      R"({"id": "a", "kind": "regex", "grammar": "x", "expect": "ok", "accepts": ["x"], "rejects": ["", "y"]})"
      "\n  \n"
      R"({"id": "b", "kind": "lark", "grammar": "", "expect": "exact-or-error", "accepts": [], "rejects": [], "more": 1})");
  ASSERT_TRUE(vectors.ok()) << vectors.status();
  ASSERT_EQ(vectors->size(), 2U);
  EXPECT_EQ((*vectors)[0].kind, "regex");
  EXPECT_THAT((*vectors)[0].accepts, ElementsAre("x"));
  EXPECT_THAT((*vectors)[0].rejects, ElementsAre("", "y"));
  EXPECT_EQ((*vectors)[1].expect, Expect::kExactOrError);
}

TEST(ReadVectors, AWrongLineIsNamed) {
  const char* const wrong[] = {
      "{", R"({"id": "a"})",
      R"({"id": "a", "kind": "k", "grammar": "", "expect": "maybe", "accepts": [], "rejects": []})",
      R"({"id": 1, "kind": "k", "grammar": "", "expect": "ok", "accepts": [], "rejects": []})",
      R"({"id": "a", "kind": "k", "grammar": "", "expect": "ok", "accepts": "x", "rejects": []})"};
  for (const char* line : wrong) {
    const auto vectors = ReadVectors(std::string("\n\n") + line);
    EXPECT_TRUE(absl::IsInvalidArgument(vectors.status())) << line;
    EXPECT_THAT(std::string(vectors.status().message()), StartsWith("line 3: ")) << line;
  }
}

Vector VectorOf(Expect expect, std::vector<std::string> accepts = {},
                std::vector<std::string> rejects = {}) {
  return {"v", "k", "", expect, std::move(accepts), std::move(rejects)};
}

TextVerdict Accepted() { return {true, 0, absl::OkStatus()}; }
TextVerdict RefusedAt(std::size_t byte) { return {false, byte, absl::OkStatus()}; }

TEST(VectorTally, CountsRefusals) {
  VectorTally tally;
  CountRefusal(VectorOf(Expect::kError), absl::InvalidArgumentError("x"), tally);
  CountRefusal(VectorOf(Expect::kEither), absl::UnimplementedError("x"), tally);
  CountRefusal(VectorOf(Expect::kExactOrError), absl::ResourceExhaustedError("x"), tally);
  const KindTotals& totals = tally.kinds["k"];
  EXPECT_EQ(totals.right, 3);
  EXPECT_EQ(totals.refused_open, 2);
  EXPECT_TRUE(tally.failures.empty());
  CountRefusal(VectorOf(Expect::kOk), absl::InvalidArgumentError("x"), tally);
  EXPECT_EQ(totals.not_compiled, 1);
  CountRefusal(VectorOf(Expect::kError), absl::InternalError("x"), tally);
  CountRefusal(VectorOf(Expect::kError), absl::InvalidArgumentError(""), tally);
  EXPECT_EQ(totals.unclear, 2) << "a failure, and a refusal without a word, are no answers";
  EXPECT_EQ(totals.vectors, 6);
  EXPECT_EQ(totals.right, 3);
  EXPECT_EQ(tally.failures.size(), 3U);
}

TEST(VectorTally, CountsTexts) {
  VectorTally tally;
  const Vector vector = VectorOf(Expect::kOk, {"a", "ab"}, {"c", "d"});
  CountTexts(vector, {Accepted(), Accepted(), RefusedAt(0), RefusedAt(1)}, tally);
  EXPECT_EQ(tally.kinds["k"].right, 1);
  EXPECT_EQ(tally.kinds["k"].texts, 4);
  CountTexts(vector, {Accepted(), RefusedAt(1), Accepted(), RefusedAt(0)}, tally);
  EXPECT_EQ(tally.kinds["k"].right, 1);
  EXPECT_EQ(tally.kinds["k"].wrongly_refused, 1);
  EXPECT_EQ(tally.kinds["k"].wrongly_accepted, 1);
  ASSERT_EQ(tally.failures.size(), 2U);
  EXPECT_EQ(tally.failures[0].what, "refused at byte 1: \"ab\"");
  EXPECT_EQ(tally.failures[1].what, "accepted: \"c\"");
  TextVerdict broken;
  broken.error = absl::InternalError("no mask");
  CountTexts(vector, {broken, Accepted(), RefusedAt(0), RefusedAt(0)}, tally);
  EXPECT_EQ(tally.kinds["k"].unclear, 1);
  EXPECT_EQ(tally.kinds["k"].texts, 11) << "an error is no verdict";
  CountTexts(VectorOf(Expect::kError), {}, tally);
  EXPECT_EQ(tally.kinds["k"].compiled, 1);
  EXPECT_EQ(tally.kinds["k"].right, 1);
}

TEST(VectorTally, TablesAddUp) {
  VectorTally tally;
  for (const char* kind : {"one", "two"}) {
    Vector vector = VectorOf(Expect::kOk, {"a"});
    vector.kind = kind;
    CountTexts(vector, {Accepted()}, tally);
  }
  tally.kinds_not_supported["three"] = 4;
  const std::string table = TallyTable(tally);
  EXPECT_THAT(table, HasSubstr("| all of these | 2 | 2 | 0 | 2 |"));
  EXPECT_THAT(table, HasSubstr("NOT RUN, there is no such kind of grammar: three (4 vectors)"));
  const json said = json::parse(TallyJson(tally));
  EXPECT_EQ(said["kinds"]["one"]["right"], 1);
  EXPECT_EQ(said["kinds_not_supported"]["three"], 4);
  EXPECT_TRUE(said["failures"].empty());
}

class TextRunnerTest : public testing::Test {
 protected:
  TextRunnerTest() {
    const std::vector<std::string> words = {"--local"};
    connection_ = *Connection::Open(*Flags::Parse(WithConnectionFlags({}), words));
  }
  std::string IdOf(const std::string& kind, const std::string& source) {
    v1::CompileRequest request;
    request.mutable_grammar()->set_kind(kind);
    request.mutable_grammar()->set_source(source);
    return connection_->client().Compile(request)->grammar_id();
  }

  std::unique_ptr<Connection> connection_;
};

TEST_F(TextRunnerTest, VerdictsSayWhereATextStops) {
  const auto runner = TextRunner::Open(*connection_, Spelling::kLongest, 1);
  ASSERT_TRUE(runner.ok()) << runner.status();
  EXPECT_EQ((*runner)->tokenizer().vocab_size(), 257U);
  const std::string id = IdOf("choice", R"(["ab","\u00e9"])");
  const std::vector<std::string> texts = {"ab", "\xC3\xA9", "a", "ac", "abb", ""};
  const auto verdicts = (*runner)->Run(id, texts);
  ASSERT_TRUE(verdicts.ok()) << verdicts.status();
  std::vector<std::string> said;
  for (const TextVerdict& verdict : *verdicts) {
    EXPECT_TRUE(verdict.error.ok()) << verdict.error;
    said.push_back(verdict.accepted ? "yes" : std::to_string(verdict.stopped_at));
  }
  EXPECT_THAT(said, ElementsAre("yes", "yes", "1", "1", "2", "0"));
  EXPECT_TRUE((*runner)->Run(id, {})->empty());
}

// Rows beyond what a stream may have are run behind the others.
TEST_F(TextRunnerTest, MoreTextsThanAStreamHasRows) {
  const auto runner = TextRunner::Open(*connection_, Spelling::kRandom, 1);
  ASSERT_TRUE(runner.ok()) << runner.status();
  std::vector<std::string> texts;
  for (int i = 0; i < 9000; ++i) texts.push_back(std::to_string(i));
  const auto verdicts = (*runner)->Run(IdOf("regex", "[0-9]{1,3}"), texts);
  ASSERT_TRUE(verdicts.ok()) << verdicts.status();
  ASSERT_EQ(verdicts->size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ((*verdicts)[i].accepted, i < 1000) << texts[i];
}

TEST_F(TextRunnerTest, AGrammarThatIsGoneIsNoVerdict) {
  const auto runner = TextRunner::Open(*connection_, Spelling::kShortest, 1);
  const std::vector<std::string> texts = {"a"};
  const auto verdicts = (*runner)->Run(std::string(64, '0'), texts);
  ASSERT_TRUE(verdicts.ok()) << verdicts.status();
  EXPECT_TRUE(absl::IsNotFound((*verdicts)[0].error));
}

TEST_F(TextRunnerTest, FlagsAreRead) {
  const auto flags = [](std::vector<std::string> words) {
    return *Flags::Parse(WithTextRunnerFlags({}), words);
  };
  EXPECT_TRUE(TextRunner::Open(*connection_, flags({})).ok());
  EXPECT_TRUE(TextRunner::Open(*connection_, flags({"--cut=random", "--seed=5"})).ok());
  EXPECT_FALSE(TextRunner::Open(*connection_, flags({"--cut=oddly"})).ok());
  EXPECT_FALSE(TextRunner::Open(*connection_, flags({"--seed=-1"})).ok());
}

}  // namespace
}  // namespace maskd::cli
