// What is said of a token without a step is what steps say.
#include "grammar_core/unique_items/item_ends.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/unique_items/row_step.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

const std::vector<std::string> kWords = {"\",\"",   "a\",\"",  "b\",\"",    "b\",\"a",
                                         "a\",\"a", "b\",\"b", "b\",\"b\"", "c\",\"d\",\"",
                                         "ab\",",   "zz\",\"q"};

class ItemEndsTest : public testing::Test {
 protected:
  struct Sorted {
    std::set<std::string> repeated;
    std::set<std::string> untold;
  };

  // Sorts the tokens behind `text`, and holds the answer against steps.
  Sorted SortBehind(const std::string& items, absl::string_view text) {
    SmallGrammar grammar("json_schema",
                         R"({"type":"array","uniqueItems":true,"items":)" + items + "}", kWords);
    RowMemory row(&grammar.automaton());
    RowMemory::State state = RowMemory::Of(grammar.automaton().start());
    for (const char byte : text)
      state = TakeByte(&row, state, static_cast<unsigned char>(byte), grammar.work());
    const auto lock = row.Lock();
    const auto at = row.InItemString(state);
    if (!at.has_value()) {
      ADD_FAILURE() << "no string that is an item: " << text;
      return {};
    }
    const MaskRef mask = grammar.automaton().TextMask(row.Shared(state), grammar.work());
    const ItemTokens& tokens = *grammar.automaton().tables().item_tokens;
    std::vector<TokenId> repeated;
    std::vector<TokenId> untold;
    ItemEnds(tokens, &grammar.automaton(), *at, &grammar.work()).Sort(*mask, &repeated, &untold);
    EXPECT_FALSE(tokens.ends().empty());
    Sorted sorted;
    for (const ItemTokens::End& end : tokens.ends()) {
      const absl::string_view bytes = grammar.index().vocabulary().TokenBytes(end.id);
      const bool is_repeated = std::ranges::find(repeated, end.id) != repeated.end();
      const bool is_untold = std::ranges::find(untold, end.id) != untold.end();
      EXPECT_FALSE(is_repeated && is_untold) << bytes;
      if (is_repeated) sorted.repeated.emplace(bytes);
      if (is_untold) sorted.untold.emplace(bytes);
      if (!mask->Allows(end.id)) {
        EXPECT_FALSE(is_repeated || is_untold) << bytes;
        continue;
      }
      if (is_untold) continue;
      RowMemory::State next = state;
      for (const char byte : bytes)
        if (next != kNothingTerm)
          next = TakeByte(&row, next, static_cast<unsigned char>(byte), grammar.work());
      EXPECT_EQ(next == kNothingTerm, is_repeated) << text << " + " << bytes;
    }
    return sorted;
  }
};

TEST_F(ItemEndsTest, AnEndThatMakesAnItemThatIsThereIsRepeated) {
  const Sorted sorted = SortBehind(R"({"type":"string"})", "[\"a\",\"");
  EXPECT_EQ(sorted.repeated, (std::set<std::string>{"a\",\"", "a\",\"a"}));
  EXPECT_FALSE(sorted.untold.contains("zz\",\"q")) << "nothing of it is written";
}

TEST_F(ItemEndsTest, WhatIsBegunCounts) {
  EXPECT_EQ(SortBehind(R"({"type":"string"})", "[\"xa\",\"x").repeated,
            (std::set<std::string>{"a\",\"", "a\",\"a"}));
}

// What begins behind the comma may become an item: steps must tell.
TEST_F(ItemEndsTest, ANextItemThatMayRepeatIsUntold) {
  const Sorted sorted = SortBehind(R"({"type":"string"})", "[\"a\",\"");
  EXPECT_TRUE(sorted.untold.contains("b\",\"a"));
}

// With so few values no byte leads away from all of them.
TEST_F(ItemEndsTest, WhereFewValuesAreLeftNothingIsToldAsRight) {
  for (const char* text : {"[\"a\",\"", "[\"b\",\"", "[\"ab\",\"a"})
    SortBehind(R"({"type":"string","pattern":"^[ab]{1,2}$"})", text);
  const Sorted sorted = SortBehind(R"({"type":"string","pattern":"^[ab]{1,2}$"})", "[\"a\",\"");
  EXPECT_TRUE(sorted.untold.contains("b\",\""));
}

TEST_F(ItemEndsTest, ManyItemsAndEscapes) {
  SortBehind(R"({"type":"string"})", "[\"a\",\"b\",\"c\",\"ab\",\"zz\",\"\\u0062");
  SortBehind(R"({"type":"string","maxLength":3})", "[\"\",\"a\",\"b\",\"");
}

}  // namespace
}  // namespace maskd
