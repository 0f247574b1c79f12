// The shared vectors of kinds gbnf, ebnf, lark and structural_tag, by the engine with masks at each
// byte, and, where no tokens are named, by the slow recogniser.
//
// Needs the shared data beside the repository, or in MASKD_SHARED_DIR; skipped where there is none.
#include <iostream>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/frontend/shared_vectors.h"
#include "tests/frontend/verdict.h"

namespace maskd {
namespace {

using Json = nlohmann::json;

// Vectors that are refused although they could be held, and the construct that is not supported.
const absl::flat_hash_map<std::string, std::string>& NotSupported() {
  static const auto* const refused = new absl::flat_hash_map<std::string, std::string>{};
  return *refused;
}

void ExpectTexts(const Json& texts, bool expected, const ReducedGrammar& read,
                 const std::shared_ptr<const CompiledGrammar>& grammar) {
  IrRecognizer recognizer(read.ir);
  for (const Json& vector_text : texts) {
    const auto text = vector_text.get<std::string>();
    if (read.ir.token_specs.empty() && !LimitsTokens(read.ir))
      EXPECT_EQ(recognizer.Accepts(text), expected) << text;
    const absl::StatusOr<bool> accepts = AcceptsByMasks(grammar, text);
    ASSERT_TRUE(accepts.ok()) << text << ": " << accepts.status();
    EXPECT_EQ(*accepts, expected) << text;
  }
}

// A language that holds no text is refused here, whatever its vector calls it.
void ExpectRefusal(const Json& vector, const absl::Status& status) {
  EXPECT_TRUE(IsClearError(status)) << status;
  if (vector["expect"] != "ok") return;
  const auto listed = NotSupported().find(vector["id"].get<std::string>());
  if (listed != NotSupported().end()) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    EXPECT_NE(status.message().find(listed->second), absl::string_view::npos) << status;
    return;
  }
  EXPECT_TRUE(vector["accepts"].empty() && IsEmptyLanguage(status)) << status;
}

class GrammarVectorsTest : public testing::TestWithParam<std::string> {};

TEST_P(GrammarVectorsTest, AllAsStatedOrRefused) {
  const std::vector<Json> vectors = SharedLines("vectors/grammar-open.jsonl");
  if (vectors.empty()) GTEST_SKIP() << "SKIPPED: shared/vectors is not there (MASKD_SHARED_DIR)";
  int right = 0;
  int refused = 0;
  for (const Json& vector : vectors) {
    if (vector["kind"] != GetParam()) continue;
    const auto text = vector["grammar"].get<std::string>();
    SCOPED_TRACE(vector["id"].get<std::string>() + " " + text);
    const auto compiled = CompileOverBytes(GetParam(), text);
    if (!compiled.ok()) {
      ++refused;
      std::cout << vector["id"] << ": " << compiled.status().message() << "\n";
      ExpectRefusal(vector, compiled.status());
      continue;
    }
    ++right;
    EXPECT_NE(vector["expect"], "error");
    const auto read = ReadForTest(GetParam(), text);
    ASSERT_TRUE(read.ok());
    ExpectTexts(vector["accepts"], true, *read, *compiled);
    ExpectTexts(vector["rejects"], false, *read, *compiled);
  }
  std::cout << right << " vectors compiled, " << refused << " refused\n";
  EXPECT_GT(right, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, GrammarVectorsTest,
                         testing::Values("gbnf", "ebnf", "lark", "structural_tag"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace maskd
