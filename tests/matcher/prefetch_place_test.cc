#include "grammar_core/matcher/prefetch_place.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/matcher/token_stepper.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

// So long that the masks end it first.
constexpr WarmUpBounds kBounds = {.masks = 16, .wall_ms = 3'600'000};

std::shared_ptr<const CompiledGrammar> Compiled(const std::string& schema) {
  Budget budget = Budget::Unlimited();
  return *CompileGrammar({"json_schema", schema, {}}, TokenizerSpace::Create(TestVocabulary()),
                         Limits(), budget);
}

std::shared_ptr<const CompiledGrammar> Strings() {
  return Compiled(R"({"type":"array","items":{"type":"string"}})");
}

void TakeBytes(const std::string& text, Matcher* matcher) {
  for (const char byte : text)
    ASSERT_TRUE(matcher->Accept(static_cast<unsigned char>(byte)).ok()) << text;
}

TEST(PrefetchPlace, EqualPlacesOfAnyRowsHaveOneKey) {
  const auto grammar = Strings();
  Matcher one(grammar);
  Matcher other(grammar);
  EXPECT_EQ(one.PrefetchAt(one.place()).key(), other.PrefetchAt(other.place()).key());
  TakeBytes("[\"x", &one);
  EXPECT_NE(one.PrefetchAt(one.place()).key(), other.PrefetchAt(other.place()).key());
  TakeBytes("[\"y", &other);
  EXPECT_EQ(one.PrefetchAt(one.place()).key(), other.PrefetchAt(other.place()).key());
  EXPECT_EQ(one.PrefetchKey(one.place()), one.PrefetchAt(one.place()).key());
}

TEST(PrefetchPlace, PlacesOfOtherGrammarsAreOthers) {
  const Matcher one(Strings());
  const Matcher other(Strings());
  EXPECT_NE(one.PrefetchAt(one.place()).key(), other.PrefetchAt(other.place()).key());
}

TEST(PrefetchPlace, ARowsOwnPlaceHasNoKey) {
  Matcher matcher(Compiled(R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})"));
  TakeBytes("[\"x\",", &matcher);
  EXPECT_FALSE(matcher.PrefetchKey(matcher.place()).has_value());
}

// The mask behind the token that comes next, asked for by who may not make one.
absl::StatusCode MaskBehind(const PrefetchPlace& place, const WarmUpBounds& bounds,
                            const std::atomic<bool>* cancelled, const Matcher& matcher) {
  place.Prefetch(bounds, cancelled);
  Matcher next = matcher.Fork();
  EXPECT_TRUE(next.Accept('"').ok());
  return next.Mask(NewMasks::kRefused).status().code();
}

TEST(PrefetchPlace, MakesTheMasksBehindIt) {
  Matcher matcher(Strings());
  TakeBytes("[\"x\",", &matcher);
  const PrefetchPlace place = matcher.PrefetchAt(matcher.place());
  const std::atomic<bool> cancelled = true;
  EXPECT_EQ(MaskBehind(place, kBounds, &cancelled, matcher), absl::StatusCode::kUnavailable);
  const WarmUpBounds none = {.masks = 0, .wall_ms = kBounds.wall_ms};
  EXPECT_EQ(MaskBehind(place, none, nullptr, matcher), absl::StatusCode::kUnavailable);
  EXPECT_EQ(MaskBehind(place, kBounds, nullptr, matcher), absl::StatusCode::kOk);
}

// A place keeps its grammar, and not the automaton that rows have left.
TEST(PrefetchPlace, LeadsNowhereOnceItsAutomatonIsGone) {
  auto grammar = Strings();
  auto matcher = std::make_unique<Matcher>(grammar);
  const PrefetchPlace place = matcher->PrefetchAt(matcher->place());
  const std::weak_ptr<MaskedAutomaton> automaton = grammar->automaton();
  const std::weak_ptr<const CompiledGrammar> kept = grammar;
  matcher.reset();
  grammar->Forget();
  EXPECT_TRUE(automaton.expired());
  const std::int64_t terms = grammar->costs().terms;
  place.Prefetch(kBounds, nullptr);
  EXPECT_EQ(grammar->costs().terms, terms);
  grammar.reset();
  EXPECT_FALSE(kept.expired());
  place.Prefetch(kBounds, nullptr);
}

}  // namespace
}  // namespace maskd
