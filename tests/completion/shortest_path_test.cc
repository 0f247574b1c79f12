// Shortest completions against a breadth-first search of the prefix oracle.
#include "grammar_core/completion/shortest_path.h"

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "gtest/gtest.h"

#include "tests/oracle/prefix_oracle.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

constexpr int kMost = 40;

// How many bytes the shortest text behind `state` has. Some shortest one is of printable ASCII: any
// other spelling takes as many bytes or more.
std::optional<int> FewestBytes(PrefixOracle* oracle, PrefixOracle::State state) {
  std::vector<PrefixOracle::State> layer = {state};
  std::unordered_set<PrefixOracle::State> met = {state};
  for (int bytes = 0; bytes <= kMost; ++bytes) {
    std::vector<PrefixOracle::State> next;
    for (const PrefixOracle::State at : layer) {
      if (oracle->MayEnd(at)) return bytes;
      for (int byte = ' '; byte <= '~'; ++byte) {
        const auto behind = oracle->Step(at, static_cast<unsigned char>(byte));
        if (behind != PrefixOracle::kDead && met.insert(behind).second) next.push_back(behind);
      }
    }
    layer = std::move(next);
  }
  return std::nullopt;
}

struct PathRow {
  const char* name;
  const char* kind;
  const char* grammar;
  std::vector<const char*> texts;
};

void PrintTo(const PathRow& row, std::ostream* out) { *out << row.name; }

class ShortestPathTest : public testing::TestWithParam<PathRow> {
 protected:
  SmallGrammar grammar_{GetParam().kind, GetParam().grammar};
  PrefixOracle oracle_{grammar_.ir()};
  RowStates states_{grammar_.shared_automaton()};
};

TEST_P(ShortestPathTest, IsAShortestText) {
  for (const char* text : GetParam().texts) {
    const RowStateId state = RowMemory::Of(grammar_.Behind(text));
    const PrefixOracle::State at = oracle_.StepText(oracle_.start(), text);
    const std::optional<int> fewest = FewestBytes(&oracle_, at);
    ASSERT_TRUE(fewest.has_value()) << text;
    const auto found = ShortestCompletion(states_, state, kMost, grammar_.work());
    ASSERT_TRUE(found.ok()) << found.status() << " " << text;
    EXPECT_EQ(found->size(), *fewest) << text << " -> " << *found;
    EXPECT_TRUE(oracle_.MayEnd(oracle_.StepText(at, *found))) << text << " -> " << *found;
  }
}

TEST_P(ShortestPathTest, IsSoLongAsSmallestCompletionSays) {
  for (const char* text : GetParam().texts) {
    const RowStateId state = RowMemory::Of(grammar_.Behind(text));
    const auto fewest =
        static_cast<std::uint32_t>(*FewestBytes(&oracle_, oracle_.StepText(oracle_.start(), text)));
    const auto smallest = [&](std::uint32_t most) {
      return *SmallestCompletion(states_, grammar_.index().vocabulary(), state, most,
                                 grammar_.work());
    };
    EXPECT_EQ(smallest(kMost), fewest) << text;
    EXPECT_EQ(smallest(fewest), fewest) << text;
    if (fewest > 0) EXPECT_EQ(smallest(fewest - 1), kNoEnd) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, ShortestPathTest,
    testing::ValuesIn(std::vector<PathRow>{
        {"Literal", "regex", "hello|help me", {"", "hel", "help", "hello"}},
        {"Count", "regex", "(ab){3,9}c?", {"", "a", "ababa", "abababab"}},
        {"Object",
         "json_schema",
         R"({"type":"object","properties":{"a":{"enum":["hundred","no"]},)"
         R"("b":{"enum":["x","yy"]}},"required":["b"],"additionalProperties":false})",
         {"", "{", "{\"a\":\"h", "{\"a\":\"no\",", "{\"b\":\"y"}},
        {"Conditions",
         "json_schema",
         R"({"type":"string","pattern":"b{2}","allOf":[{"pattern":"c"}],"minLength":4})",
         {"", "\"", "\"b", "\"abbc"}},
        {"Nested",
         "json_schema",
         R"({"anyOf":[{"type":"array","items":{"$ref":"#"}},)"
         R"({"type":"string","minLength":2}]})",
         {"", "[[[", "[[\"a", "[[],"}},
    }),
    [](const auto& info) { return info.param.name; });

TEST(ShortestCompletionTest, ATextBeyondItsBoundIsAnError) {
  SmallGrammar grammar("regex", "a{20}");
  const RowStates states(grammar.shared_automaton());
  const auto found =
      ShortestCompletion(states, RowMemory::Of(grammar.Behind("a")), 18, grammar.work());
  EXPECT_EQ(found.status().code(), absl::StatusCode::kResourceExhausted) << found.status();
}

TEST(ShortestTextsTest, ACellIsSearchedOnceAndThenKnown) {
  SmallGrammar grammar("regex", "[b-z]{3}(x|yy)");
  const RowStates states(grammar.shared_automaton());
  const TermId cell = grammar.automaton().store().PartsOf(grammar.Behind("b")).cell;
  ShortestTexts texts;
  EXPECT_FALSE(texts.Knows(cell));
  const auto found = texts.Of(states, cell, grammar.work());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->size(), grammar.automaton().MinBytes(cell));
  EXPECT_TRUE(texts.Knows(cell));
  EXPECT_EQ(texts.Known(cell), found);
  EXPECT_GT(texts.held_bytes(), 0);
  texts.Forget();
  EXPECT_FALSE(texts.Knows(cell));
  EXPECT_EQ(texts.held_bytes(), 0);
}

