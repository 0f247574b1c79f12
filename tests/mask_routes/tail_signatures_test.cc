// States of equal keys have equal masks; the masks here are made token by token.
#include "grammar_core/mask_routes/tail_signatures.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/automaton/automaton.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

constexpr char kNested[] = R"({"anyOf":[{"type":"array","items":{"$ref":"#"}},{"type":"string"},)"
                           R"({"type":"object","properties":{"k":{"$ref":"#"}},"required":["k"],)"
                           R"("additionalProperties":false}]})";

class TailSignaturesTest : public testing::Test {
 protected:
  auto KeyBehind(absl::string_view text) {
    return signatures_.KeyOf(grammar_.Behind(text), grammar_.work());
  }
  // The tokens that the state takes, one after the other.
  std::vector<TokenId> Taken(TermId state) {
    std::vector<TokenId> taken;
    for (TokenId id = 0; id < grammar_.index().vocabulary().size(); ++id) {
      std::size_t bytes = 0;
      if (grammar_.automaton().StepToken(state, id, &bytes, grammar_.work()) != kNothingTerm)
        taken.push_back(id);
    }
    return taken;
  }

  SmallGrammar grammar_{"json_schema", kNested, {"\"]", "\"}", "\"]]", "\",\"", "]}", "\"]}"}};
  TailSignatures signatures_{&grammar_.automaton(), &grammar_.automaton().store(),
                             &grammar_.masks()};
};

// No token holds more than two brackets behind a quote.
TEST_F(TailSignaturesTest, StacksThatGoOnAlikeShareTheirKey) {
  const auto three = KeyBehind("[[[\"a");
  const auto five = KeyBehind("[[[[[\"a");
  ASSERT_TRUE(three.has_value() && five.has_value());
  EXPECT_EQ(three->key, five->key);
  EXPECT_EQ(Taken(grammar_.Behind("[[[\"a")), Taken(grammar_.Behind("[[[[[\"a")));
}

TEST_F(TailSignaturesTest, StacksThatATokenTellsApartDoNot) {
  const auto one = KeyBehind("[\"a");
  const auto two = KeyBehind("[[\"a");
  ASSERT_TRUE(one.has_value() && two.has_value());
  EXPECT_NE(one->key, two->key) << "\"]] fits the second alone";
}

TEST_F(TailSignaturesTest, EqualKeysHaveEqualMasks) {
  std::vector<std::string> texts = {"", "[", "{\"k\":"};
  for (std::size_t i = 0; i < texts.size() && texts.size() < 150; ++i)
    for (const char* more : {"[", "{\"k\":", "\"a", "\"a\"", "\"a\","}) {
      std::size_t taken = 0;
      const std::string text = texts[i] + more;
      grammar_.automaton().StepText(grammar_.automaton().start(), text, &taken, grammar_.work());
      if (taken == text.size()) texts.push_back(text);
    }
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<TokenId>> by_key;
  int shared = 0;
  for (const std::string& text : texts) {
    const auto key = KeyBehind(text);
    if (!key.has_value()) continue;
    const std::vector<TokenId> taken = Taken(grammar_.Behind(text));
    const auto [known, is_new] = by_key.try_emplace({key->key.hi, key->key.lo}, taken);
    EXPECT_EQ(known->second, taken) << text;
    shared += is_new ? 0 : 1;
  }
  EXPECT_GT(shared, 20);
  EXPECT_GT(by_key.size(), 5);
}

// Before a string of any characters the key is that of the string and of what follows its quote.
TEST_F(TailSignaturesTest, AStringThatIsPassedTellsWhatATokenTells) {
  constexpr char kStrings[] = R"({"type":"object","properties":{"k":{"$ref":"#"},)"
                              R"("s":{"type":"string"}},)"
                              R"("additionalProperties":false})";
  SmallGrammar grammar("json_schema", kStrings, {"\"\"}}", "\"a\"}", "\"}}", "\"}"});
  TailSignatures signatures(&grammar.automaton(), &grammar.automaton().store(), &grammar.masks());
  const auto key = [&](absl::string_view text) {
    const auto found = signatures.KeyOf(grammar.Behind(text), grammar.work());
    EXPECT_TRUE(found.has_value()) << text;
    return found.has_value() ? found->key : Hash128{};
  };
  EXPECT_NE(key("{\"s\":"), key("{\"k\":{\"s\":")) << "\"\"}} fits the second alone";
  EXPECT_EQ(key("{\"k\":{\"k\":{\"s\":"), key("{\"k\":{\"k\":{\"k\":{\"s\":"));
  EXPECT_NE(key("{\"s\":"), key("{\"s\":\"")) << "a quote is still to come";
}

// A text that ends by none of the three bytes has no such key.
TEST_F(TailSignaturesTest, AStateWithoutAnEndNearEnoughHasNone) {
  SmallGrammar grammar("regex", "[a-z]+0");
  TailSignatures signatures(&grammar.automaton(), &grammar.automaton().store(), &grammar.masks());
  EXPECT_FALSE(signatures.KeyOf(grammar.Behind("a"), grammar.work()).has_value());
}

}  // namespace
}  // namespace maskd
