// Which states are strings of one set of characters, told apart by their length alone.
#include "grammar_core/matcher/closing_strings.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/matcher/token_stepper.h"
#include "grammar_core/rows/row_states.h"
#include "tests/matcher/test_vocabulary.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

struct Case {
  const char* name;
  const char* schema;
  const char* behind;  // the beginning of a text
  std::size_t strings;
  std::uint32_t own;  // characters behind which a state of its own is
};

class ClosingStringsTest : public testing::TestWithParam<Case> {};

TEST_P(ClosingStringsTest, AreThoseThatTheStateBeginsWith) {
  Budget budget = Budget::Unlimited();
  const auto grammar = CompileGrammar({"json_schema", GetParam().schema, {}},
                                      TokenizerSpace::Create(TestVocabulary()), Limits(), budget);
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  Matcher matcher(*grammar);
  for (const char* byte = GetParam().behind; *byte != '\0'; ++byte)
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(*byte)).ok()) << byte;
  const RowStates& row = matcher.stepper().states();
  const TermId state = row.Shared(matcher.place());
  Work work(budget);
  const ClosingStrings strings(&row, &work);
  const std::vector<TermId> found = strings.Of(state);
  EXPECT_EQ(found.size(), GetParam().strings);
  EXPECT_EQ(strings.ClosureOf(found).has_value(), GetParam().strings > 0);
  if (!found.empty()) EXPECT_EQ(strings.OwnCharacters(state, found), GetParam().own);
}

INSTANTIATE_TEST_SUITE_P(
    States, ClosingStringsTest,
    testing::ValuesIn(std::vector<Case>{
        {"NoString", R"({"type":"array","items":{"type":"string"}})", "[", 0, 0},
        {"AnyString", R"({"type":"array","items":{"type":"string"}})", "[\"", 1, 0},
        {"LongString", R"({"type":"array","items":{"type":"string","minLength":5}})", "[\"a", 1, 4},
        {"StringOfAPattern", R"({"type":"array","items":{"pattern":"^[a-z]+$","type":"string"}})",
         "[\"a", 1, 0},
        // What contains asks for, and what is too short or too long for it.
        {"ChoiceOfThree",
         R"({"type":"array","items":{"type":"string","maxLength":9},)"
         R"("contains":{"type":"string","minLength":3,"maxLength":6}})",
         "[\"", 3, 9},
        {"ChoiceOfWhichTheShortIsFull",
         R"({"type":"array","items":{"type":"string","maxLength":9},)"
         R"("contains":{"type":"string","minLength":1,"maxLength":6}})",
         "[\"", 2, 9},
        {"ChoiceWithoutAnEnd",
         R"({"type":"array","items":{"type":"string"},)"
         R"("contains":{"type":"string","minLength":1,"maxLength":6}})",
         "[\"", 2, 7},
        {"ChoiceOfAnyString",
         R"({"type":"array","items":{"type":"string"},)"
         R"("contains":{"type":"string","pattern":"^[a-z]{2,3}$"}})",
         "[\"", 0, 0},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ClosingStringsIsWithin, TellsWhetherBytesAreOfAClass) {
  CharacterClass characters;
  characters.ascii.set('a');
  const auto is_within = [&](std::string bytes) {
    const std::vector<unsigned char> all(bytes.begin(), bytes.end());
    return ClosingStrings::IsWithin(characters, all);
  };
  characters.beyond_ascii = false;
  EXPECT_TRUE(is_within("aa"));
  EXPECT_FALSE(is_within("ab"));
  EXPECT_FALSE(is_within("a\xc3\xa9"));
  characters.beyond_ascii = true;
  EXPECT_TRUE(is_within("a\xc3\xa9"));
}

}  // namespace
}  // namespace maskd