// Each cell that stands alone behind some beginning of a text, asked for first and after others:
// the same text both times, of as few bytes as the oracle finds.
TEST_P(ShortestPathTest, ACellHasOneTextWhateverWasAskedBefore) {
  ShortestTexts in_turn;
  for (const char* text : GetParam().texts) {
    const auto [cell, tail] = grammar_.automaton().store().PartsOf(grammar_.Behind(text));
    ShortestTexts alone;
    const auto found = alone.Of(states_, cell, grammar_.work());
    ASSERT_TRUE(found.has_value()) << text;
    EXPECT_EQ(in_turn.Of(states_, cell, grammar_.work()), found) << text;
    if (tail != kEmptyTerm) continue;
    const PrefixOracle::State at = oracle_.StepText(oracle_.start(), text);
    EXPECT_EQ(static_cast<int>(found->size()), *FewestBytes(&oracle_, at)) << text;
    EXPECT_TRUE(oracle_.MayEnd(oracle_.StepText(at, *found))) << text << " -> " << *found;
  }
}

TEST(ShortestTextsTest, CellsOnAStraightWayAreKnownWithIt) {
  SmallGrammar grammar("json_schema", R"({"type":"object","properties":{"a":{"type":"null"},)"
                                      R"("b":{"type":"null"}},"required":["a","b"],)"
                                      R"("additionalProperties":false})");
  const RowStates states(grammar.shared_automaton());
  const auto cell_behind = [&](const char* text) {
    return grammar.automaton().store().PartsOf(grammar.Behind(text)).cell;
  };
  ShortestTexts texts;
  EXPECT_EQ(texts.Of(states, cell_behind("{"), grammar.work()), R"("a":null,"b":null})");
  EXPECT_TRUE(texts.Knows(cell_behind("{\"a\":null")));
  EXPECT_EQ(texts.Known(cell_behind("{\"a\":null")), R"(,"b":null})");
  EXPECT_EQ(texts.Known(cell_behind("{\"a\":null,\"")), R"(b":null})");
}

TEST(ShortestTextsTest, NoneIsLongerThanEverCounted) {
  SmallGrammar grammar("regex", "a(bc){2100}");
  const RowStates states(grammar.shared_automaton());
  ShortestTexts texts;
  const TermId cell = grammar.automaton().store().PartsOf(grammar.Behind("a")).cell;
  EXPECT_EQ(texts.Of(states, cell, grammar.work()), std::nullopt);
  EXPECT_TRUE(texts.Knows(cell)) << "that there is none";
}

}  // namespace
}  // namespace maskd
