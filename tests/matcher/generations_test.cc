// Automatons that are full and give way: whatever a row has behind it, its masks are those of a row
// whose automaton is never full, and what a grammar holds levels off.
#include "grammar_core/rows/generations.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/closing.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/matcher/token_stepper.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

std::shared_ptr<TokenizerSpace> Space() {
  static const auto* const space = new std::shared_ptr(TokenizerSpace::Create(TestVocabulary()));
  return *space;
}

std::shared_ptr<const CompiledGrammar> Compiled(const GrammarSource& source, const Limits& limits) {
  Budget budget = Budget::Unlimited();
  auto grammar = CompileGrammar(source, Space(), limits, budget);
  EXPECT_TRUE(grammar.ok()) << grammar.status();
  return grammar.ok() ? *grammar : nullptr;
}

Limits GenerationsOf(std::int64_t bytes) {
  Limits limits;
  limits.generation_bytes = bytes;
  return limits;
}

TokenId AnyOf(const TokenMask& mask, Random* random) {
  std::vector<TokenId> ids;
  mask.VisitAllowed([&](TokenId id) { ids.push_back(id); });
  return ids[(*random)() % ids.size()];
}

struct MoveCase {
  const char* name;
  GrammarSource source;
};

GrammarOptions AnyOrder() {
  GrammarOptions options;
  options.property_order = PropertyOrder::kAny;
  return options;
}

GrammarOptions Indented() {
  GrammarOptions options;
  options.indent = 2;
  return options;
}

class MovesTest : public testing::TestWithParam<MoveCase> {
 protected:
  const std::shared_ptr<const CompiledGrammar> steady_ =
      Compiled(GetParam().source, GenerationsOf(std::numeric_limits<std::int32_t>::max()));
};

// One text after the other, with forks, rollbacks of any length and closing in time, beside the
// same in an automaton that is never full.
TEST_P(MovesTest, GiveTheMasksOfASteadyAutomaton) {
  for (const std::int64_t bytes : {1, 1 << 12, 1 << 15}) {
    const auto moving = Compiled(GetParam().source, GenerationsOf(bytes));
    Random random(7);
    for (int text = 0; text < 12; ++text) {
      Matcher row(moving);
      Matcher steady(steady_);
      ClosingMasks closing;
      ClosingMasks steady_closing;
      for (int step = 0; step < 120 && !steady.finished(); ++step) {
        const auto mask = row.Mask();
        const auto same = steady.Mask();
        ASSERT_TRUE(mask.ok() && same.ok()) << mask.status() << same.status();
        ASSERT_EQ(**mask, **same) << "text " << text << " step " << step;
        ASSERT_EQ(row.may_end(), steady.may_end());
        if (step % 16 == 0) {
          ASSERT_EQ(*closing.Narrow(row.stepper(), row.place(), *mask, 60),
                    *steady_closing.Narrow(steady.stepper(), steady.place(), *same, 60));
        }
        const TokenId token = AnyOf(**same, &random);
        ASSERT_TRUE(row.Accept(token).ok());
        ASSERT_TRUE(steady.Accept(token).ok());
        if (random() % 24 == 0) {
          const int back = static_cast<int>(random() % (steady.token_count() + 1));
          ASSERT_TRUE(row.Rollback(back).ok());
          ASSERT_TRUE(steady.Rollback(back).ok());
        }
        if (random() % 16 == 0) row = row.Fork();
      }
    }
    if (bytes == 1) EXPECT_GT(moving->costs().renewals, 10);
    EXPECT_LE(moving->costs().automatons, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, MovesTest,
    testing::ValuesIn(std::vector<MoveCase>{
        {"AnyJson", {"json", "", {}}},
        {"AnyOrder",
         {"json_schema",
          R"({"properties":{"a":{"type":"integer"},"ab":{"type":"array","items":{"$ref":"#"}},
              "b":{"type":"string","maxLength":5},"é":{"const":null}},"required":["ab"],
              "additionalProperties":{"type":"boolean"},"minProperties":2,"type":"object"})",
          AnyOrder()}},
        {"Conditions",
         {"json_schema",
          R"({"type":"object","properties":{"k":{"enum":["x","y"]},"v":{"type":"integer"}},
              "if":{"properties":{"k":{"const":"x"}},"required":["k"]},"then":{"required":["v"]},
              "else":{"maxProperties":3}})",
          {}}},
        {"Numbers",
         {"json_schema",
          R"({"type":"array","items":{"type":"number","minimum":-3.5,"maximum":1e3,
              "multipleOf":0.25}})",
          {}}},
        {"Patterns",
         {"json_schema",
          R"({"type":"array","items":{"allOf":[{"pattern":"^(a|b)+c?"},{"not":{"pattern":"bb"}},
              {"maxLength":9}],"type":"string"}})",
          {}}},
        {"DistinctItems",
         {"json_schema",
          R"({"type":"array","uniqueItems":true,"items":{"anyOf":[{"type":"integer"},
              {"enum":["a","b",null]},{"type":"array","items":{"type":"boolean"},
              "uniqueItems":true}]},"minItems":2})",
          {}}},
        {"Indented",
         {"json_schema",
          R"({"$defs":{"t":{"type":"object","properties":{"l":{"$ref":"#/$defs/t"},
              "r":{"type":"array","items":{"$ref":"#/$defs/t"}}}}},"$ref":"#/$defs/t"})",
          Indented()}},
        {"Recursive", {"gbnf", "root ::= \"(\" root* \")\" | \"[\" root \"]\" | [a-c]+", {}}},
        {"Ambiguous", {"ebnf", R"(root ::= root root | "a" root "b" | "a")", {}}},
        {"TokensOfAPart",
         {"lark", "start: head \"-\" tail\nhead[max_tokens=4]: /[a-z]*/\ntail: /[0-9]+/\n", {}}},
    }),
    [](const auto& test) { return test.param.name; });

