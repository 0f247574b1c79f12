// Each fault that a target can have is found, and a target without one passes.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "tests/attacks/fake_target.h"
#include "tools/attack/grammars/grammar_case.h"
#include "tools/attack/grammars/neighbours.h"
#include "tools/attack/grammars/row_steps.h"
#include "tools/attack/grammars/runner.h"

namespace maskd::attack {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What is wrong with the operations on a row of such a target.
CaseResult RunOperations(const Planted& planted, const json& steps) {
  const Tokens tokens = FakeTokens();
  FakeRow row(&planted, /*differs=*/false);
  CaseResult result;
  RowSteps(&row, &tokens).Run(steps, &result);
  return result;
}

TEST(RowSteps, RightAnswersPass) {
  const CaseResult result =
      RunOperations({}, {{{"op", "mask"}},
                         {{"op", "accept_text"}, {"text", {{"repeat", "a"}, {"n", 3}}}},
                         {{"op", "accept_text"}, {"text", "ab"}, {"ok", false}},
                         {{"op", "mask_same"}},
                         {{"op", "accept_token"}, {"token", kB}, {"ok", false}},
                         {{"op", "accept_token"}, {"token", "past the last"}, {"ok", false}},
                         {{"op", "accept_token"}, {"token", -1}, {"ok", false}},
                         {{"op", "rollback"}, {"n", 4}, {"ok", false}},
                         {{"op", "rollback"}, {"n", 1}},
                         {{"op", "fork"}, {"n", 2}},
                         {{"op", "mask_into"}, {"words", 1}, {"ok", false}},
                         {{"op", "mask_row"}, {"row", 1}, {"ok", false}},
                         {{"op", "special_masked"}},
                         {{"op", "mask_nonzero"}},
                         {{"op", "rollback_all"}},
                         {{"op", "end"}}});
  EXPECT_THAT(result.faults, IsEmpty());
  EXPECT_THAT(result.missing_operations, IsEmpty());
}

struct PlantedFault {
  const char* name;
  Planted planted;
  json steps;
  const char* said;
};

class RowFaultTest : public testing::TestWithParam<PlantedFault> {};

TEST_P(RowFaultTest, IsFound) {
  EXPECT_THAT(RunOperations(GetParam().planted, GetParam().steps).faults,
              Contains(HasSubstr(GetParam().said)));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, RowFaultTest,
    testing::ValuesIn(std::vector<PlantedFault>{
        {"TakesWhatItShouldNot",
         {.takes_b = true},
         {{{"op", "accept_text"}, {"text", "b"}, {"ok", false}}},
         "OK"},
        {"RefusesWhatItShouldTake", {}, {{{"op", "accept_text"}, {"text", "b"}}}, "refused"},
        {"MovesWhenItRefuses",
         {.moves_when_refused = true},
         {{{"op", "accept_token"}, {"token", kB}, {"ok", false}}},
         "the row has changed"},
        {"MovesByANumberThatIsNoToken",
         {.moves_when_refused = true},
         {{{"op", "accept_token"}, {"token", 99}, {"may_fail", true}}},
         "the row has changed"},
        {"ForkDiffers",
         {.forks_differ = true},
         {{{"op", "fork"}, {"n", 1}}},
         "a fork has another mask"},
        {"AllZero", {.mask_is_zero = true}, {{{"op", "mask"}}}, "the mask is all zero"},
        {"NoMask", {}, {{{"op", "end"}}, {{"op", "mask_nonzero"}}}, "there is no mask"},
        {"SpecialToken",
         {.allows_special = true},
         {{{"op", "special_masked"}}},
         "a special token is allowed"},
        {"AnInternalErrorIsNeverRight",
         {.mask_is_zero = true},
         {{{"op", "mask"}, {"may_fail", true}}},
         "all zero"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(RowSteps, AnOperationThatIsNotKnownIsMissing) {
  EXPECT_THAT(RunOperations({}, {{{"op", "jump"}}}).missing_operations, ElementsAre("jump"));
}

// A tree of drafts is given by each token's first child and next sibling.
TEST(RowSteps, DraftsAreGivenTheirParents) {
  const Planted planted;
  const Tokens tokens = FakeTokens();
  FakeRow row(&planted, false);
  CaseResult result;
  const auto draft = [&](const std::vector<int>& next, const std::vector<int>& sibling) {
    const json step = {
        {"op", "draft_tree"}, {"tokens", {kA, kA, kA}}, {"next", next}, {"sibling", sibling}};
    RowSteps(&row, &tokens).Run(json::array({step}), &result);
    return row.parents;
  };
  EXPECT_THAT(draft({1, -1, -1}, {-1, 2, -1}), ElementsAre(-1, 0, 0));
  EXPECT_THAT(draft({1, 2, -1}, {-1, -1, -1}), ElementsAre(-1, 0, 1));
  EXPECT_THAT(draft({5, -1, -1}, {-1, -1, -1}), ElementsAre(-1, -1, -1, -1, -1, 0))
      << "more parents than tokens";
  EXPECT_THAT(draft({-7, -1, -1}, {-1, -1, -1}), ElementsAre(-1, -1, -1)) << "no child";
  EXPECT_THAT(draft({1, -1, -1}, {-1, 1, -1}), ElementsAre(-1, 0, -1)) << "its own sibling";
  EXPECT_THAT(result.faults, IsEmpty());
}

std::vector<std::string> NeighbourFaults(const Planted& planted, const std::string& text) {
  const Tokens tokens = FakeTokens();
  FakeGrammar grammar(&planted);
  return Neighbours(&grammar, &tokens, text).Compare();
}

TEST(Neighbours, PlainRowsNoticeNothing) {
  EXPECT_THAT(NeighbourFaults({}, ""), IsEmpty());
  EXPECT_THAT(NeighbourFaults({}, "aaab"), IsEmpty());
}

TEST(Neighbours, ARowOpenedLaterThatDiffersIsFound) {
  EXPECT_THAT(NeighbourFaults({.later_rows_differ = true}, "a"),
              ElementsAre(AllOf(HasSubstr("opened after"), HasSubstr("another mask"))));
}

// Here the row stays at the end of its walk, and the walk over again is three tokens longer.
TEST(Neighbours, ARowThatIsMovedByTheCaseIsFound) {
  const Planted planted;
  const Tokens tokens = FakeTokens();
  FakeGrammar grammar(&planted);
  class Shared final : public Grammar {
   public:
    explicit Shared(Grammar* real) : row_(*real->Open()) {}
    absl::StatusOr<std::unique_ptr<Row>> Open() override {
      if (row_ == nullptr) return absl::UnavailableError("no more rows");
      one = row_.get();
      return std::move(row_);
    }
    Row* one = nullptr;

   private:
    std::unique_ptr<Row> row_;
  };
  Shared shared(&grammar);
  Neighbours neighbours(&shared, &tokens, "a");
  std::int64_t taken = 0;
  ASSERT_TRUE(shared.one->Take({&kStop, 1}, &taken).ok());  // what a case must not do to it
  const std::vector<std::string> faults = neighbours.Compare();
  EXPECT_THAT(faults, Contains(HasSubstr("has another mask where it stands")));
  EXPECT_THAT(faults, Contains(HasSubstr("no more rows")));
}

AttackCase GrammarCaseOf(const std::string& id) {
  AttackCase attack;
  attack.id = id;
  attack.format = "regex";
  attack.plain_payload = "a*";
  attack.budget_ms = 1000;
  return attack;
}

std::vector<std::string> CaseFaults(const AttackCase& attack, const Planted& planted) {
  FakeTarget target(planted);
  CaseResult result;
  RunGrammarCase(attack, "payload", &target, &result);
  EXPECT_THAT(target.payloads, ElementsAre("payload"));
  EXPECT_EQ(result.refused, !planted.refusal.ok());
  return result.faults;
}

TEST(GrammarCase, TextsAreTakenAndRefusedAsStated) {
  AttackCase attack = GrammarCaseOf("texts");
  attack.accept = {"", "a", "aaa"};
  attack.reject = {"b", "ab"};
  attack.needs_special_tokens = true;
  attack.steps = {{{"op", "end"}}};
  EXPECT_THAT(CaseFaults(attack, {}), IsEmpty());
  std::swap(attack.accept, attack.reject);
  EXPECT_THAT(CaseFaults(attack, {}),
              AllOf(Contains(HasSubstr("refuses \"ab\"")), Contains("lets \"aaa\" through")));
  EXPECT_THAT(CaseFaults(attack, {.allows_special = true}),
              Contains(HasSubstr("a special token is allowed")));
}

TEST(GrammarCase, ARefusalIsJudged) {
  AttackCase attack = GrammarCaseOf("refused");
  const Planted refusing = {.refusal = absl::InvalidArgumentError("why")};
  EXPECT_THAT(CaseFaults(attack, refusing), ElementsAre(HasSubstr("though it must compile")));
  attack.may_be_refused = true;
  EXPECT_THAT(CaseFaults(attack, refusing), IsEmpty());
  EXPECT_THAT(CaseFaults(attack, {.refusal = absl::InternalError("why")}),
              ElementsAre(HasSubstr("refused with INTERNAL")));
  EXPECT_THAT(CaseFaults(attack, {.refusal = absl::InvalidArgumentError("")}),
              Contains("the refusal does not say why"));
  EXPECT_THAT(CaseFaults(attack, {.refusal = absl::InvalidArgumentError("why"), .reason = ""}),
              Contains("the refusal does not say why"));
  EXPECT_THAT(CaseFaults(attack, {.refusal = absl::InvalidArgumentError(std::string(5000, 'x'))}),
              Contains("the refusal has 5000 bytes"));
  attack.codes = {"RESOURCE_EXHAUSTED"};
  EXPECT_THAT(CaseFaults(attack, refusing), ElementsAre(HasSubstr("refused with INVALID")));
  attack.must_be_refused = true;
  EXPECT_THAT(CaseFaults(attack, {}), ElementsAre("compiled, though it must be refused"));
}

TEST(Runner, GivesTimesAndMemoryOfItsProcess) {
  FakeTarget target;
  Runner runner({.target = &target, .process = ProcessWatch()});
  EXPECT_TRUE(runner.IsAlive());
  const CaseResult result = runner.Run(GrammarCaseOf("x"));
  EXPECT_THAT(result.faults, IsEmpty());
  EXPECT_THAT(target.payloads, ElementsAre("a*"));
  EXPECT_EQ(target.ended_cases, 1);
  EXPECT_GE(result.wall_ms, 0);
  EXPECT_GE(result.cpu_ms, 0);
  EXPECT_GE(result.growth_mib, 0);
}

TEST(Runner, ACaseOfAServerIsAbsentWithoutOne) {
  FakeTarget target;
  AttackCase attack = GrammarCaseOf("x");
  attack.format = "service";
  EXPECT_EQ(Runner({.target = &target}).Run(attack).absent, "a server");
  std::string ran;
  Runner runner({.target = &target, .server_case = [&](const AttackCase& each, CaseResult* result) {
                   ran = each.id;
                   result->idle_ms = 1e6;
                 }});
  EXPECT_LT(runner.Run(attack).wall_ms, 0) << "idle time is taken off";
  EXPECT_EQ(ran, "x");
  EXPECT_THAT(target.payloads, IsEmpty());
}

TEST(Runner, AProcessThatIsGoneIsAFault) {
  FakeTarget target;
  constexpr int kNobody = 0x3FFFFFFF;  // above any process
  Runner runner({.target = &target, .process = ProcessWatch(kNobody)});
  EXPECT_FALSE(runner.IsAlive());
  EXPECT_THAT(runner.Run(GrammarCaseOf("x")).faults, ElementsAre(HasSubstr("has ended")));
  EXPECT_FALSE(runner.HeldAfterwards().has_value());
}

// A case that is no case is a fault of its own, not the end of the run.
TEST(Runner, AWrongCaseIsAFault) {
  FakeTarget target;
  Runner runner({.target = &target});
  AttackCase attack = GrammarCaseOf("x");
  attack.recipe = {{"repeat", "a"}};
  EXPECT_THAT(runner.Run(attack).faults, ElementsAre(HasSubstr("the case itself: ")));
  attack = GrammarCaseOf("y");
  attack.steps = {{{"op", "rollback"}}, {{"op", "end"}}};
  EXPECT_THAT(runner.Run(attack).faults,
              ElementsAre(AllOf(HasSubstr("the case itself: "), HasSubstr("'n'"))));
}

}  // namespace
}  // namespace maskd::attack
