// The shared vectors and attacks of kind regex, by the engine with masks at every byte.
//
// Needs the shared data beside the repository, or in MASKD_SHARED_DIR; skipped where there is none.
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "tests/frontend/shared_vectors.h"
#include "tests/frontend/verdict.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

// A text expression of the attacks: see their README.
std::string Expanded(const Json& node) {
  if (node.is_string()) return node.get<std::string>();
  std::string all;
  if (node.is_array()) {
    for (const Json& part : node) all += Expanded(part);
  } else if (node.contains("hex")) {
    const auto hex = node["hex"].get<std::string>();
    for (std::size_t i = 0; i < hex.size(); i += 2)
      all.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  } else if (node.contains("repeat")) {
    const std::string part = Expanded(node["repeat"]);
    for (int i = 0; i < node["n"].get<int>(); ++i) all += part;
  } else {
    for (int i = node.value("from", 0); i < node["to"].get<int>(); ++i) {
      if (!all.empty()) all += Expanded(node.value("sep", Json("")));
      all += absl::StrReplaceAll(node["each"].get<std::string>(), {{"${i}", std::to_string(i)}});
    }
  }
  return all;
}

void ExpectVerdicts(const Json& texts, bool expected,
                    const std::shared_ptr<const CompiledGrammar>& grammar) {
  for (const Json& text : texts) {
    const absl::StatusOr<bool> accepts = AcceptsByMasks(grammar, Expanded(text));
    ASSERT_TRUE(accepts.ok()) << text << ": " << accepts.status();
    EXPECT_EQ(*accepts, expected) << text;
  }
}

// A language that holds no text is refused here, whatever its vector calls it.
void ExpectRefusal(const Json& vector, const absl::Status& status) {
  EXPECT_TRUE(IsClearError(status)) << status;
  if (vector["expect"] != "ok") return;
  if (vector["note"] == "absurd count: clear error") {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    return;
  }
  EXPECT_TRUE(vector["accepts"].empty() && IsEmptyLanguage(status)) << status;
}

TEST(RegexVectorsTest, AllAsStatedOrRefused) {
  const std::vector<Json> vectors = SharedLines("vectors/grammar-open.jsonl");
  if (vectors.empty()) GTEST_SKIP() << "SKIPPED: shared/vectors is not there (MASKD_SHARED_DIR)";
  int right = 0;
  int refused = 0;
  for (const Json& vector : vectors) {
    if (vector["kind"] != "regex") continue;
    SCOPED_TRACE(vector["id"].get<std::string>() + " " + vector["grammar"].get<std::string>());
    const auto compiled = CompilePattern(vector["grammar"].get<std::string>());
    if (compiled.ok()) {
      ++right;
      EXPECT_NE(vector["expect"], "error");
      ExpectVerdicts(vector["accepts"], true, *compiled);
      ExpectVerdicts(vector["rejects"], false, *compiled);
    } else {
      ++refused;
      if (vector["expect"] != "error")
        std::cout << vector["id"] << ": " << compiled.status() << "\n";
      ExpectRefusal(vector, compiled.status());
    }
  }
  std::cout << right << " vectors compiled, " << refused << " refused\n";
  EXPECT_GT(right, 0);
}

// Of the open vectors, the texts on which dialects differ: ours are ECMA-262's, but for [:names:].
TEST(RegexVectorsTest, WhereDialectsDifferEcmaHolds) {
  int texts = 0;
  const std::vector<Json> vectors = SharedLines("vectors/grammar-open.jsonl");
  if (vectors.empty()) GTEST_SKIP() << "SKIPPED: shared/vectors is not there (MASKD_SHARED_DIR)";
  for (const Json& vector : vectors) {
    if (vector["kind"] != "regex" || !vector.contains("differs")) continue;
    const auto compiled = CompilePattern(vector["grammar"].get<std::string>());
    ASSERT_TRUE(compiled.ok()) << vector["id"];
    for (const Json& text : vector["differs"]) {
      const Json& verdicts = text["verdicts"];
      const Json& expected = verdicts.contains("ecma_u") ? verdicts["ecma_u"] : verdicts["re2"];
      EXPECT_EQ(*AcceptsByMasks(*compiled, text["text"].get<std::string>()), expected.get<bool>())
          << vector["id"] << " " << text["text"];
      ++texts;
    }
  }
  EXPECT_GT(texts, 0);
}

void Attack(const Json& attack) {
  const std::string payload =
      Expanded(attack.contains("recipe") ? attack["recipe"] : attack["payload"]);
  const auto compiled = CompilePattern(payload);
  if (compiled.ok()) {
    EXPECT_NE(attack["expected"], "error");
    ExpectVerdicts(attack.value("accept", Json::array()), true, *compiled);
    ExpectVerdicts(attack.value("reject", Json::array()), false, *compiled);
    return;
  }
  EXPECT_TRUE(IsClearError(compiled.status())) << compiled.status();
  EXPECT_TRUE(attack["expected"] == "error" || attack.value("may_refuse", false))
      << compiled.status();
  std::cout << attack["id"] << ": " << compiled.status() << "\n";
}

// Within the work that a compile and a step may take; `attacks` holds the time against the budget.
TEST(RegexAttacksTest, EachIsAnsweredAsItSays) {
  const std::vector<Json> attacks = SharedLines("attacks/regex.jsonl");
  if (attacks.empty()) GTEST_SKIP() << "SKIPPED: shared/attacks is not there (MASKD_SHARED_DIR)";
  for (const Json& attack : attacks) {
    SCOPED_TRACE(attack["id"].get<std::string>());
    Attack(attack);
  }
}

}  // namespace
}  // namespace maskd