// Texts of one grammar, each unlike the others.
std::string NestedText(Random* random, int levels) {
  std::string open;
  std::string close;
  for (int i = 0; i < levels; ++i) {
    static constexpr const char* kOpen[] = {"[", "{\"\":", "[1,", "{\"a\":"};
    const std::size_t kind = (*random)() % 4;
    open += kOpen[kind];
    close.insert(close.begin(), kind % 2 == 0 ? ']' : '}');
  }
  return open + "0" + close;
}

TEST(Generations, LevelOffAndTakeEveryText) {
  const Limits limits = GenerationsOf(256 << 10);
  const auto grammar = Compiled({"json", "", {}}, limits);
  const std::int64_t compiled = grammar->costs().held_bytes + grammar->costs().mask_bytes;
  Random random(1);
  for (int text = 0; text < 200; ++text) {
    Matcher row(grammar);
    for (const char byte : NestedText(&random, 60)) {
      const auto mask = row.Mask();
      ASSERT_TRUE(mask.ok()) << mask.status();
      ASSERT_TRUE((*mask)->Allows(static_cast<unsigned char>(byte)));
      ASSERT_TRUE(row.Accept(static_cast<unsigned char>(byte)).ok());
    }
    EXPECT_TRUE(row.may_end());
    const GrammarCosts costs = grammar->costs();
    EXPECT_LT(costs.held_bytes + costs.mask_bytes, compiled + 4 * limits.generation_bytes);
  }
  EXPECT_GT(grammar->costs().renewals, 5);
}

// What a row writes is its own; others notice nothing.
TEST(Generations, OneRowThatNestsWithoutEndFailsAlone) {
  Limits limits;
  limits.row_cells = 5'000;
  const auto grammar = Compiled({"json", "", {}}, limits);
  Matcher deep(grammar);
  Matcher plain(grammar);
  ASSERT_TRUE(plain.Accept('[').ok());
  absl::Status taken;
  int levels = 0;
  for (; taken.ok() && levels < 10'000; ++levels) taken = deep.Accept('[');
  EXPECT_EQ(taken.code(), absl::StatusCode::kResourceExhausted) << taken;
  EXPECT_TRUE(absl::StrContains(taken.message(), "limit row_cells is 5000")) << taken;
  EXPECT_GT(levels, 1'000);
  for (const char byte : std::string_view("1,[2]]")) {
    ASSERT_TRUE(plain.Mask().ok());
    ASSERT_TRUE(plain.Accept(static_cast<unsigned char>(byte)).ok());
  }
  EXPECT_TRUE(plain.may_end());
  EXPECT_EQ(deep.token_count(), levels - 1);  // the refused one was not taken
  EXPECT_TRUE(deep.Rollback(levels - 2).ok());
  EXPECT_TRUE(deep.Accept(']').ok());
  EXPECT_TRUE(deep.may_end());
}

// A call that needs more than a shared automaton has left has one to itself.
TEST(Generations, ACallThatDoesNotFitIsMadeOnceMoreInAnEmptyAutomaton) {
  Limits limits = GenerationsOf(std::numeric_limits<std::int32_t>::max());
  limits.terms = 3'000;
  const auto grammar = Compiled({"json", "", {}}, limits);
  Random random(3);
  for (int text = 0; text < 60; ++text) {
    Matcher row(grammar);
    for (const char byte : NestedText(&random, 20)) {
      ASSERT_TRUE(row.Mask().ok());
      ASSERT_TRUE(row.Accept(static_cast<unsigned char>(byte)).ok()) << text;
    }
  }
}

TEST(Generations, ARowThatRestsLetsGoOfAFullAutomaton) {
  const auto grammar = Compiled({"json", "", {}}, GenerationsOf(1));
  Random random(5);
  std::vector<Matcher> idle;
  for (int i = 0; i < 20; ++i) {
    Matcher& row = idle.emplace_back(grammar);
    for (const char byte : NestedText(&random, 20)) {
      ASSERT_TRUE(row.Mask().ok());
      ASSERT_TRUE(row.Accept(static_cast<unsigned char>(byte)).ok());
    }
  }
  EXPECT_GT(grammar->costs().automatons, 10);
  for (const Matcher& row : idle) row.Rest();
  EXPECT_LE(grammar->costs().automatons, 2);
  for (const Matcher& row : idle) {
    EXPECT_TRUE(row.Mask().ok());
    EXPECT_TRUE(row.may_end());
  }
}

TEST(Generations, DroppingWhatWasLearntChangesNoMask) {
  const auto grammar = Compiled({"json", "", {}}, Limits());
  Matcher row(grammar);
  ASSERT_TRUE(row.Accept('[').ok());
  const MaskRef before = *row.Mask();
  grammar->generations().Drop();
  EXPECT_EQ(**row.Mask(), *before);
  EXPECT_EQ(grammar->costs().automatons, 1);
}

}  // namespace
}  // namespace maskd
