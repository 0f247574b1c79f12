// The tables against a plain map of what was put into them.
#include "grammar_core/derivatives/way_tables.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "tests/rooms/engine_parts.h"

namespace maskd {
namespace {

class WayTablesTest : public testing::Test {
 protected:
  TermId To(TermId state, int byte_class) {
    return StateWays(parts_.store.ways(state).load()).To(byte_class);
  }

  // Twenty letters lead on, each to a digit or letter of its own.
  static GrammarIr Ir() {
    IrBuilder b{Limits()};
    const RuleId start = b.DeclareRule("start", "1:1");
    std::vector<NodeId> words;
    for (int i = 0; i < 20; ++i)
      words.push_back(b.Bytes(std::string{static_cast<char>('a' + i), static_cast<char>('A' + i)}));
    b.DefineRule(start, b.Alt(std::move(words)));
    return *std::move(b).Build(start);
  }

  const GrammarIr ir_ = Ir();
  EngineParts parts_{ir_};
  FirstClasses first_{&parts_.store, &parts_.lowering, &parts_.classes};
  WayTables tables_{&parts_.store, &first_, parts_.classes.count()};
};

// Rests are dropped once a byte's way is put: they are what whole texts lead to, and no more.
TEST_F(WayTablesTest, RestsOfTokensStandWhereNoByteIsKnown) {
  const TermId state = parts_.start();
  const auto behind = [&](std::uint32_t id) {
    return StateWays(parts_.store.ways(state).load()).BehindRest(TokenRest(id, 0));
  };
  for (std::uint32_t id = 1; id <= 3; ++id)
    EXPECT_TRUE(tables_.PutRest(state, TokenRest(id, 0), TermId(100 + id)));
  EXPECT_FALSE(tables_.PutRest(state, TokenRest(4, 0), TermId(104)));
  for (std::uint32_t id = 1; id <= 3; ++id) EXPECT_EQ(behind(id), TermId(100 + id));
  EXPECT_EQ(behind(4), kUnknownTerm);
  tables_.Put(state, parts_.ClassOf('a'), TermId(1000));
  EXPECT_EQ(To(state, parts_.ClassOf('a')), TermId(1000));
  EXPECT_EQ(behind(1), kUnknownTerm);
  EXPECT_FALSE(tables_.PutRest(state, TokenRest(1, 0), TermId(101)));
}

// One, a few, more, then a row: whatever form a state's transitions have, they are those put.
TEST_F(WayTablesTest, EveryFormKeepsWhatWasPut) {
  const TermId state = parts_.start();
  std::map<int, TermId> put;
  std::vector<char> letters(20);
  for (std::size_t i = 0; i < letters.size(); ++i) letters[i] = static_cast<char>('a' + i);
  std::shuffle(letters.begin(), letters.end(), std::mt19937_64(5));
  std::size_t held = tables_.held_words();
  for (const char letter : letters) {
    const int byte_class = parts_.ClassOf(letter);
    if (!put.empty()) tables_.Widen(state);
    ASSERT_EQ(To(state, byte_class), kUnknownTerm) << letter;
    put[byte_class] = TermId(1000 + static_cast<std::uint32_t>(letter));
    tables_.Put(state, byte_class, put[byte_class]);
    for (const auto& [known, to] : put) ASSERT_EQ(To(state, known), to);
    EXPECT_GE(tables_.held_words(), held);
    held = tables_.held_words();
  }
  EXPECT_NE(StateWays(parts_.store.ways(state).load()).row(), nullptr);
  EXPECT_GT(tables_.held_bytes(), 0);
}

// A list knows by the state's form what leads nowhere: no step is made to find that out.
TEST_F(WayTablesTest, ASecondWayTellsWhichLeadNowhere) {
  const TermId state = parts_.start();
  tables_.Put(state, parts_.ClassOf('a'), TermId(1));
  EXPECT_EQ(To(state, parts_.ClassOf('!')), kUnknownTerm);
  tables_.Widen(state);
  EXPECT_EQ(To(state, parts_.ClassOf('!')), kNothingTerm);
  EXPECT_EQ(To(state, parts_.ClassOf('b')), kUnknownTerm);
  EXPECT_EQ(To(state, parts_.ClassOf('a')), TermId(1));
}

// A row of few targets at first, of any once there are too many; what was there stays.
TEST_F(WayTablesTest, ARowIsMadeOfWhatWasThere) {
  const TermId state = parts_.start();
  tables_.Put(state, parts_.ClassOf('a'), TermId(1000));
  std::vector<WayTables::Way> ways;
  for (const char letter : {'b', 'c', 'd', 'e'})
    ways.push_back({parts_.ClassOf(letter), TermId(1001)});
  tables_.PutAll(state, ways, 1);
  const auto form = [&] { return StateWays(parts_.store.ways(state).load()); };
  ASSERT_NE(form().packed_row(), nullptr);
  EXPECT_EQ(To(state, parts_.ClassOf('a')), TermId(1000));
  EXPECT_EQ(To(state, parts_.ClassOf('e')), TermId(1001));
  EXPECT_EQ(To(state, parts_.ClassOf('f')), kUnknownTerm);
  EXPECT_EQ(To(state, parts_.ClassOf('!')), kNothingTerm);
  for (const char letter : {'f', 'g', 'h', 'i', 'j', 'k', 'l'}) {
    tables_.Put(state, parts_.ClassOf(letter), TermId(1000 + static_cast<std::uint32_t>(letter)));
    EXPECT_EQ(form().packed_row() != nullptr, letter < 'j') << letter;
  }
  EXPECT_NE(form().row(), nullptr);
  EXPECT_EQ(To(state, parts_.ClassOf('a')), TermId(1000));
  EXPECT_EQ(To(state, parts_.ClassOf('e')), TermId(1001));
  EXPECT_EQ(To(state, parts_.ClassOf('j')), TermId(1000 + std::uint32_t{'j'}));
  EXPECT_EQ(To(state, parts_.ClassOf('m')), kUnknownTerm);
  EXPECT_EQ(To(state, parts_.ClassOf('!')), kNothingTerm);
}

TEST_F(WayTablesTest, ManyTargetsAtOnceAreARowOfAny) {
  const TermId state = parts_.start();
  const WayTables::Way way = {parts_.ClassOf('a'), TermId(5)};
  tables_.PutAll(state, {&way, 1}, PackedRow::kTargets + 1);
  EXPECT_NE(StateWays(parts_.store.ways(state).load()).row(), nullptr);
  EXPECT_EQ(To(state, parts_.ClassOf('a')), TermId(5));
}

TEST_F(WayTablesTest, StatesHaveTablesOfTheirOwn) {
  const TermId one = parts_.start();
  const TermId other = parts_.store.Byte('a');
  tables_.Put(one, parts_.ClassOf('a'), TermId(1));
  EXPECT_EQ(To(other, parts_.ClassOf('a')), kUnknownTerm);
}

}  // namespace
}  // namespace maskd
