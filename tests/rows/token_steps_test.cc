// Every token that may be text, by the trie and token by token.
#include "grammar_core/rows/token_steps.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/automaton/state_terms.h"
#include "tests/oracle/prefix_oracle.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

const std::vector<std::string> kWords = {"ab",
                                         "abc",
                                         "abd",
                                         "ab",
                                         "\"a",
                                         "\":1",
                                         "{\"ab",
                                         "é",
                                         "12,",
                                         "]}",
                                         std::string(300, 'a')};  // beyond the trie
constexpr char kGrammar[] =
    R"({"type":"object","properties":{"ab":{"type":"array","items":{"type":"integer"}}},)"
    R"("additionalProperties":{"type":"string"}})";

struct Rows {
  SmallGrammar grammar_{"json_schema", kGrammar, kWords};
  RowStates states_{grammar_.shared_automaton()};
};
class TokenStepsTest : public testing::TestWithParam<const char*>, protected Rows {};
class TokenStepsOnceTest : public testing::Test, protected Rows {};

TEST_P(TokenStepsTest, ArriveIsCalledForEachTokenThatIsTaken) {
  PrefixOracle oracle(grammar_.ir());
  const PrefixOracle::State at = oracle.StepText(oracle.start(), GetParam());
  const Vocabulary& vocabulary = grammar_.index().vocabulary();
  std::multiset<TokenId> expected;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.IsSpecial(id)) continue;
    if (oracle.StepText(at, vocabulary.TokenBytes(id)) != PrefixOracle::kDead) expected.insert(id);
  }
  std::multiset<TokenId> met;
  const bool stopped = VisitTokenSteps(
      grammar_.index(), states_, RowMemory::Of(grammar_.Behind(GetParam())), grammar_.work(),
      [](RowStates::State, const TrieNode&) { return true; },
      [&](TokenId id, RowStates::State next) {
        met.insert(id);
        EXPECT_EQ(next, RowMemory::Of(grammar_.Behind(std::string(GetParam()) +
                                                      std::string(vocabulary.TokenBytes(id)))));
        return false;
      });
  EXPECT_FALSE(stopped);
  EXPECT_EQ(met, expected);
  EXPECT_FALSE(met.empty());
}

INSTANTIATE_TEST_SUITE_P(Texts, TokenStepsTest,
                         testing::Values("", "{", "{\"", "{\"ab", "{\"ab\":[", "{\"x\":\"",
                                         "{\"ab\":[1", "{\"x\":\"a"));

// A string and its quote, a number and its comma: the same tokens as of the whole state, each with
// the state of the cell alone or of what is behind it.
TEST_P(TokenStepsTest, ACellIsWalkedWithoutItsTail) {
  const TermId whole = grammar_.Behind(GetParam());
  const TermStore& store = grammar_.automaton().store();
  const auto [cell, tail] = store.PartsOf(whole);
  const TermKind kind = store.term(cell).kind;
  if (kind != TermKind::kEncode && kind != TermKind::kNumber) return;
  std::map<TokenId, RowStates::State> expected;
  VisitTrieSteps(
      grammar_.index().trie(), states_, RowMemory::Of(whole), grammar_.work(),
      [](RowStates::State, const TrieNode&) { return true; },
      [&](TokenId id, RowStates::State next) {
        expected[id] = next;
        return false;
      });
  std::map<TokenId, RowStates::State> met;
  const TokenTrie& trie = grammar_.index().trie();
  VisitCellSteps(trie, 0, trie.nodes().size(), states_, RowMemory::Of(cell), RowMemory::Of(tail),
                 grammar_.work(), [&](TokenId id, RowStates::State next, bool is_within) {
                   const TermId at = RowMemory::TermOf(next);
                   const TermId joined = StateTerms(grammar_.automaton()).Join(at, tail);
                   met[id] = is_within ? RowMemory::Of(joined) : next;
                 });
  EXPECT_EQ(met, expected);
  EXPECT_FALSE(met.empty());
}

TEST_F(TokenStepsOnceTest, WhatIsNotEnteredIsLeftOut) {
  std::set<std::string> met;
  VisitTokenSteps(
      grammar_.index(), states_, RowMemory::Of(grammar_.Behind("{\"x\":\"")), grammar_.work(),
      [](RowStates::State, const TrieNode& node) { return node.depth < 3; },
      [&](TokenId id, RowStates::State) {
        met.emplace(grammar_.index().vocabulary().TokenBytes(id));
        return false;
      });
  EXPECT_TRUE(met.contains("ab"));
  EXPECT_FALSE(met.contains("abc"));
}

TEST_F(TokenStepsOnceTest, TheFirstTrueEndsIt) {
  int calls = 0;
  EXPECT_TRUE(VisitTokenSteps(
      grammar_.index(), states_, RowMemory::Of(grammar_.Behind("{\"x\":\"")), grammar_.work(),
      [](RowStates::State, const TrieNode&) { return true; },
      [&](TokenId, RowStates::State) { return ++calls == 3; }));
  EXPECT_EQ(calls, 3);
}

TEST_F(TokenStepsOnceTest, ASpentBudgetEndsIt) {
  Budget spent(Budget::Bounds{.work = 0});
  Work work(spent);
  EXPECT_FALSE(VisitTokenSteps(
      grammar_.index(), states_, RowMemory::Of(grammar_.Behind("{\"x\":\"")), work,
      [](RowStates::State, const TrieNode&) { return true; },
      [](TokenId, RowStates::State) { return false; }));
  EXPECT_FALSE(work.ok());
}

}  // namespace
}  // namespace maskd
