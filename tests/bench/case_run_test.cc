#include "bench/case_run.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/tokenizer/loader.h"

namespace maskd::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr TokenId kStop = 256;  // of the embedded bytes
constexpr double kSeconds = 60;

Instance Text(const std::string& text) {
  return {true, text, std::vector<TokenId>(text.begin(), text.end())};
}

CaseResult RunTexts(const std::string& schema, const std::vector<std::string>& texts) {
  Case one{"x", schema, {}};
  for (const std::string& text : texts) one.tests.push_back(Text(text));
  return RunCase(one, TokenizerSpace::Create(EmbeddedByteVocabulary()),
                 {.stop = kStop, .seconds = kSeconds});
}

TEST(RunCase, SaysWhatBecameOfEachInstance) {
  const CaseResult result = RunTexts(R"({"enum": [12]})", {"12", "1", "13"});
  EXPECT_EQ(result.status, "ok");
  ASSERT_EQ(result.tests.size(), 3);
  EXPECT_EQ(result.tests[0].got, "accept");
  EXPECT_EQ(result.tests[1].got, "no_eos");
  EXPECT_EQ(result.tests[2].got, "reject");
  EXPECT_EQ(result.tests[2].at, 1);
  // Two masks and acceptances, one of each, two masks and one acceptance.
  EXPECT_EQ(result.mask_us.size(), 5);
  EXPECT_EQ(result.accept_us.size(), 4);
  EXPECT_EQ(StepTimes(result).size(), 5);
}

TEST(RunCase, TellsKnownMasksFromNewOnes) {
  const CaseResult result = RunTexts(R"({"enum": [12]})", {"12", "12"});
  // The start's mask is made with the grammar.
  EXPECT_THAT(result.mask_known, ElementsAre(true, false, true, true));
}

TEST(RunCase, ASchemaThatDoesNotCompileIsAResult) {
  const CaseResult result = RunTexts(R"({"type": 3})", {"3"});
  EXPECT_EQ(result.status, "compile_error");
  EXPECT_THAT(result.error, HasSubstr("/type"));
  EXPECT_THAT(ResultLine(result, "open"),
              HasSubstr(R"("status":"compile_error","n_tests":1,"error":"INVALID_ARGUMENT)"));
}

TEST(RunCase, GivesUpAfterItsTime) {
  Case one{"x", R"({"enum": [12]})", {Text("12")}};
  const auto space = TokenizerSpace::Create(EmbeddedByteVocabulary());
  EXPECT_EQ(RunCase(one, space, {.stop = kStop, .seconds = 0}).status, "timeout");
}

TEST(KeepMinima, TakesTheSmallerOfEachTime) {
  CaseResult into;
  into.compile_us = 5;
  into.mask_us = {1, 4};
  into.accept_us = {7};
  CaseResult other = into;
  other.compile_us = 6;
  other.mask_us = {2, 3};
  other.accept_us = {6};
  KeepMinima(other, &into);
  EXPECT_EQ(into.compile_us, 5);
  EXPECT_THAT(into.mask_us, ElementsAre(1, 3));
  EXPECT_THAT(into.accept_us, ElementsAre(6));
}

TEST(StepTimes, AddTheAcceptanceToItsMask) {
  CaseResult result;
  result.mask_us = {1, 2, 3, 4};
  result.accept_us = {10, 20, 30};
  result.tests = {{.valid = true, .got = "reject", .error = "", .at = 1, .tokens = 2},
                  {.valid = true, .got = "accept", .error = "", .at = 2, .tokens = 2}};
  EXPECT_THAT(StepTimes(result), ElementsAre(11, 2, 23, 34));
}

TEST(ResultLine, HasTheFieldsOfTheFormat) {
  const std::string line = ResultLine(RunTexts(R"({"const": 1})", {"1"}), "open");
  for (const char* field :
       {R"("id":"x")", R"("split":"open")", R"("engine":"maskd")", R"("compile_us":)",
        R"("ttfm_us":)", R"("mem_bytes":)", R"("mask_us":[)", R"("accept_us":[)",
        R"("mask_known":"1")", R"("tests":[{"valid":true,"got":"accept","at":1,"tokens":1}])"}) {
    EXPECT_THAT(line, HasSubstr(field));
  }
}

}  // namespace
}  // namespace maskd::bench
