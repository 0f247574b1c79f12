// Numbers found by what they stand for, against std::unordered_map.
#include "grammar_core/base/index_table.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

// Texts by their numbers; `bits` of their hashes are kept, so that chains can be made long.
struct ByText {
  const std::vector<std::string>* texts;
  std::size_t bits;
  std::size_t operator()(const std::string& text) const {
    return std::hash<std::string>()(text) & bits;
  }
  std::size_t operator()(std::uint32_t number) const { return (*this)((*texts)[number]); }
  bool operator()(std::uint32_t number, const std::string& text) const {
    return (*texts)[number] == text;
  }
};
using Table = IndexTable<ByText>;

struct Row {
  const char* name;
  std::size_t bits;
  int texts;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class IndexTableTest : public testing::TestWithParam<Row> {};

TEST_P(IndexTableTest, FindsWhatAMapFinds) {
  std::vector<std::string> texts;
  Table table(ByText{&texts, GetParam().bits});
  std::unordered_map<std::string, std::uint32_t> known;
  std::mt19937 random(7);
  std::uniform_int_distribution<int> text_of(0, GetParam().texts);
  for (int i = 0; i < 2 * GetParam().texts; ++i) {
    const std::string text = std::to_string(text_of(random));
    const auto [number, hash] = table.Find(text);
    const auto [at, is_new] = known.try_emplace(text, table.size());
    ASSERT_EQ(number, is_new ? Table::kNone : at->second) << text;
    if (!is_new) continue;
    table.Add(hash);
    texts.push_back(text);
  }
  ASSERT_EQ(table.size(), known.size());
  for (const auto& [text, number] : known) ASSERT_EQ(table.Find(text).number, number);
  EXPECT_EQ(table.Find("none").number, Table::kNone);
}

TEST_P(IndexTableTest, GoesOnFromAnotherOne) {
  std::vector<std::string> texts;
  Table table(ByText{&texts, GetParam().bits});
  const auto add = [](int number, std::vector<std::string>* to, Table* into) {
    const std::string text = std::to_string(number);
    into->Add(into->Find(text).hash);
    to->push_back(text);
  };
  const int half = GetParam().texts / 2;
  for (int i = 0; i < half; ++i) add(i, &texts, &table);
  std::vector<std::string> more = texts;
  Table longer(ByText{&more, GetParam().bits}, table, 10);
  for (int i = half; i < GetParam().texts; ++i) add(i, &more, &longer);
  for (int i = 0; i < GetParam().texts; ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    EXPECT_EQ(longer.Find(std::to_string(i)).number, number);
    EXPECT_EQ(table.Find(std::to_string(i)).number, i < half ? number : Table::kNone);
  }
}

INSTANTIATE_TEST_SUITE_P(Hashes, IndexTableTest,
                         testing::Values(Row{"AllDiffer", ~std::size_t{0}, 3'000},
                                         // From 65,535 on numbers take four bytes.
                                         Row{"MoreThanShortNumbers", ~std::size_t{0}, 150'000},
                                         Row{"AllTheSame", 0, 300}, Row{"FewDiffer", 7, 1'000},
                                         Row{"HighBitsAlone", ~std::size_t{0xFFFF}, 500}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(IndexTableBytesTest, TakesThreeBytesAnElementAndAnEighth) {
  std::vector<std::string> texts;
  Table table(ByText{&texts, ~std::size_t{0}});
  for (std::int64_t i = 1; i < 65'000; ++i) {
    const std::string text = std::to_string(i);
    table.Add(table.Find(text).hash);
    texts.push_back(text);
    ASSERT_GE(table.held_bytes(), 3 * i);
    ASSERT_LE(table.held_bytes(), 3 * i + i / 2 + 160);
  }
}

}  // namespace
}  // namespace maskd
