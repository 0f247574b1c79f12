#include "grammar_core/base/held_bytes.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

TEST(HeldBytesTest, AShortTextHoldsNothing) {
  EXPECT_EQ(HeldBytes(std::string("short")), 0);
  EXPECT_EQ(HeldBytes(std::u32string(U"abc")), 0);
}

TEST(HeldBytesTest, ALongTextHoldsItsCapacityAndTheEnd) {
  std::string text;
  text.reserve(100);
  EXPECT_EQ(HeldBytes(text), static_cast<std::int64_t>(text.capacity()) + 1);
  std::u32string wide;
  wide.reserve(100);
  EXPECT_EQ(HeldBytes(wide), (static_cast<std::int64_t>(wide.capacity()) + 1) * 4);
}

TEST(HeldBytesTest, AVectorHoldsItsCapacity) {
  std::vector<std::uint64_t> numbers;
  EXPECT_EQ(HeldBytes(numbers), 0);
  numbers.reserve(10);
  EXPECT_EQ(HeldBytes(numbers), 80);
}

TEST(HeldBytesTest, WithWhatItsElementsHold) {
  std::vector<std::string> texts(2);
  texts[0].reserve(100);
  const auto of_text = [](const std::string& text) { return HeldBytes(text); };
  EXPECT_EQ(
      HeldBytes(texts, of_text),
      static_cast<std::int64_t>(texts.capacity() * sizeof(std::string)) + HeldBytes(texts[0]));
}

TEST(HeldBytesTest, ATableHoldsItsSlots) {
  absl::flat_hash_map<std::uint64_t, std::uint64_t> table;
  EXPECT_EQ(TableBytes(table), 0);
  for (std::uint64_t key = 0; key < 100; ++key) table[key] = 0;
  EXPECT_GE(TableBytes(table), 100 * 17);
  EXPECT_EQ(TableBytes(table), static_cast<std::int64_t>(table.capacity() * 17));
}

}  // namespace
}  // namespace maskd
