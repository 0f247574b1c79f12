#include "grammar_core/base/hash128.h"

#include <bitset>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace maskd {
namespace {

std::pair<std::uint64_t, std::uint64_t> Halves(const Hash128& hash) { return {hash.lo, hash.hi}; }

TEST(Hash128Test, TheOrderOfTheCallsCounts) {
  EXPECT_EQ(Mix(Mix({}, 1), 2), Mix(Mix({}, 1), 2));
  EXPECT_NE(Mix(Mix({}, 1), 2), Mix(Mix({}, 2), 1));
  EXPECT_NE(Mix(Hash128{}, Hash128{1, 2}), Mix(Hash128{}, Hash128{2, 1}));
}

TEST(Hash128Test, OfASetItDoesNot) {
  const Hash128 a = Mix({}, 1);
  const Hash128 b = Mix({}, 2);
  EXPECT_EQ(MixUnordered(MixUnordered({}, a), b), MixUnordered(MixUnordered({}, b), a));
  EXPECT_NE(MixUnordered(MixUnordered({}, a), b), MixUnordered({}, a));
  EXPECT_NE(MixUnordered(MixUnordered({}, a), a), MixUnordered({}, a)) << "a set with it twice";
}

// What is left of it is mixed as well, and goes on as the same hash however often it is kept.
TEST(Hash128Test, AShortOneIsTheFirst96Bits) {
  const Hash128 hash{0x0123456789ABCDEFULL, 0xFEDCBA9876543210ULL};
  const Hash128 kept = Hash96(hash);
  EXPECT_EQ(kept, (Hash128{0x0123456789ABCDEFULL, 0x76543210ULL}));
  EXPECT_EQ(Hash128(Hash96(kept)), kept);
  EXPECT_NE(Hash96(hash), Hash96(Hash128{hash.lo, hash.hi + 1}));
  EXPECT_NE(Hash96(hash), Hash96(Hash128{hash.lo + (1ULL << 32), hash.hi}));
  EXPECT_EQ(sizeof(Hash96), 12U);
}

// Neighbours and single bits, of the value as of the seed: no half of any two is the same.
TEST(Hash128Test, NeitherHalfOfNeighboursIsTheSame) {
  std::set<std::uint64_t> low;
  std::set<std::uint64_t> high;
  std::size_t made = 0;
  const auto add = [&](const Hash128& hash) {
    low.insert(hash.lo);
    high.insert(hash.hi);
    ++made;
  };
  for (std::uint64_t value = 0; value < 10'000; ++value) add(Mix({}, value));
  for (int bit = 20; bit < 64; ++bit) {
    add(Mix({}, std::uint64_t{1} << bit));
    add(Mix({std::uint64_t{1} << bit, 0}, 0));
    add(Mix({0, std::uint64_t{1} << bit}, 0));
  }
  EXPECT_EQ(high.size(), made);
  // The low half does not look at the high half of the seed, nor tells seed from value there.
  EXPECT_EQ(low.size(), made - 2 * 44);
}

TEST(Hash128Test, BytesAreTheirContentsAndTheirLength) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::size_t made = 0;
  for (const char byte : {'\0', 'a'})
    for (std::size_t length = 0; length < 40; ++length, ++made)
      seen.insert(Halves(MixBytes({}, std::string(length, byte))));
  EXPECT_EQ(seen.size(), made - 1) << "the empty text alone is the same of both";
  EXPECT_EQ(MixBytes({}, "some text"), MixBytes({}, std::string("some text")));
}

TEST(Hash128Test, EveryBitOfASetCounts) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::bitset<256> bits;
  seen.insert(Halves(MixBits({}, bits)));
  for (std::size_t bit = 0; bit < bits.size(); ++bit) {
    bits.reset();
    bits.set(bit);
    seen.insert(Halves(MixBits({}, bits)));
  }
  EXPECT_EQ(seen.size(), bits.size() + 1);
}

TEST(Hash128Test, AUniqueHashComesOnce) { EXPECT_NE(UniqueHash(), UniqueHash()); }

}  // namespace
}  // namespace maskd
