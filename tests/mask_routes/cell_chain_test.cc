// Three cells, of which the last is read or not: who finds what was kept.
#include "grammar_core/mask_routes/cell_chain.h"

#include <memory>
#include <optional>

#include "gtest/gtest.h"

#include "tests/automaton/character_terms.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

class CellChainTest : public testing::Test {
 protected:
  static CharacterTerms Terms() {
    IrBuilder b{Limits()};
    return CharacterTerms(b, b.AnyChar());
  }
  // A state of these bytes, a cell each.
  static TermId Bytes(TermStore* store, absl::string_view text) {
    TermId all = kEmptyTerm;
    for (auto c = text.rbegin(); c != text.rend(); ++c)
      all = store->Cat(store->Byte(static_cast<unsigned char>(*c)), all);
    return all;
  }
  MaskRef Find(TermStore* store, absl::string_view text, std::uint32_t* floor,
               const Hash128& seed = {}) {
    return CellChain(*store, Bytes(store, text), seed).Find(&masks_, floor);
  }
  // Keeps the mask for the cells of `text` above `floor`.
  void Settle(absl::string_view text, std::uint32_t floor) {
    TermStore* const store = terms_.store();
    CellChain chain(*store, Bytes(store, text));
    std::uint32_t none = kNoEnd;
    ASSERT_EQ(chain.Find(&masks_, &none), nullptr);
    chain.Settle(&masks_, floor, mask_);
  }

  CharacterTerms terms_ = Terms();
  const TokenIndex index_{BytesAnd({})};
  MaskStore masks_{&index_, 1 << 20};
  const MaskRef mask_ = masks_.Intern(TokenMask(index_.vocabulary().size()));
};

TEST_F(CellChainTest, CellsBelowTheFloorMakeNoDifference) {
  Settle("abc", 1);
  std::uint32_t floor = kNoEnd;
  EXPECT_EQ(Find(terms_.store(), "abd", &floor), mask_);
  EXPECT_EQ(floor, 1) << "the last cell is not looked at";
  floor = kNoEnd;
  EXPECT_EQ(Find(terms_.store(), "axc", &floor), nullptr);
}

TEST_F(CellChainTest, AFloorOfZeroIsTheEndOfTheText) {
  Settle("abc", 0);
  std::uint32_t floor = kNoEnd;
  EXPECT_EQ(Find(terms_.store(), "abc", &floor), mask_);
  EXPECT_EQ(floor, 0);
  EXPECT_EQ(Find(terms_.store(), "abd", &floor), nullptr);
  EXPECT_EQ(Find(terms_.store(), "abcd", &floor), nullptr) << "something follows";
}

TEST_F(CellChainTest, AFloorThatIsLowerAlreadyStays) {
  Settle("abc", 1);
  std::uint32_t floor = 0;
  EXPECT_EQ(Find(terms_.store(), "abc", &floor), mask_);
  EXPECT_EQ(floor, 0);
}

// Keys, not numbers of terms: the store is shared by all grammars of a tokenizer.
TEST_F(CellChainTest, AnotherStoreOfTermsFindsIt) {
  Settle("abc", 1);
  CharacterTerms others = Terms();
  others.store()->Byte('z');  // so that numbers differ
  std::uint32_t floor = kNoEnd;
  EXPECT_EQ(Find(others.store(), "abq", &floor), mask_);
}

TEST_F(CellChainTest, AnotherSeedDoesNot) {
  Settle("abc", 1);
  std::uint32_t floor = kNoEnd;
  EXPECT_EQ(Find(terms_.store(), "abc", &floor, Mix(Hash128{}, 1)), nullptr);
}

TEST_F(CellChainTest, SignaturesAreKeptBesideMasks) {
  TermStore* const store = terms_.store();
  const Hash128 signature = Mix(Hash128{}, 42);
  CellChain chain(*store, Bytes(store, "abc"));
  std::uint32_t floor = kNoEnd;
  ASSERT_EQ(chain.FindSignature(&masks_, &floor), std::nullopt);
  chain.SettleSignature(&masks_, 1, signature);
  EXPECT_EQ(CellChain(*store, Bytes(store, "abd")).FindSignature(&masks_, &floor), signature);
  EXPECT_EQ(floor, 1);
  EXPECT_EQ(Find(store, "abc", &floor), nullptr);
}

}  // namespace
}  // namespace maskd
