// Every variant of the word kernels gives what a loop over single bits gives, for every number of
// words up to a few vectors and some large ones, at every offset of a vector, and touches no word
// beside them.
#include "grammar_core/mask/word_kernels.h"

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "cpu/level.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;
using Words = std::vector<std::int32_t>;

constexpr std::size_t kGuardWords = 16;
constexpr std::size_t kOffsets = 17;

// Random words, many of them all zeros or all ones.
Words RandomWords(std::size_t count, Random* random) {
  Words words(count);
  for (std::int32_t& word : words) {
    const std::uint64_t kind = (*random)() % 4;
    word = kind == 0 ? 0 : kind == 1 ? -1 : static_cast<std::int32_t>((*random)());
  }
  return words;
}

bool Bit(std::int32_t word, int bit) {
  return ((static_cast<std::uint32_t>(word) >> bit) & 1) != 0;
}

// A word made bit by bit.
template <typename Operation>
std::int32_t BitByBit(std::int32_t into, std::int32_t word, Operation operation) {
  std::uint32_t result = 0;
  for (int bit = 0; bit < 32; ++bit)
    if (operation(Bit(into, bit), Bit(word, bit))) result |= 1U << bit;
  return static_cast<std::int32_t>(result);
}

struct CombineCase {
  const char* name;
  WordsIntoWords WordKernels::* kernel;
  bool (*operation)(bool into, bool word);
};

const std::array kCombineCases = {
    CombineCase{"or", &WordKernels::or_into, [](bool into, bool word) { return into || word; }},
    CombineCase{"and", &WordKernels::and_into, [](bool into, bool word) { return into && word; }},
    CombineCase{"and not", &WordKernels::and_not_into,
                [](bool into, bool word) { return into && !word; }},
};

// 0 to 70, and sizes of vocabularies with odd ends.
std::vector<std::size_t> Counts() {
  std::vector<std::size_t> counts;
  for (std::size_t count = 0; count <= 70; ++count) counts.push_back(count);
  counts.insert(counts.end(), {255, 1000, 1001, 4008, 4009, 6284});
  return counts;
}

class WordKernelsTest : public testing::TestWithParam<const WordKernels*> {
 protected:
  void SetUp() override {
    if (!cpu::Supports(GetParam()->level))
      GTEST_SKIP() << "NOT TESTED HERE: this processor lacks " << GetParam()->level;
  }
};

TEST_P(WordKernelsTest, CombineAsBitByBit) {
  Random random(1);
  for (const CombineCase& each : kCombineCases) {
    for (const std::size_t count : Counts()) {
      const std::size_t offset = random() % kOffsets;
      const Words words = RandomWords(random() % kOffsets + count, &random);
      const std::int32_t* const source = words.data() + words.size() - count;
      Words into = RandomWords(offset + count + kGuardWords, &random);
      Words expected = into;
      for (std::size_t i = 0; i < count; ++i)
        expected[offset + i] = BitByBit(expected[offset + i], source[i], each.operation);
      (GetParam()->*each.kernel)(into.data() + offset, source, count);
      ASSERT_EQ(into, expected) << each.name << " " << count << " words at " << offset;
    }
  }
}

TEST_P(WordKernelsTest, CombineWithItself) {
  Random random(2);
  for (const CombineCase& each : kCombineCases) {
    for (const std::size_t count : Counts()) {
      Words into = RandomWords(count, &random);
      Words expected = into;
      for (std::int32_t& word : expected) word = BitByBit(word, word, each.operation);
      (GetParam()->*each.kernel)(into.data(), into.data(), count);
      ASSERT_EQ(into, expected) << each.name << " " << count;
    }
  }
}

TEST_P(WordKernelsTest, CountAsBitByBit) {
  Random random(3);
  for (const std::size_t count : Counts()) {
    const std::size_t offset = random() % kOffsets;
    const Words words = RandomWords(offset + count + kGuardWords, &random);
    std::int64_t bits = 0;
    for (std::size_t i = 0; i < count; ++i)
      for (int bit = 0; bit < 32; ++bit) bits += Bit(words[offset + i], bit) ? 1 : 0;
    ASSERT_EQ(GetParam()->count_bits(words.data() + offset, count), bits) << count;
  }
}

TEST_P(WordKernelsTest, CountOfAllOnesDoesNotOverflow) {
  const Words ones(1 << 16, -1);
  EXPECT_EQ(GetParam()->count_bits(ones.data(), ones.size()), std::int64_t{32} << 16);
}

TEST_P(WordKernelsTest, TheFirstWordThatIsNotZeroWhereverItIs) {
  for (const std::size_t count : Counts()) {
    for (const std::int32_t value : {1, -1, std::int32_t{1} << 30, INT32_MIN}) {
      // After the words come others that are not zero, and are not to be looked at.
      Words words(count + kGuardWords, 0);
      for (std::size_t i = count; i < words.size(); ++i) words[i] = -1;
      ASSERT_EQ(GetParam()->find_nonzero(words.data(), count), count);
      for (std::size_t at = 0; at < count; at += count > 100 ? 97 : 1) {
        words[at] = value;
        ASSERT_EQ(GetParam()->find_nonzero(words.data(), count), at) << count;
        if (at + 1 < count) words[count - 1] = value;
        ASSERT_EQ(GetParam()->find_nonzero(words.data(), count), at) << count;
        words[at] = words[count - 1] = 0;
      }
    }
  }
}

TEST_P(WordKernelsTest, DifferencesAsWordByWord) {
  Random random(4);
  for (std::size_t count = 0; count <= 64; ++count) {
    const std::size_t offset = random() % kOffsets;
    const Words words = RandomWords(offset + count + kGuardWords, &random);
    Words others(words.begin() + static_cast<std::ptrdiff_t>(offset), words.end());
    // What comes behind differs, and is not to be looked at.
    for (std::size_t i = count; i < others.size(); ++i) others[i] = ~others[i];
    for (int run = 0; run < 20; ++run) {
      std::uint64_t expected = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const bool differs = run > 0 && (run == 1 || random() % 8 == 0);
        others[i] = words[offset + i] ^ (differs ? std::int32_t{1} << (random() % 31) : 0);
        if (differs) expected |= std::uint64_t{1} << i;
      }
      ASSERT_EQ(GetParam()->differences(words.data() + offset, others.data(), count), expected)
          << count;
    }
  }
}

TEST_P(WordKernelsTest, CanBeForcedByName) {
  ASSERT_TRUE(UseWordKernels(GetParam()->level).ok());
  EXPECT_EQ(&UsedWordKernels(), GetParam());
  ASSERT_TRUE(UseWordKernels("auto").ok());
  EXPECT_EQ(&UsedWordKernels(), &cpu::Best(AllWordKernels()));
}

INSTANTIATE_TEST_SUITE_P(All, WordKernelsTest,
                         testing::ValuesIn(AllWordKernels().begin(), AllWordKernels().end()),
                         [](const auto& test) { return std::string(test.param->level); });

TEST(WordKernels, AnUnknownNameIsRefusedWithWhatThereIs) {
  const WordKernels& before = UsedWordKernels();
  const absl::Status status = UseWordKernels("sse9");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_NE(message.find("\"sse9\""), std::string::npos) << message;
  for (const WordKernels* kernels : AllWordKernels()) {
    EXPECT_EQ(message.find(std::string(kernels->level)) != std::string::npos,
              cpu::Supports(kernels->level))
        << message;
  }
  EXPECT_EQ(&UsedWordKernels(), &before);
}

}  // namespace
}  // namespace maskd
