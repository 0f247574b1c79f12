#include "service/grammars/text_reader.h"

#include <atomic>
#include <latch>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

namespace maskd::service {
namespace {

const cache::WorkPool::Turn kLong = {.cost = 5'000, .is_short = false};
const cache::WorkPool::Turn kShort = {.cost = 1, .is_short = true};

// A read that counts itself in `*reads`.
TextReader::Read ReadAs(const std::string& id, std::atomic<int>* reads) {
  return [id, reads] {
    ++*reads;
    return TextReader::Text{id, ParsedSource()};
  };
}

TEST(TextReaderTest, ATextThatComesAgainIsNotReadAgain) {
  for (const int threads : {0, 2}) {
    for (const auto& turn : {kShort, kLong}) {
      TextReader reader(threads);
      std::atomic<int> reads = 0;
      EXPECT_FALSE(reader.Knows("a"));
      const auto first = reader.Get("a", ReadAs("id", &reads), turn);
      ASSERT_TRUE(first.ok());
      EXPECT_EQ(first->id, "id");
      EXPECT_TRUE(first->parsed.has_value());
      EXPECT_TRUE(reader.Knows("a"));
      const auto again = reader.Get("a", ReadAs("other", &reads), turn);
      ASSERT_TRUE(again.ok());
      EXPECT_EQ(again->id, "id");
      EXPECT_FALSE(again->parsed.has_value());
      EXPECT_EQ(reads, 1);
    }
  }
}

TEST(TextReaderTest, AnErrorIsNotKept) {
  TextReader reader(1);
  for (int i = 0; i < 2; ++i) {
    const auto text =
        reader.Get("a", [] { return absl::InvalidArgumentError("/x: wrong"); }, kLong);
    EXPECT_EQ(text.status(), absl::InvalidArgumentError("/x: wrong"));
    EXPECT_FALSE(reader.Knows("a"));
    EXPECT_EQ(reader.reading(), 0U);
  }
}

TEST(TextReaderTest, WhoBringsTheSameTextMeanwhileSharesItsReading) {
  TextReader reader(2);
  std::latch begun(1);
  std::latch release(1);
  std::atomic<int> reads = 0;
  const auto slow = [&]() -> absl::StatusOr<TextReader::Text> {
    ++reads;
    begun.count_down();
    release.wait();
    return TextReader::Text{"id", ParsedSource()};
  };
  std::atomic<int> with_tree = 0;
  const auto ask = [&] {
    const auto text = reader.Get("a", slow, kLong);
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(text->id, "id");
    with_tree += text->parsed.has_value() ? 1 : 0;
  };
  std::thread first(ask);
  begun.wait();
  EXPECT_TRUE(reader.Knows("a"));
  EXPECT_EQ(reader.reading(), 1U);
  std::thread second(ask);
  std::thread third(ask);
  release.count_down();
  for (std::thread* thread : {&first, &second, &third}) thread->join();
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(with_tree, 1);
  EXPECT_EQ(reader.reading(), 0U);
}

TEST(TextReaderTest, AShortTextWaitsForNoLongOne) {
  TextReader reader(1);
  std::latch begun(1);
  std::latch release(1);
  std::thread other([&] {
    const auto text = reader.Get(
        "long",
        [&]() -> absl::StatusOr<TextReader::Text> {
          begun.count_down();
          release.wait();
          return TextReader::Text{"id", std::nullopt};
        },
        kLong);
    EXPECT_TRUE(text.ok());
  });
  begun.wait();
  std::atomic<int> reads = 0;
  EXPECT_TRUE(reader.Get("short", ReadAs("id", &reads), kShort).ok());
  release.count_down();
  other.join();
}

TEST(TextReaderTest, TheTextsUsedLastAreKnown) {
  TextReader reader(0);
  std::atomic<int> reads = 0;
  for (std::size_t i = 0; i < 8 * TextReader::kMaxKnown; ++i) {
    ASSERT_TRUE(reader.Get(absl::StrCat(i), ReadAs("id", &reads), kShort).ok());
    if (i % 1'000 == 0) ASSERT_TRUE(reader.Get("used", ReadAs("used", &reads), kShort).ok());
  }
  EXPECT_EQ(reads, 8 * TextReader::kMaxKnown + 1);
  EXPECT_FALSE(reader.Knows("0"));
  EXPECT_TRUE(reader.Knows(absl::StrCat(7 * TextReader::kMaxKnown + 1)));
}

}  // namespace
}  // namespace maskd::service
