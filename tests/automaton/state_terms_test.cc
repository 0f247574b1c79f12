// What is made of states, against the texts that they must take.
#include "grammar_core/automaton/state_terms.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/terms/term_printer.h"
#include "grammar_core/terms/term_views.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

class StateTermsTest : public testing::Test {
 protected:
  // Whether `text` is a whole text from `state` on.
  static bool Takes(SmallGrammar& grammar, TermId state, absl::string_view text) {
    std::size_t taken = 0;
    const TermId end = grammar.automaton().StepText(state, text, &taken, grammar.work());
    return taken == text.size() && grammar.automaton().MayEnd(end);
  }

  SmallGrammar grammar_{"regex", "ax|by"};
  StateTerms terms_{grammar_.automaton()};
};

TEST_F(StateTermsTest, AChoiceTakesWhatEachBranchDoes) {
  const TermId either = terms_.Choice({grammar_.Behind("a"), grammar_.Behind("b")});
  EXPECT_TRUE(Takes(grammar_, either, "x"));
  EXPECT_TRUE(Takes(grammar_, either, "y"));
  EXPECT_FALSE(Takes(grammar_, either, "z"));
  EXPECT_EQ(terms_.Choice({}), kNothingTerm);
}

TEST_F(StateTermsTest, AJoinTakesOneBehindTheOther) {
  const TermId both = terms_.Join(grammar_.Behind("a"), grammar_.Behind("b"));
  EXPECT_TRUE(Takes(grammar_, both, "xy"));
  EXPECT_FALSE(Takes(grammar_, both, "x"));
  EXPECT_FALSE(Takes(grammar_, both, "yx"));
}

TEST_F(StateTermsTest, NamesLeadToTheirStates) {
  SmallGrammar grammar("json_schema",
                       R"({"type":"object","properties":{"a":{"const":1},"bc":{"const":2}},)"
                       R"("additionalProperties":false})");
  const StateTerms terms(grammar.automaton());
  const auto [cell, tail] = grammar.automaton().store().PartsOf(grammar.Behind("{\""));
  const ObjectTerms::NameTexts names = terms.NamesOf(cell, grammar.work());
  ASSERT_EQ(names.list.texts.size(), 2);
  EXPECT_EQ(*names.list.texts[1], U"bc");
  const TermId end = terms.EndOfName(cell, names.names[1], grammar.work());
  EXPECT_EQ(terms.Join(end, tail), grammar.Behind("{\"bc"));
}

TEST_F(StateTermsTest, WithoutBoundAStringHasAnyNumberOfCharacters) {
  SmallGrammar grammar("json_schema", R"({"type":"string","minLength":2,"maxLength":3})");
  const StateTerms terms(grammar.automaton());
  const auto [cell, tail] = grammar.automaton().store().PartsOf(grammar.Behind("\""));
  const TermId any = terms.Join(terms.WithoutBound(cell), tail);
  for (const char* text : {"ab\"", "abc\"", "abcdefgh\""}) EXPECT_TRUE(Takes(grammar, any, text));
  EXPECT_FALSE(Takes(grammar, any, "a\"")) << "too short still";
  EXPECT_FALSE(Takes(grammar, grammar.Behind("\""), "abcd\"")) << "the state itself is bound";
}

// A string of what is left of an Encode cell's characters, before another tail.
TEST_F(StateTermsTest, EncodedPutsATailBehindCharacters) {
  SmallGrammar grammar("json_schema", R"({"type":"string","minLength":2,"maxLength":3})");
  const StateTerms terms(grammar.automaton());
  const TermStore& store = grammar.automaton().store();
  const EncodeView text = AsEncode(store.term(store.PartsOf(grammar.Behind("\"")).cell));
  const TermId alone = terms.Encoded(text.characters, text.partial.spelling, kEmptyTerm);
  EXPECT_TRUE(Takes(grammar, alone, "ab"));
  EXPECT_FALSE(Takes(grammar, alone, "a"));
  EXPECT_FALSE(Takes(grammar, alone, "ab\""));
}

TEST_F(StateTermsTest, OnlyABegunArrayIsUnwrapped) {
  EXPECT_EQ(terms_.WithoutDistinct(grammar_.Behind("a")), grammar_.Behind("a"));
  SmallGrammar grammar("json_schema",
                       R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})");
  const StateTerms terms(grammar.automaton());
  const TermId begun = grammar.automaton().Step(grammar.automaton().start(), '[', grammar.work());
  EXPECT_NE(terms.WithoutDistinct(begun), begun);
  EXPECT_EQ(terms.SplitDistinct(begun).inside, terms.WithoutDistinct(begun));
  EXPECT_EQ(terms.SplitDistinct(begun).outside, kNothingTerm);
}

// Every string of up to four bytes leads somewhere from the one exactly where it does from the
// other, and no token is taken by its name any more.
TEST_F(StateTermsTest, TextBeforeNamesTakesTheSameBytes) {
  std::vector<std::string> strings = {""};
  for (std::size_t i = 0; strings[i].size() < 4; ++i)
    for (const char byte : {'a', 'b', '1'}) strings.push_back(strings[i] + byte);
  for (const char* const rules : {
           "start: (/[ab]*/ <[65]> \"1\")* /[ab]*/",
           "start: (/[ab]+/ <[65]> \"1\")* /b?/ <[66]> \"a\"",
           "start: <[65]> \"1\" | /[ab]+/",
           "start: (<[65]> | <[66]> \"a\") \"b\" | \"a\" <[67]>",
           "start: (\"a\" | <[65]>)* \"1\"",
           "start: x x? \"1\"\nx: \"a\" <[65]> | y\ny: \"b\" x | <[66]>",
           "start: (<[65]> \"a\")? (<[66]> \"b\")? \"1\"",
           "start: <[65]>+ \"a\"",
       }) {
    SmallGrammar grammar("lark", rules);
    const StateTerms terms(grammar.automaton());
    const TermId start = grammar.automaton().start();
    const TermId text = terms.TextBeforeNames(start);
    for (const std::string& string : strings) {
      const auto takes = [&](TermId state) {
        std::size_t taken = 0;
        grammar.automaton().StepText(state, string, &taken, grammar.work());
        return taken == string.size();
      };
      EXPECT_EQ(takes(text), takes(start))
          << rules << " " << string << " " << PrintTerm(grammar.automaton().store(), text);
    }
    EXPECT_EQ(terms.TextBeforeNames(text), text) << rules;
  }
  SmallGrammar free("lark", "start: (/[ab]*/ <[65]> \"1\")* /[ab]*/");
  const StateTerms terms(free.automaton());
  EXPECT_TRUE(terms.NamedSteps(terms.TextBeforeNames(free.automaton().start())).empty());
  EXPECT_FALSE(terms.NamedSteps(free.automaton().start()).empty());
}

TEST_F(StateTermsTest, AGrammarWithoutNamedTokensTakesNoneByName) {
  EXPECT_EQ(terms_.TextBeforeNames(grammar_.automaton().start()), grammar_.automaton().start());
  EXPECT_TRUE(terms_.NamedSteps(grammar_.automaton().start()).empty());
  EXPECT_EQ(terms_.BehindNamed(grammar_.automaton().start(), 'a'), kNothingTerm);
}

}  // namespace
}  // namespace maskd
