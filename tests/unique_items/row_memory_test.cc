#include "grammar_core/unique_items/row_memory.h"

#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/unique_items/row_step.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

constexpr char kTags[] =
    R"({"type":"object","properties":{"tags":{"type":"array","uniqueItems":true,)"
    R"("items":{"type":"string"}},"n":{"type":"integer"}},"required":["tags"],)"
    R"("additionalProperties":false})";

class RowMemoryTest : public testing::Test {
 protected:
  // kNothingTerm where it is refused.
  RowMemory::State Take(RowMemory* row, RowMemory::State state, absl::string_view text) {
    for (const char byte : text)
      if (state != kNothingTerm)
        state = TakeByte(row, state, static_cast<unsigned char>(byte), grammar_.work());
    return state;
  }
  RowMemory::State Behind(absl::string_view text) {
    return Take(&row_, RowMemory::Of(grammar_.automaton().start()), text);
  }

  SmallGrammar grammar_{"json_schema", kTags};
  RowMemory row_{&grammar_.automaton()};
};

TEST_F(RowMemoryTest, StatesAreOwnWithinSuchAnArrayAlone) {
  EXPECT_FALSE(RowMemory::IsOwn(Behind("{\"tags\":")));
  EXPECT_TRUE(RowMemory::IsOwn(Behind("{\"tags\":[")));
  EXPECT_TRUE(RowMemory::IsOwn(Behind("{\"tags\":[\"a\",")));
  EXPECT_FALSE(RowMemory::IsOwn(Behind("{\"tags\":[\"a\"]")));
}

TEST_F(RowMemoryTest, ARepetitionIsNoStep) {
  EXPECT_EQ(Behind("{\"tags\":[\"a\",\"a\""), kNothingTerm);
  EXPECT_NE(Behind("{\"tags\":[\"a\",\"ab\""), kNothingTerm);
  EXPECT_EQ(Behind("{\"tags\":[\"a\",\"\\u0061\""), kNothingTerm);
}

// As if items could be equal.
TEST_F(RowMemoryTest, SharedTakesWhatTheAutomatonDoes) {
  MaskedAutomaton& automaton = grammar_.automaton();
  for (const char* text :
       {"{\"tags\":[", "{\"tags\":[\"a\"", "{\"tags\":[\"a\",\"", "{\"tags\":[]"}) {
    const MaskRef shared = automaton.TextMask(row_.Shared(Behind(text)), grammar_.work());
    const MaskRef plain = automaton.TextMask(grammar_.Behind(text), grammar_.work());
    EXPECT_TRUE(*shared == *plain) << text;
  }
  std::size_t taken = 0;
  automaton.StepText(row_.Shared(Behind("{\"tags\":[\"a\",\"")), "a\"", &taken, grammar_.work());
  EXPECT_EQ(taken, 2) << "the row alone knows what is written";
}

TEST_F(RowMemoryTest, EqualTextsAreEqualStates) {
  EXPECT_TRUE(row_.KeyOf(Behind("{\"tags\":[\"a\",")) ==
              row_.KeyOf(Behind("{\"tags\":[\"\\u0061\",")));
  EXPECT_FALSE(row_.KeyOf(Behind("{\"tags\":[\"a\",")) == row_.KeyOf(Behind("{\"tags\":[\"b\",")));
}

TEST_F(RowMemoryTest, AScratchGivesBackWhatWasTried) {
  const RowMemory::State state = Behind("{\"tags\":[\"a\",");
  const std::int64_t held = row_.held_bytes();
  {
    const RowMemory::Scratch scratch(&row_);
    Take(&row_, state, "\"some text\",\"and more\",");
    EXPECT_GT(row_.held_bytes(), held);
  }
  EXPECT_EQ(row_.held_bytes(), held);
}

TEST_F(RowMemoryTest, AScratchKeepsOneState) {
  const RowMemory::State state = Behind("{\"tags\":[\"a\",");
  std::int64_t held_within = 0;
  RowMemory::State kept = kNothingTerm;
  {
    RowMemory::Scratch scratch(&row_);
    const RowMemory::State end = Take(&row_, state, "\"bcdefgh\",");
    held_within = row_.held_bytes();
    kept = scratch.Keep(end);
  }
  EXPECT_TRUE(RowMemory::IsOwn(kept));
  EXPECT_LT(row_.held_bytes(), held_within);
  EXPECT_EQ(Take(&row_, kept, "\"bcdefgh\""), kNothingTerm);
  EXPECT_EQ(Take(&row_, kept, "\"a\""), kNothingTerm);
  EXPECT_NE(Take(&row_, kept, "\"b\""), kNothingTerm);
}

