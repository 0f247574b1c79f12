// The names of several objects as one list; what follows each is compared by its mask.
#include "grammar_core/mask_routes/joined_names.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/terms/term_views.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

constexpr char kTwo[] =
    R"({"anyOf":[{"type":"object","properties":{"a":{"const":1},"ab":{"const":2}},)"
    R"("additionalProperties":false},)"
    R"({"type":"object","properties":{"ab":{"const":"x"},"c":{"const":4}},)"
    R"("additionalProperties":false}]})";

class JoinedNamesTest : public testing::Test {
 protected:
  // Adds each object's names behind `text`.
  void AddBehind(absl::string_view text) { Add(grammar_.Behind(text), kEmptyTerm); }
  std::vector<std::string> Texts() {
    std::vector<std::string> texts;
    for (const std::u32string* text : names_.Texts().texts)
      texts.emplace_back(text->begin(), text->end());
    return texts;
  }

  SmallGrammar grammar_{"json_schema", kTwo};
  JoinedNames names_{&grammar_.automaton(), &grammar_.work()};

 private:
  void Add(TermId state, TermId tail) {
    const TermStore& store = grammar_.automaton().store();
    const auto [cell, behind] = store.PartsOf(state);
    if (store.term(cell).kind == TermKind::kAlt) {
      for (const TermId branch : BranchesOf(store, store.term(cell)))
        Add(branch, StateTerms(grammar_.automaton()).Join(behind, tail));
    } else {
      ASSERT_TRUE(store.IsNames(cell));
      EXPECT_TRUE(names_.Add(cell, StateTerms(grammar_.automaton()).Join(behind, tail)));
    }
  }
};

TEST_F(JoinedNamesTest, AreOneSortedListWithoutRepetition) {
  AddBehind("{\"");
  EXPECT_EQ(names_.count(), 2);
  EXPECT_EQ(Texts(), (std::vector<std::string>{"a", "ab", "c"}));
}

// "ab" is of both objects: what follows is what either allows.
TEST_F(JoinedNamesTest, BehindAWholeNameAreTheObjectsThatHaveIt) {
  AddBehind("{\"");
  const std::vector<std::string> texts = Texts();
  MaskedAutomaton& automaton = grammar_.automaton();
  for (std::uint32_t i = 0; i < texts.size(); ++i) {
    const TermId end = names_.EndOf(i);
    for (const char* rest :
         {"\"", "\":", "\":1", "\":2", "\":\"x", "\":4", "\":2,\"", "\":\"x\","}) {
      std::size_t taken = 0;
      const TermId joined = automaton.StepText(end, rest, &taken, grammar_.work());
      const bool is_text = taken == std::string(rest).size();
      const std::string whole = "{\"" + texts[i] + rest;
      const TermId plain = automaton.StepText(automaton.start(), whole, &taken, grammar_.work());
      ASSERT_EQ(is_text, taken == whole.size()) << whole;
      if (!is_text) continue;
      EXPECT_TRUE(**automaton.Mask(joined, grammar_.work()) ==
                  **automaton.Mask(plain, grammar_.work()))
          << whole;
    }
  }
}

// Undeclared names of an open object and of a map: declared ones of either are told apart.
TEST_F(JoinedNamesTest, OtherNamesAreAllButWhatEachTakesOut) {
  SmallGrammar grammar("json_schema", R"({"type":"string"})");
  const TermStore& store = grammar.automaton().store();
  const CharTerm any = AsEncode(store.term(store.PartsOf(grammar.Behind("\"")).cell)).characters;
  ASSERT_TRUE(store.IsAllText(any));
  JoinedNames names(&grammar.automaton(), &grammar.work());
  const std::u32string a = U"a";
  const std::u32string b = U"b";
  EXPECT_FALSE(names.Others().has_value());
  EXPECT_FALSE(names.Add({.any = kEmptyTerm, .declared = {.texts = {&a}}})) << "not any name";
  EXPECT_TRUE(names.Add({.any = any, .declared = {.texts = {&a}}, .tail = kEmptyTerm}));
  EXPECT_TRUE(names.Add({.any = any, .declared = {.texts = {&b}}, .tail = kEmptyTerm}));
  EXPECT_EQ(names.count(), 2);
  const auto others = names.Others();
  ASSERT_TRUE(others.has_value());
  EXPECT_EQ(others->any, any);
  EXPECT_EQ(others->declared.texts, (std::vector<const std::u32string*>{&a, &b}));
}

// Sorted by characters is sorted by bytes for ASCII alone.
TEST_F(JoinedNamesTest, NamesBeyondAsciiAreNotJoined) {
  SmallGrammar grammar("json_schema", R"({"type":"object","properties":{"é":{"const":1}},)"
                                      R"("required":["é"],"additionalProperties":false})");
  JoinedNames names(&grammar.automaton(), &grammar.work());
  const auto [cell, tail] = grammar.automaton().store().PartsOf(grammar.Behind("{\""));
  EXPECT_FALSE(names.Add(cell, tail));
  EXPECT_EQ(names.count(), 0);
}

}  // namespace
}  // namespace maskd
