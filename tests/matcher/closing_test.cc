// Rows with a budget of tokens end within it whenever that is possible at all, whatever they choose
// among the tokens of the narrowed masks.
#include "grammar_core/matcher/closing.h"

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "tests/matcher/random_grammar.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

std::shared_ptr<const CompiledGrammar> Compile(const GrammarSource& source,
                                               const std::shared_ptr<TokenizerSpace>& space) {
  Budget budget{Budget::Bounds()};
  auto grammar = CompileGrammar(source, space, Limits(), budget);
  return grammar.ok() ? *std::move(grammar) : nullptr;
}

TokenId AnyAllowed(const TokenMask& mask, Random* random) {
  std::vector<TokenId> allowed;
  mask.VisitAllowed([&allowed](TokenId id) { allowed.push_back(id); });
  return allowed[(*random)() % allowed.size()];
}

// Takes any tokens of the narrowed masks; whether the text ended within `budget`.
bool EndsWithin(Matcher matcher, int budget, ClosingMasks* closing, Random* random) {
  for (int left = budget; left > 0; --left) {
    const auto mask = matcher.Mask();
    if (!mask.ok()) return false;
    const MaskRef narrowed = closing->Narrow(matcher.stepper(), matcher.place(), *mask, left);
    if (!matcher.Accept(AnyAllowed(*narrowed, random)).ok()) return false;
    if (matcher.finished()) return true;
  }
  return false;
}

TEST(ClosingMasks, EveryRowEndsWithinItsBudget) {
  Random random(7);  // NOLINT(cert-msc51-cpp): the same grammars in every run
  const auto space = TokenizerSpace::Create(TestVocabulary());
  int walks = 0;
  for (int i = 0; i < 120; ++i) {
    const GrammarSource source = RandomGrammar(&random);
    const auto grammar = Compile(source, space);
    if (grammar == nullptr) continue;
    ClosingMasks closing;
    const Matcher start(grammar);
    const auto fewest = start.FewestTokens(200);
    if (!fewest.ok()) continue;
    for (const int spare : {0, 1, 2, 5, 20}) {
      const int budget = static_cast<int>(fewest->size()) + 1 + spare;
      ASSERT_TRUE(EndsWithin(start, budget, &closing, &random))
          << source.kind << " " << source.text << " in " << budget;
      ++walks;
    }
  }
  EXPECT_GT(walks, 200);
}

TEST(ClosingMasks, EveryRowOfIndentedLinesEndsWithinItsBudget) {
  Random random(8);  // NOLINT(cert-msc51-cpp)
  const auto space = TokenizerSpace::Create(TestVocabulary());
  for (const GrammarSource& source : IndentedGrammars()) {
    const auto grammar = Compile(source, space);
    ASSERT_NE(grammar, nullptr) << source.text;
    ClosingMasks closing;
    const Matcher start(grammar);
    const auto fewest = start.FewestTokens(200);
    ASSERT_TRUE(fewest.ok()) << fewest.status();
    for (const int spare : {0, 1, 2, 5, 20, 60}) {
      const int budget = static_cast<int>(fewest->size()) + 1 + spare;
      for (int walk = 0; walk < 5; ++walk) {
        ASSERT_TRUE(EndsWithin(start, budget, &closing, &random))
            << source.kind << " " << source.text << " in " << budget;
      }
    }
  }
}

TEST(ClosingMasks, AMaskWithRoomIsTheGrammarsOwn) {
  const auto space = TokenizerSpace::Create(TestVocabulary());
  const auto grammar = Compile({"regex", "(ab)*", {}}, space);
  const Matcher matcher(grammar);
  const MaskRef mask = *matcher.Mask();
  ClosingMasks closing;
  EXPECT_EQ(closing.Narrow(matcher.stepper(), matcher.place(), mask, 50), mask);
  EXPECT_EQ(closing.Narrow(matcher.stepper(), matcher.place(), mask, 1000), mask);
  const MaskRef end = closing.Narrow(matcher.stepper(), matcher.place(), mask, 1);
  EXPECT_EQ(end->CountAllowed(), 1);
  EXPECT_TRUE(end->Allows(kEnd));
}

}  // namespace
}  // namespace maskd
