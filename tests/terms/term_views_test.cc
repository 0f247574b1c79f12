#include "grammar_core/terms/term_views.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/row_state.h"
#include "grammar_core/base/strong_id.h"
#include "grammar_core/terms/term_store.h"
#include "tests/automaton/character_terms.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

// A view gives back what the term was made of.
class TermViewsTest : public testing::Test {
 protected:
  TermStore& store() { return *terms_.store(); }
  const Term& At(auto id) { return store().term(id); }

 private:
  static CharacterTerms Terms() {
    IrBuilder b{Limits()};
    const NodeId letter = b.Chars(CharSet({{'a', 'z'}}));
    return CharacterTerms(b, b.Concat({b.Text("hello"), letter}));
  }
  CharacterTerms terms_ = Terms();
};

TEST_F(TermViewsTest, Cat) {
  const TermId head = store().Byte('a');
  const TermId tail = store().Byte('b');
  const auto cat = AsCat(At(store().Cat(head, tail)));
  EXPECT_EQ(cat.head, head);
  EXPECT_EQ(cat.tail, tail);
}

// However many there are: a build without optimization recursed for each and died of its stack.
TEST_F(TermViewsTest, AnOptionalCellJoinsWithAllThatItRepeats) {
  constexpr int kCells = 100'000;
  const TermId body = store().Byte('a');
  TermId tail = body;
  for (int i = 1; i < kCells; ++i) tail = store().Cat(body, tail);
  const auto joined = AsRepeat(At(store().Cat(store().Repeat(body, 0, 1), tail)));
  EXPECT_EQ(joined.body, body);
  EXPECT_EQ(joined.min, kCells);
  EXPECT_EQ(joined.max, kCells + 1);
}

TEST_F(TermViewsTest, Repeat) {
  const TermId body = store().Byte('a');
  const auto repeat = AsRepeat(At(store().Repeat(body, 2, kUnbounded)));
  EXPECT_EQ(repeat.body, body);
  EXPECT_EQ(repeat.min, 2);
  EXPECT_EQ(repeat.max, kUnbounded);
}

TEST_F(TermViewsTest, BranchesAscend) {
  const std::vector<TermId> made = {store().Byte('c'), store().Byte('a'), store().Byte('b')};
  const auto branches = BranchesOf(store(), At(store().Alt(made)));
  EXPECT_EQ(branches.size(), 3);
  EXPECT_TRUE(std::ranges::is_sorted(branches));
  for (const TermId id : made) EXPECT_TRUE(std::ranges::binary_search(branches, id));
}

TEST_F(TermViewsTest, RestOfText) {
  EXPECT_EQ(RestOfText(store(), At(store().Text(0, 0))), U"hello");
  EXPECT_EQ(RestOfText(store(), At(store().Text(0, 3))), U"lo");
}

TEST_F(TermViewsTest, BytesOfAByte) {
  const ByteBits& bits = BytesOf(store(), At(store().Byte('q')));
  EXPECT_EQ(bits.count(), 1);
  EXPECT_TRUE(bits['q']);
}

TEST_F(TermViewsTest, CallAtADepth) {
  const CallView call = AsCall(At(store().Call(0)));
  EXPECT_EQ(call.rule, 0);
  EXPECT_EQ(call.depth, 0);
}

TEST_F(TermViewsTest, EncodeBetweenAndWithinCharacters) {
  const CharTerm text = store().Text(0, 3);
  const Term& between = At(store().Encode(text, {Spelling::kJsonString}));
  EXPECT_EQ(AsEncode(between).characters, text);
  EXPECT_EQ(AsEncode(between).partial.spelling, Spelling::kJsonString);
  EXPECT_EQ(AsEncode(between).object, kNoObject);
  EXPECT_TRUE(IsBetweenCharacters(between));
  const Term& within = At(store().Encode(text, {Spelling::kUtf8, CharPhase::kUtf8, 5}));
  EXPECT_EQ(AsEncode(within).partial.phase, CharPhase::kUtf8);
  EXPECT_FALSE(IsBetweenCharacters(within));
}

TEST_F(TermViewsTest, Negated) {
  const CharTerm letter = store().CharSet(0);
  EXPECT_EQ(NegatedOf(At(store().Not(letter))), letter);
}

// Ids lie in tables as the numbers that they are, and none passes for one of another kind.
template <typename From, typename To>
constexpr bool Passes = std::is_convertible_v<From, To>;

TEST(TermIdsTest, AreNumbersThatDoNotPassForOneAnother) {
  static_assert(sizeof(TermId) == sizeof(std::uint32_t) && std::is_trivial_v<TermId>);
  static_assert(!Passes<TermId, CharTerm> && !Passes<CharTerm, TermId>);
  static_assert(!Passes<TermId, AnyTerm> && !Passes<AnyTerm, TermId>);
  static_assert(!Passes<TermId, RowStateId> && !Passes<RowStateId, TermId>);
  static_assert(!Passes<std::uint32_t, TermId> && !Passes<TermId, std::uint32_t>);
  static_assert(!std::is_constructible_v<CharTerm, TermId>, "only by way of AnyTerm");
  static_assert(!std::is_constructible_v<TermId, RowStateId>, "only by RowMemory::TermOf()");
  // What all kinds have passes for each of them.
  static_assert(Passes<NamedTerm, TermId> && Passes<NamedTerm, CharTerm>);
  static_assert(Passes<NamedTerm, AnyTerm> && Passes<NamedTerm, RowStateId>);
  EXPECT_EQ(TermId(kEmptyTerm).value(), AnyTerm(CharTerm(kEmptyTerm)).value());
  EXPECT_LT(TermId(kNothingTerm), TermId(kEmptyTerm));
}

}  // namespace
}  // namespace maskd
