#include "grammar_core/derivatives/class_sets.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace maskd {
namespace {

// Against a map from each set, as text, to its number: as many classes as one, two, three or four
// words hold, so many sets that they lie in several chunks, each of them twice.
TEST(ClassSetsTest, EachSetIsKeptOnce) {
  for (const int classes : {1, 63, 64, 65, 128, 129, 200, 256}) {
    SCOPED_TRACE(classes);
    ClassSets sets(classes);
    std::map<std::string, std::uint32_t> known;
    std::mt19937 random(static_cast<unsigned>(classes));
    for (int i = 0; i < 500; ++i) {
      ClassSet set;
      for (int c = 0; c < classes; ++c) set[static_cast<std::size_t>(c)] = random() % 2 == 0;
      const std::uint32_t number = sets.Keep(set);
      const auto [at, is_new] = known.try_emplace(set.to_string(), number);
      EXPECT_EQ(at->second, number);
      if (is_new) EXPECT_EQ(number, known.size() - 1);
      EXPECT_EQ(sets.Keep(set), number);
    }
    for (const auto& [bits, number] : known) {
      const ClassSet set(bits);
      EXPECT_EQ(sets.set(number), set);
      for (int c = 0; c < classes; ++c)
        EXPECT_EQ(HasClass(sets.words(number), c), set[static_cast<std::size_t>(c)]);
    }
  }
}

// Words stay where they are: lists of transitions have their address.
TEST(ClassSetsTest, WordsDoNotMove) {
  ClassSets sets(100);
  const ClassWords first = sets.words(sets.Keep(ClassSet().set(99)));
  for (int i = 0; i < 99; ++i) sets.Keep(ClassSet().set(static_cast<std::size_t>(i)));
  EXPECT_EQ(sets.words(0), first);
  EXPECT_TRUE(HasClass(first, 99));
  EXPECT_FALSE(HasClass(first, 98));
}

}  // namespace
}  // namespace maskd