TEST_F(RowMemoryTest, ACopyKnowsItsStatesInAnotherAutomaton) {
  const auto other = grammar_.NewAutomaton();
  std::vector<RowMemory::State> states = {Behind("{\"tags\":[\"a\","),
                                          RowMemory::Of(grammar_.Behind("{\""))};
  const auto lock = row_.Lock();
  const auto copy = row_.CopyTo(other.get(), {states.data(), states.size()});
  EXPECT_TRUE(RowMemory::IsOwn(states[0]));
  EXPECT_EQ(Take(copy.get(), states[0], "\"a\""), kNothingTerm);
  EXPECT_NE(Take(copy.get(), states[0], "\"b\"]"), kNothingTerm);
  std::size_t taken = 0;
  EXPECT_EQ(states[1],
            RowMemory::Of(other->StepText(other->start(), "{\"", &taken, grammar_.work())));
}

TEST_F(RowMemoryTest, AWholeTextHeedsWhatIsWritten) {
  const RowMemory::State state = Behind("{\"tags\":[\"a\",\"");
  const auto completes = [&](absl::string_view text) {
    const RowMemory::State end = Take(&row_, state, text);
    return end != kNothingTerm && grammar_.automaton().MayEnd(row_.Shared(end));
  };
  EXPECT_TRUE(completes("b\"]}"));
  EXPECT_FALSE(completes("a\"]}"));
  EXPECT_FALSE(completes("b\"]")) << "not a whole text";
}

TEST_F(RowMemoryTest, TakenRestsAreWhatMayNotFollow) {
  EXPECT_EQ(row_.TakenRests(Behind("{\"tags\":[\"abc\",\"x\",\"a")),
            (std::vector<std::string>{"bc"}));
  EXPECT_TRUE(row_.TakenRests(Behind("{")).empty());
}

TEST_F(RowMemoryTest, AMaskIsKnownByItsKeyAlone) {
  const Hash128 key = row_.KeyOf(Behind("{\"tags\":[\"a\","));
  const Hash128 other = row_.KeyOf(Behind("{\"tags\":[\"b\","));
  EXPECT_EQ(row_.KnownMask(key), nullptr);
  const MaskRef mask = grammar_.masks().Intern(TokenMask(grammar_.index().vocabulary().size()));
  row_.KeepMask(key, mask);
  EXPECT_EQ(row_.KnownMask(key), mask);
  EXPECT_EQ(row_.KnownMask(other), nullptr);
}

TEST_F(RowMemoryTest, StringsUnderWayAreTold) {
  const RowMemory::State state = Behind("{\"tags\":[\"abc\",\"a");
  EXPECT_TRUE(row_.InString(state));
  EXPECT_TRUE(row_.MayRepeat(state));
  EXPECT_FALSE(row_.MayRepeatBehind(state, 'x'));
  const auto item = row_.InItemString(state);
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(item->arrays->StringAt(item->array), "a");
  EXPECT_FALSE(row_.InItemString(Behind("{\"tags\":[")).has_value());
}

// An array may be of distinct items or of any: both ways are in one state.
TEST_F(RowMemoryTest, TwoWaysToReadATextAreOneState) {
  SmallGrammar either("json_schema",
                      R"({"anyOf":[{"type":"array","uniqueItems":true,"items":{"type":"string"}},)"
                      R"({"type":"array","items":{"enum":["a"]}}]})");
  RowMemory row(&either.automaton());
  const auto take = [&](absl::string_view text) {
    RowMemory::State state = RowMemory::Of(either.automaton().start());
    for (const char byte : text)
      if (state != kNothingTerm)
        state = TakeByte(&row, state, static_cast<unsigned char>(byte), either.work());
    return state;
  };
  EXPECT_TRUE(row.IsAmbiguous(take("[\"a")));
  EXPECT_NE(take("[\"a\",\"a\""), kNothingTerm) << "of any items";
  EXPECT_FALSE(row.IsAmbiguous(take("[\"a\",\"a\"")));
  EXPECT_EQ(take("[\"b\",\"b\""), kNothingTerm);
}

TEST_F(RowMemoryTest, WhatRowsHoldIsCountedWhileTheyLive) {
  const std::int64_t before = RowMemory::LiveBytes();
  {
    RowMemory row(&grammar_.automaton());
    RowMemory::Scratch scratch(&row);
    scratch.Keep(
        Take(&row, RowMemory::Of(grammar_.automaton().start()), "{\"tags\":[\"a\",\"b\","));
    EXPECT_GT(RowMemory::LiveBytes(), before);
  }
  EXPECT_EQ(RowMemory::LiveBytes(), before);
}

TEST_F(RowMemoryTest, ARowBeyondItsBytesFails) {
  Limits narrow;
  narrow.row_bytes = 2000;
  SmallGrammar grammar("json_schema", kTags, {}, narrow);
  RowMemory row(&grammar.automaton());
  RowMemory::State state = RowMemory::Of(grammar.automaton().start());
  const std::string text = "{\"tags\":[\"" + std::string(5000, 'x');
  for (std::size_t i = 0; i < text.size() && state != kFailedTerm; ++i)
    state = TakeByte(&row, state, static_cast<unsigned char>(text[i]), grammar.work());
  EXPECT_EQ(state, kFailedTerm);
  EXPECT_EQ(grammar.work().error().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
