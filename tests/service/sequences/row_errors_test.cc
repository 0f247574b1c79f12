#include "service/sequences/row_errors.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grammar_core/base/error.h"
#include "service/base/errors.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;

constexpr int kVocabulary = 100;

// "CODE place REASON", as a client's program sees an error.
std::string SaidOf(const absl::Status& status) {
  if (status.ok()) return "OK";
  return absl::StatusCodeToString(status.code()) + " " + ErrorPlace(status) + " " +
         WireReason(status);
}

TEST(RowErrorsTest, EachHasItsCodeAndReason) {
  EXPECT_EQ(SaidOf(RowNotFound(7)), "NOT_FOUND  ROW_NOT_FOUND");
  EXPECT_EQ(SaidOf(RowExists(7)), "ALREADY_EXISTS  ROW_ALREADY_OPEN");
  EXPECT_EQ(SaidOf(NotReady(7, "sleeps")), "FAILED_PRECONDITION  ROW_NOT_READY");
  EXPECT_THAT(NotReady(RowId{1} << 63, "sleeps").message(),
              HasSubstr("row 9223372036854775808 sleeps"));
  EXPECT_EQ(MissingResource(RowNotFound(7))->name, "7");
}

struct OptionsCase {
  const char* name;
  void (*set)(RowOptions* options);
  const char* said;
  FormTerms terms = {};
};

class RowOptionsTest : public testing::TestWithParam<OptionsCase> {};

TEST_P(RowOptionsTest, AreCheckedAgainstTheTerms) {
  const OptionsCase& test = GetParam();
  RowOptions options;
  test.set(&options);
  EXPECT_EQ(SaidOf(CheckOptions(options, test.terms, kVocabulary)), test.said);
}

INSTANTIATE_TEST_SUITE_P(
    Options, RowOptionsTest,
    testing::ValuesIn(std::vector<OptionsCase>{
        {"None", [](RowOptions* /*options*/) {}, "OK"},
        {"FirstAndLastToken", [](RowOptions* options) { options->stop_ids = {0, 99}; }, "OK"},
        {"StopIdPast", [](RowOptions* options) { options->stop_ids = {0, 100}; },
         "OUT_OF_RANGE stop_ids TOKEN_OUT_OF_RANGE"},
        {"StopIdBelow", [](RowOptions* options) { options->stop_ids = {-1}; },
         "OUT_OF_RANGE stop_ids TOKEN_OUT_OF_RANGE"},
        {"BiasPast",
         [](RowOptions* options) { options->biases = {{100, 1.0F}}; },
         "OUT_OF_RANGE biases TOKEN_OUT_OF_RANGE",
         {.biases = true}},
        {"BiasNotAskedFor", [](RowOptions* options) { options->biases = {{1, 1.0F}}; },
         "FAILED_PRECONDITION biases NOT_ASKED_FOR"},
        {"Bias",
         [](RowOptions* options) { options->biases = {{1, 1.0F}}; },
         "OK",
         {.biases = true}},
        {"TemperatureNotAskedFor",
         [](RowOptions* options) { options->temperature = 0.5F; },
         "FAILED_PRECONDITION temperature NOT_ASKED_FOR",
         {.biases = true}},
        {"Temperature",
         [](RowOptions* options) { options->temperature = 0.5F; },
         "OK",
         {.temperature = true}},
        {"ObservedWithAGate",
         [](RowOptions* options) {
           options->gate.emplace();
           options->observe = true;
         },
         "INVALID_ARGUMENT reasoning INVALID_REQUEST"},
        {"ObservedWithAMinimum",
         [](RowOptions* options) {
           options->min_tokens = 1;
           options->observe = true;
         },
         "INVALID_ARGUMENT min_tokens INVALID_REQUEST"},
        {"GateAndMinimum",
         [](RowOptions* options) {
           options->gate.emplace();
           options->min_tokens = 1;
         },
         "OK"},
    }),
    [](const auto& test) { return test.param.name; });

RowToMove Draft(std::vector<TokenId> tokens, std::vector<int> parents) {
  RowToMove move;
  move.drafts = std::move(tokens);
  move.draft_parents = std::move(parents);
  move.has_drafts = true;
  return move;
}

TEST(RowErrorsTest, DraftsAreTreesOfSoManyTokens) {
  EXPECT_EQ(SaidOf(CheckDrafts(RowToMove(), 0)), "OK");
  EXPECT_EQ(SaidOf(CheckDrafts(Draft({1, 2, 3}, {}), 3)), "OK");
  EXPECT_EQ(SaidOf(CheckDrafts(Draft({1, 2, 3}, {-1, 0, 0}), 3)), "OK");
  EXPECT_EQ(SaidOf(CheckDrafts(Draft({1, 2, 3}, {}), 2)),
            "RESOURCE_EXHAUSTED drafts.tokens LIMIT_EXCEEDED");
  for (const std::vector<int>& parents :
       {std::vector<int>{-1, 0}, {0, 0, 1}, {-1, 2, 1}, {-1, -2, 0}, {-1, 1, 0}, {-1, 0, 3}}) {
    EXPECT_THAT(SaidOf(CheckDrafts(Draft({1, 2, 3}, parents), 3)),
                testing::MatchesRegex("INVALID_ARGUMENT drafts\\..* DRAFT_IS_NO_TREE"))
        << testing::PrintToString(parents);
  }
}

TEST(RowErrorsTest, ATokensErrorSaysWhichAndWhy) {
  EXPECT_EQ(SaidOf(TokenError(absl::InvalidArgumentError("no"), 0)),
            "INVALID_ARGUMENT tokens[0] TOKEN_REFUSED");
  EXPECT_EQ(SaidOf(TokenError(absl::OutOfRangeError("no"), 12)),
            "OUT_OF_RANGE tokens[12] TOKEN_OUT_OF_RANGE");
  EXPECT_EQ(SaidOf(TokenError(absl::ResourceExhaustedError("no"), 3)),
            "RESOURCE_EXHAUSTED tokens[3] STEP_LIMIT_EXCEEDED");
}

}  // namespace
}  // namespace maskd::service
