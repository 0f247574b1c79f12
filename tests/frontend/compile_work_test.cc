// Work is counted, so a verdict is the same wherever and whenever it is asked for.
#include <atomic>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

struct WorkCase {
  const char* name;
  const char* kind;
  const char* source;
  const char* text;  // of a step
};

struct Outcome {
  std::string status;  // its payloads have no order
  std::int64_t compile_units = 0;
  std::int64_t step_units = 0;
  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << outcome.status << ", " << outcome.compile_units << " and " << outcome.step_units;
}

class CompileWorkTest : public testing::TestWithParam<WorkCase> {
 protected:
  // With nothing known of before.
  static Outcome Run(const Budget::Bounds& bounds) {
    const auto space = TokenizerSpace::Create(EmbeddedByteVocabulary());
    Budget budget(bounds);
    const auto grammar =
        CompileGrammar({GetParam().kind, GetParam().source, {}}, space, Limits(), budget);
    Outcome outcome = {.status = absl::StrCat(absl::StatusCodeToString(grammar.status().code()),
                                              ": ", std::string(grammar.status().message())),
                       .compile_units = budget.spent()};
    if (!grammar.ok()) return outcome;
    Budget step = Budget::Unlimited();
    Work work(step);
    const std::shared_ptr<MaskedAutomaton> shared = (*grammar)->automaton();
    MaskedAutomaton& automaton = *shared;
    std::size_t taken = 0;
    const TermId state = automaton.StepText(automaton.start(), GetParam().text, &taken, work);
    automaton.Mask(state, work);
    EXPECT_TRUE(work.ok()) << work.error();
    outcome.step_units = step.spent();
    return outcome;
  }
  static Budget::Bounds OfWork(std::int64_t work) {
    Budget::Bounds bounds;
    bounds.work = work;
    return bounds;
  }
};

TEST_P(CompileWorkTest, IsTheSameEachTime) {
  const Outcome first = Run(OfWork(Limits().compile_work));
  EXPECT_EQ(first.status, "OK: ");
  EXPECT_GT(first.compile_units, 0);
  EXPECT_EQ(Run(OfWork(Limits().compile_work)), first);
}

TEST_P(CompileWorkTest, EndsItAtTheSameUnit) {
  const std::int64_t needed = Run(OfWork(Limits().compile_work)).compile_units;
  EXPECT_EQ(Run(OfWork(needed)).status, "OK: ");
  const Outcome refused = Run(OfWork(needed - 1));
  EXPECT_NE(refused.status.find("limit compile_work"), std::string::npos) << refused.status;
  EXPECT_EQ(Run(OfWork(needed - 1)), refused);
}

TEST_P(CompileWorkTest, IsNotWhatACallerCutsShort) {
  Budget::Bounds late;
  late.deadline = Budget::Clock::time_point::min();
  EXPECT_EQ(Run(late).status.substr(0, 17), "DEADLINE_EXCEEDED");
  const std::atomic<bool> yes = true;
  Budget::Bounds cancelled;
  cancelled.cancelled = &yes;
  EXPECT_EQ(Run(cancelled).status.substr(0, 9), "CANCELLED");
}

INSTANTIATE_TEST_SUITE_P(
    Sources, CompileWorkTest,
    testing::ValuesIn(std::vector<WorkCase>{
        {"Object", "json_schema",
         R"({"properties":{"a":{"type":"string","maxLength":9},"b":{"enum":[1,"x",null]},
             "c":{"type":"array","items":{"$ref":"#"}}},"required":["b"],
             "additionalProperties":{"type":"number","multipleOf":0.25}})",
         R"({"a":"xy","b":1,)"},
        {"Choice", "json_schema",
         R"({"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"integer"}}},
                      {"properties":{"k":{"const":"b"},"x":{"type":"string"}}},
                      {"properties":{"k":{"const":"c"},"x":{"not":{"type":"null"}}}}],
             "required":["k"]})",
         R"({"k":"b",)"},
        {"Patterns", "json_schema",
         R"({"type":"string","allOf":[{"pattern":"a.{3}b"},{"pattern":"b.{2}c"},
             {"not":{"pattern":"^[ab]*$"}}],"minLength":7,"maxLength":15})",
         "\"aab"},
        {"Distinct", "json_schema",
         R"({"type":"array","items":{"enum":["a","b","c","d"]},"uniqueItems":true,"minItems":2})",
         R"(["a",)"},
        {"Regex", "regex", "(?:(a){2}|.)*(?!b)[^c]{2,9}", "aax"},
        {"LeftRecursion", "gbnf",
         "root ::= sum\nsum ::= sum [+-] term | term\nterm ::= term \"*\" atom | atom\n"
         "atom ::= [0-9]+ | \"(\" sum \")\"\n",
         "(1+2)*"},
        {"Lark", "lark", "start: A (\",\" A)*\nA: /[a-z]{1,4}/ | \"q\"i\n", "ab,"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
