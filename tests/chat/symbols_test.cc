#include "grammar_core/frontend/chat/symbols.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

constexpr Symbol kMarker = kFirstMarker + 7;

Symbols Bytes(absl::string_view text) { return CutIntoSymbols(text, nullptr); }

// Of 'a', 'b' and a marker, each text up to `length`.
std::vector<Symbols> AllSymbols(std::size_t length) {
  std::vector<Symbols> all = {{}};
  for (std::size_t i = 0; i < all.size() && all[i].size() < length; ++i) {
    for (const Symbol symbol : {Symbol{'a'}, Symbol{'b'}, kMarker}) {
      Symbols longer = all[i];
      longer.push_back(symbol);
      all.push_back(std::move(longer));
    }
  }
  return all;
}

bool EndsWith(const Symbols& stream, std::size_t end, const Symbols& text, std::size_t size) {
  return size <= end && std::equal(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size),
                                   stream.begin() + static_cast<std::ptrdiff_t>(end - size));
}

TEST(CutIntoSymbols, BytesAreThemselves) {
  EXPECT_EQ(Bytes("a\xff"), (Symbols{'a', 0xFF}));
  EXPECT_TRUE(Bytes("").empty());
}

TEST(CutIntoSymbols, AMarkerIsItsToken) {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  tokens.insert(tokens.end(), {{"<c>", true}, {"<c>x", true}, {"end", true}});
  const MarkerTable table(*Vocabulary::Create("v", std::move(tokens), {258}, {}));
  EXPECT_EQ(CutIntoSymbols("a<c>b", &table), (Symbols{'a', kFirstMarker + 256, 'b'}));
  EXPECT_EQ(CutIntoSymbols("<c>x<c>", &table), (Symbols{kFirstMarker + 257, kFirstMarker + 256}));
  EXPECT_EQ(CutIntoSymbols("<c", &table), (Symbols{'<', 'c'}));
}

// Sets of texts with overlaps of every kind, drawn from all short ones.
TEST(SymbolSearch, FindsWhatAPlainLookFinds) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same every time
  const std::vector<Symbols> all = AllSymbols(4);
  std::uniform_int_distribution<std::size_t> any(1, all.size() - 1);
  for (int round = 0; round < 60; ++round) {
    std::vector<Symbols> texts;
    for (int i = 0; i < round % 5; ++i) texts.push_back(all[any(random)]);
    const SymbolSearch search(texts);
    for (const Symbols& stream : AllSymbols(6)) {
      SymbolSearch::Node node = 0;
      for (const Symbol symbol : stream) node = search.Step(node, symbol);
      std::size_t found = 0;
      std::size_t depth = 0;
      for (const Symbols& text : texts) {
        for (std::size_t size = 1; size <= text.size(); ++size)
          if (EndsWith(stream, stream.size(), text, size)) depth = std::max(depth, size);
        if (EndsWith(stream, stream.size(), text, text.size()))
          found = std::max(found, text.size());
      }
      ASSERT_EQ(search.Depth(node), depth);
      ASSERT_EQ(search.Found(node), found);
    }
  }
}

TEST(SymbolSearch, AChildIsOneThatGoesOnWithoutAFallBack) {
  const SymbolSearch search({Bytes("ab"), Bytes("ba")});
  const SymbolSearch::Node a = search.Child(0, 'a');
  ASSERT_NE(a, 0U);
  EXPECT_EQ(search.Child(0, 'c'), 0U);
  EXPECT_EQ(search.Child(a, 'a'), 0U);
  EXPECT_EQ(search.Step(a, 'a'), a);
  const SymbolSearch::Node ab = search.Child(a, 'b');
  EXPECT_TRUE(search.HasChildren(0));
  EXPECT_TRUE(search.HasChildren(a));
  EXPECT_FALSE(search.HasChildren(ab));
  EXPECT_EQ(search.Child(ab, 'a'), 0U);
  EXPECT_EQ(search.Found(search.Step(ab, 'a')), 2U);
}

TEST(SymbolSearch, WithoutTextsNothingIsFound) {
  const SymbolSearch none;
  EXPECT_EQ(none.Step(0, 'a'), 0U);
  EXPECT_EQ(none.Step(0, kMarker), 0U);
  EXPECT_EQ(none.Found(0), 0U);
  EXPECT_FALSE(none.HasChildren(0));
}

// What is chosen when a stream is read until nothing more may follow.
SymbolChoice::State Read(const SymbolChoice& choice, const Symbols& stream) {
  SymbolChoice::State state = choice.Begin();
  for (const Symbol symbol : stream)
    if (!choice.Step(symbol, &state)) break;
  return state;
}

TEST(SymbolChoice, TheLongestThatFitsIsChosen) {
  std::mt19937 random(11);  // NOLINT(cert-msc51-cpp): the same every time
  for (int round = 0; round < 60; ++round) {
    std::vector<Symbols> all = AllSymbols(4);
    std::shuffle(all.begin() + 1, all.end(), random);
    std::vector<SymbolChoice::Text> texts;
    for (int i = 1; i <= 1 + round % 6; ++i)
      texts.push_back({all[static_cast<std::size_t>(i)], i % 3});
    const SymbolChoice choice(texts);
    for (const Symbols& stream : AllSymbols(6)) {
      int best = SymbolChoice::kNone;
      std::size_t depth = 0;
      for (const SymbolChoice::Text& text : texts) {
        const bool fits = text.symbols.size() <= stream.size() &&
                          EndsWith(stream, text.symbols.size(), text.symbols, text.symbols.size());
        if (!fits || text.symbols.size() <= depth) continue;
        best = text.target;
        depth = text.symbols.size();
      }
      const SymbolChoice::State state = Read(choice, stream);
      ASSERT_EQ(state.best, best);
      if (best != SymbolChoice::kNone) ASSERT_EQ(state.best_depth, depth);
    }
  }
}

TEST(SymbolChoice, SaysWhetherMoreMayFollow) {
  const SymbolChoice choice({{Bytes("ab"), 0}, {Bytes("a"), 1}, {Bytes("c"), 2}});
  EXPECT_FALSE(choice.empty());
  SymbolChoice::State state = choice.Begin();
  EXPECT_TRUE(choice.Step('a', &state));
  EXPECT_EQ(state.best, 1);
  SymbolChoice::State other = state;
  EXPECT_FALSE(choice.Step('b', &state));
  EXPECT_EQ(state.best, 0);
  EXPECT_EQ(state.best_depth, 2U);
  EXPECT_FALSE(choice.Step('x', &other));
  EXPECT_EQ(other.best, 1);
  EXPECT_EQ(other.best_depth, 1U);
  SymbolChoice::State last = choice.Begin();
  EXPECT_FALSE(choice.Step('c', &last));
  EXPECT_EQ(last.best, 2);
}

TEST(SymbolChoice, WithoutTextsNothingIsChosen) {
  const SymbolChoice none;
  EXPECT_TRUE(none.empty());
  SymbolChoice::State state = none.Begin();
  EXPECT_EQ(state.best, SymbolChoice::kNone);
  EXPECT_FALSE(none.Step('a', &state));
  EXPECT_EQ(state.best, SymbolChoice::kNone);
}

}  // namespace
}  // namespace maskd
