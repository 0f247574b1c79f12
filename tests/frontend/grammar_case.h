// A grammar and texts that it must take or refuse, held by the engine's masks and by the slow
// recogniser; and grammars that must be refused, with the beginning of the message.
#ifndef MASKD_TESTS_FRONTEND_GRAMMAR_CASE_H_
#define MASKD_TESTS_FRONTEND_GRAMMAR_CASE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/frontend/verdict.h"

namespace maskd {

struct GrammarCase {
  std::string name;
  std::string kind;
  std::string grammar;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

struct FaultyGrammar {
  std::string name;
  std::string kind;
  std::string grammar;
  absl::StatusCode code;
  // "line:column: message", or how it begins.
  std::string message;
};

template <typename Case>
std::string CaseName(const testing::TestParamInfo<Case>& test) {
  return test.param.name;
}

inline void ExpectVerdicts(const GrammarCase& wanted) {
  const auto compiled = CompileOverBytes(wanted.kind, wanted.grammar);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto read = ReadForTest(wanted.kind, wanted.grammar);
  ASSERT_TRUE(read.ok());
  IrRecognizer recognizer(read->ir);
  // Texts are no tokens to the recogniser.
  const bool both = read->ir.token_specs.empty() && !LimitsTokens(read->ir);
  const auto check = [&](const std::string& text, bool expected) {
    if (both) EXPECT_EQ(recognizer.Accepts(text), expected) << text;
    const absl::StatusOr<bool> accepts = AcceptsByMasks(*compiled, text);
    ASSERT_TRUE(accepts.ok()) << text << ": " << accepts.status();
    EXPECT_EQ(*accepts, expected) << text;
  };
  for (const std::string& text : wanted.accepts) check(text, true);
  for (const std::string& text : wanted.rejects) check(text, false);
}

inline void ExpectFault(const FaultyGrammar& wanted) {
  const absl::Status status = ReadForTest(wanted.kind, wanted.grammar).status();
  EXPECT_EQ(status.code(), wanted.code) << status;
  EXPECT_THAT(std::string(status.message()), testing::StartsWith(wanted.message));
}

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_GRAMMAR_CASE_H_
