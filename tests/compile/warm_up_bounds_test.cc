#include "grammar_core/compile/warm_up_bounds.h"

#include <cstdint>
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/warm_up.h"
#include "grammar_core/compile/warm_up_from.h"
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

constexpr std::int64_t kLongMs = 3'600'000;
constexpr int kMany = 1 << 20;

// How many states a prefetch of a new small grammar warms.
int Warmed(const WarmUpBounds& bounds) {
  Budget budget = Budget::Unlimited();
  const auto grammar = *CompileGrammar(
      {"regex", "[abc]", {}}, TokenizerSpace::Create(EmbeddedByteVocabulary()), Limits(), budget);
  return WarmUp(*grammar, bounds);
}

TEST(WarmUpBounds, EndsAPrefetchWithoutAWord) {
  EXPECT_GT(WarmUpBounds().masks, 0);
  EXPECT_GT(WarmUpBounds().wall_ms, 0);
}

TEST(WarmUpBounds, NoMasksAreNone) { EXPECT_EQ(Warmed({.masks = 0, .wall_ms = kLongMs}), 0); }

TEST(WarmUpBounds, TheMasksComeFirst) {
  const int all = Warmed({.masks = kMany, .wall_ms = kLongMs});
  EXPECT_GE(all, 1);
  EXPECT_EQ(Warmed({.masks = all, .wall_ms = kLongMs}), all);
  EXPECT_EQ(Warmed({.masks = all - 1, .wall_ms = kLongMs}), all - 1);
}

// Behind a place of a row less is looked for than at its beginning.
TEST(WarmUpBounds, FewAheadAreFewer) {
  EXPECT_LT(kFewAhead.masks, WarmUpBounds().masks);
  EXPECT_LT(kFewAhead.wall_ms, WarmUpBounds().wall_ms);
}

// A comma is usual and a brace is not, but the place behind the brace is one token away.
TEST(WarmUpBounds, WhatIsNextComesBeforeWhatIsUsualFurtherOn) {
  Budget budget = Budget::Unlimited();
  const auto grammar =
      *CompileGrammar({"regex", R"(,{20}|\}x)", {}},
                      TokenizerSpace::Create(EmbeddedByteVocabulary()), Limits(), budget);
  EXPECT_EQ(WarmUp(*grammar, {.masks = 4, .wall_ms = kLongMs}), 4);
  MaskedAutomaton& automaton = *grammar->automaton();
  const ShownTerms shown(&automaton.store());
  Work work(budget);
  std::size_t taken = 0;
  const TermId behind = automaton.StepToken(automaton.start(), '}', &taken, work);
  ASSERT_NE(behind, kNothingTerm);
  const std::int64_t made = automaton.mask_count();
  ASSERT_NE(automaton.Mask(behind, work), nullptr);
  EXPECT_EQ(automaton.mask_count(), made);
}

}  // namespace
}  // namespace maskd
