// What a closure promises, token by token, against the prefix oracle: a token within its characters
// is allowed, and one that is neither that nor a candidate is refused.
#include "grammar_core/mask_routes/closure.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/automaton/automaton.h"
#include "tests/oracle/prefix_oracle.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

// Bytes of a token, at most: more than the search looks at.
constexpr int kLongest = 64;

// Of ASCII texts.
bool IsWithin(const CharacterClass& characters, const std::string& text) {
  return std::cmp_less_equal(text.size(), characters.max_chars) &&
         std::ranges::all_of(text, [&](char c) { return characters.ascii[static_cast<int>(c)]; });
}
bool IsCandidate(const CandidateClass& candidates, const std::string& text) {
  return std::cmp_greater(text.size(), candidates.longer_than) ||
         std::ranges::any_of(text,
                             [&](char c) { return candidates.holds_any_of[static_cast<int>(c)]; });
}

struct Tally {
  int within = 0;
  int refused = 0;
};

class ClosureTest : public testing::Test {
 protected:
  // Holds `closure`, of the state behind `text`, against ASCII texts of up to 30 characters.
  static Tally Check(SmallGrammar* grammar, const std::string& text, const Closure& closure) {
    PrefixOracle oracle(grammar->ir());
    const PrefixOracle::State at = oracle.StepText(oracle.start(), text);
    std::mt19937_64 random(1);
    const std::string letters = "abcxyz019 \"\\,.-}]\n";
    Tally tally;
    for (int i = 0; i < 4000; ++i) {
      std::string token;
      // Mostly of few letters, so that long ones within the class are met too.
      const std::size_t few = 1 + random() % letters.size();
      for (std::size_t length = 1 + random() % 30; length > 0; --length)
        token += letters[random() % few];
      const bool allowed = oracle.StepText(at, token) != PrefixOracle::kDead;
      if (IsWithin(closure.characters, token)) {
        EXPECT_TRUE(allowed) << text << " + " << token;
        ++tally.within;
      } else if (!IsCandidate(closure.candidates, token)) {
        EXPECT_FALSE(allowed) << text << " + " << token;
        ++tally.refused;
      }
    }
    return tally;
  }
};

TEST_F(ClosureTest, OfASearchIsRight) {
  struct Row {
    const char* kind;
    const char* grammar;
    const char* text;
  };
  for (const Row& row : std::vector<Row>{
           {"regex", "[a-z]{1,20}", "ab"},
           {"regex", "[^\\n]*\\n", "a"},
           {"regex", "(?s:.*)", ""},
           {"regex", "([a-z]+[ ,])*\\.", "ab"},
           {"json_schema", R"({"type":"array","items":{"type":"string"}})", "[\"a"},
           {"json_schema", R"({"type":"string","pattern":"^[a-c]*x?[0-9]{0,4}$"})", "\"a"}}) {
    SCOPED_TRACE(row.grammar);
    SmallGrammar grammar(row.kind, row.grammar);
    for (const int longest : {1, 3, kLongest}) {
      const Closure closure =
          FindClosure(&grammar.automaton(), grammar.Behind(row.text), longest, grammar.work());
      ASSERT_TRUE(grammar.work().ok());
      EXPECT_GT(Check(&grammar, row.text, closure).within, longest == kLongest ? 20 : 0);
    }
  }
}

TEST_F(ClosureTest, OfAFormIsRight) {
  SmallGrammar grammar("json_schema",
                       R"({"type":"array","items":{"type":"string","maxLength":9}})");
  const auto closure =
      FindStructuralClosure(&grammar.automaton(), grammar.Behind("[\"ab"), grammar.work());
  ASSERT_TRUE(closure.has_value());
  EXPECT_EQ(closure->characters.max_chars, 7);
  const Tally tally = Check(&grammar, "[\"ab", *closure);
  EXPECT_GT(tally.within, 100);
  EXPECT_GT(tally.refused, 100) << "what is longer than the string may be";
}

// As over a vocabulary of bytes.
TEST_F(ClosureTest, OfShortTokensLooksNoFurther) {
  SmallGrammar grammar("regex", "[a-z]*(alpha|beta)[0-9]{9}");
  const TermId behind = grammar.Behind("a");
  EXPECT_EQ(FindClosure(&grammar.automaton(), behind, 1, grammar.work()).characters.max_chars, 1);
}

TEST_F(ClosureTest, ACounterIsItsBound) {
  SmallGrammar grammar("regex", "[a-z]{1,20}");
  const Closure closure =
      FindClosure(&grammar.automaton(), grammar.Behind("ab"), kLongest, grammar.work());
  EXPECT_EQ(closure.characters.max_chars, 18);
  EXPECT_TRUE(closure.characters.ascii['q']);
  EXPECT_FALSE(closure.characters.ascii['1']);
  EXPECT_EQ(closure.candidates.longer_than, CharacterClass::kAnyLength) << "none is longer";
}

TEST_F(ClosureTest, NoFormForWhatIsNoFreeString) {
  SmallGrammar grammar("regex", "hello");
  EXPECT_EQ(FindStructuralClosure(&grammar.automaton(), grammar.Behind("h"), grammar.work()),
            std::nullopt);
}

}  // namespace
}  // namespace maskd
