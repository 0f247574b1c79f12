// Masks made ahead are the masks that a matcher makes, and near by none is left to make.
#include "grammar_core/compile/warm_up.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/warm_families.h"
#include "grammar_core/compile/warm_up_from.h"
#include "grammar_core/frontend/chat/family.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/matcher/token_stepper.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

constexpr char kSchema[] =
    R"({"type":"object","properties":{"name":{"type":"string"},"tags":{"type":"array","items":)"
    R"({"type":"integer"}}},"required":["name","tags"],"additionalProperties":false})";
constexpr char kText[] = R"({"name": "x", "tags": [1, 2]})";

std::shared_ptr<const CompiledGrammar> Compiled() {
  Budget budget = Budget::Unlimited();
  return *CompileGrammar({"json_schema", kSchema, {}},
                         TokenizerSpace::Create(EmbeddedByteVocabulary()), Limits(), budget);
}

// Takes kText byte by byte; the masks on the way, as words.
std::vector<TokenMask> Masks(const std::shared_ptr<const CompiledGrammar>& grammar) {
  Matcher matcher(grammar);
  std::vector<TokenMask> masks;
  for (const char byte : std::string(kText)) {
    masks.push_back(**matcher.Mask());
    EXPECT_TRUE(matcher.Accept(static_cast<unsigned char>(byte)).ok());
  }
  return masks;
}

// So long that it never ends before its masks.
constexpr std::int64_t kLongMs = 3'600'000;

TEST(WarmUpTest, MasksAreTheSameAndNoneIsLeftNearTheBeginning) {
  const auto cold = Compiled();
  const auto warm = Compiled();
  EXPECT_GT(WarmUp(*warm, {.masks = 2000, .wall_ms = kLongMs}), 10);
  const std::int64_t before = warm->automaton()->mask_count();
  Matcher matcher(warm);
  for (const char byte : std::string(kText, 7)) {
    ASSERT_TRUE(matcher.Mask().ok());
    EXPECT_EQ(warm->automaton()->mask_count(), before) << byte;
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(byte)).ok());
  }
  EXPECT_EQ(Masks(warm), Masks(cold));
  EXPECT_LT(warm->automaton()->mask_count() - before, cold->automaton()->mask_count());
}

TEST(WarmUpTest, EndsAtItsBoundsAndWhenCancelled) {
  EXPECT_EQ(WarmUp(*Compiled(), {.masks = 3, .wall_ms = kLongMs}), 3);
  EXPECT_LT(WarmUp(*Compiled(), {.masks = 2000, .wall_ms = 0}), 2000);
  const std::atomic<bool> cancelled = true;
  EXPECT_LT(WarmUp(*Compiled(), {.masks = 2000, .wall_ms = kLongMs}, &cancelled), 2000);
}

// Few of the masks on the way are made when they are asked for.
TEST(WarmUpTest, MakesWhatComesBehindAPlace) {
  const auto grammar = Compiled();
  Matcher matcher(grammar);
  int late = 0;
  for (const char byte : std::string(kText)) {
    const std::int64_t before = grammar->automaton()->mask_count();
    ASSERT_TRUE(matcher.Mask().ok());
    late += grammar->automaton()->mask_count() > before ? 1 : 0;
    WarmUpFrom(*grammar, &matcher.stepper().states().automaton(),
               RowMemory::TermOf(matcher.place()), {.masks = kFewAhead.masks, .wall_ms = kLongMs});
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(byte)).ok());
  }
  EXPECT_LT(4 * late, static_cast<int>(sizeof kText));
}

TEST(WarmUpTest, LooksNoFurtherBehindAPlaceThanItsBound) {
  const auto grammar = Compiled();
  const Matcher matcher(grammar);
  EXPECT_EQ(WarmUpFrom(*grammar, &matcher.stepper().states().automaton(),
                       RowMemory::TermOf(matcher.place()), {.masks = 2, .wall_ms = kLongMs}),
            2);
}

// A request of a family whose tools nobody has sent, and a text before a call.
std::vector<TokenMask> MasksBeforeACall(const std::shared_ptr<TokenizerSpace>& space) {
  constexpr absl::string_view kRequest =
      R"({"family":"qwen_3","request":{"tools":[{"type":"function","function":{"name":"mine",)"
      R"("parameters":{"type":"object","properties":{"x":{"type":"boolean"}}}}}]}})";
  Budget budget = Budget::Unlimited();
  Matcher matcher(*CompileGrammar({"chat", std::string(kRequest), {}}, space, Limits(), budget));
  std::vector<TokenMask> masks;
  for (const char byte : std::string("Well. <to a <tool_call>\n")) {
    masks.push_back(**matcher.Mask());
    EXPECT_TRUE(matcher.Accept(static_cast<unsigned char>(byte)).ok());
  }
  return masks;
}

TEST(WarmUpTest, FamiliesLeaveFewMasksToMakeForOtherTools) {
  const auto cold = TokenizerSpace::Create(TestVocabulary());
  const auto warm = TokenizerSpace::Create(TestVocabulary());
  EXPECT_GT(WarmFamilies(warm), static_cast<int>(ChatFamilyFiles().size()));
  const std::int64_t before = warm->masks().stats().masks;
  const std::vector<TokenMask> masks = MasksBeforeACall(warm);
  EXPECT_EQ(masks, MasksBeforeACall(cold));
  EXPECT_EQ(warm->masks().stats().masks, before);
  EXPECT_GT(cold->masks().stats().masks, 3);
}

}  // namespace
}  // namespace maskd
