// What a mask says of its tokens, in each form and however it is asked, against a set of ids; and
// the memory that masks lie in.
#include "client/cpp/masks/mask_view.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/cpp/masks/mask_reader.h"
#include "client/cpp/masks/mask_storage.h"

namespace maskd::client {
namespace {

using testing::Each;
using testing::ElementsAreArray;

using Random = std::mt19937_64;
using Ids = std::set<std::int32_t>;

bool Bit(std::span<const std::int32_t> words, std::int32_t token) {
  const auto word = static_cast<std::uint32_t>(words[static_cast<std::size_t>(token / 32)]);
  return (word >> (token % 32) & 1) != 0;
}

// One in `one_in` of all tokens; the first and the last are in often.
Ids RandomIds(Random& random, std::int64_t vocab, std::uint64_t one_in) {
  Ids ids;
  for (std::int32_t id = 0; id < vocab; ++id)
    if (random() % one_in == 0) ids.insert(id);
  if (random() % 2 == 0) ids.insert(0);
  if (random() % 2 == 0) ids.insert(static_cast<std::int32_t>(vocab - 1));
  return ids;
}

TEST(MaskWordsTest, AreThoseOfThePlainSet) {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const std::int64_t vocab = 1 + static_cast<std::int64_t>(random() % 200);
    const std::size_t word_count = static_cast<std::size_t>((vocab + 31) / 32) + random() % 3;
    const Ids ids = RandomIds(random, vocab, 1 + random() % 9);
    const std::vector<std::int32_t> list(ids.begin(), ids.end());
    std::vector<std::int32_t> allowed(word_count, 0x5A5A5A5A);
    std::vector<std::int32_t> forbidden = allowed;
    ExpandAllowed(list, allowed);
    ExpandForbidden(list, vocab, forbidden);
    for (std::int32_t token = 0; token < static_cast<std::int32_t>(32 * word_count); ++token) {
      ASSERT_EQ(Bit(allowed, token), ids.contains(token)) << token << " of " << vocab;
      ASSERT_EQ(Bit(forbidden, token), token < vocab && !ids.contains(token))
          << token << " of " << vocab;
    }
    FlipIds(list, forbidden);
    EXPECT_EQ(Bit(forbidden, static_cast<std::int32_t>(vocab - 1)), true);
    std::vector<std::int32_t> all(word_count);
    ExpandForbidden({}, vocab, all);
    EXPECT_EQ(forbidden, all);
  }
}

// A server's answer of one position, read.
class MaskViewTest : public testing::Test {
 protected:
  void Make(std::int64_t vocab, std::int64_t width) {
    v1::Welcome welcome;
    welcome.set_mask_words(static_cast<std::uint32_t>((width + 31) / 32));
    welcome.mutable_tokenizer()->set_vocab_size(static_cast<std::int32_t>(vocab));
    welcome.set_dictionary_size(1);
    reader_ = std::make_unique<MaskReader>(welcome);
    storage_ = std::make_unique<MaskStorage>();
    storage_->pool = std::make_unique<WordPool>(welcome.mask_words());
  }
  MaskView Read(const v1::Position& position) {
    const std::string bytes = position.SerializeAsString();
    WireInput in(bytes);
    const auto mask = reader_->Read(in, *storage_);
    EXPECT_TRUE(mask.ok()) << mask.status();
    return *mask;
  }

  std::unique_ptr<MaskReader> reader_;
  std::unique_ptr<MaskStorage> storage_;
};

// `ids` as the wire has them in that form.
v1::Position PositionOf(const Ids& ids, std::int64_t vocab, std::size_t word_count, int form) {
  v1::Position position;
  if (form == 0) {
    std::vector<std::int32_t> words(word_count);
    ExpandAllowed(std::vector<std::int32_t>(ids.begin(), ids.end()), words);
    position.set_dense(words.data(), words.size() * sizeof(std::int32_t));
  }
  for (std::int32_t id = 0; form != 0 && id < vocab; ++id) {
    if (form == 1 && ids.contains(id)) position.mutable_allowed_ids()->add_ids(id);
    if (form == 2 && !ids.contains(id)) position.mutable_forbidden_ids()->add_ids(id);
  }
  if (form == 1) position.mutable_allowed_ids();
  if (form == 2) position.mutable_forbidden_ids();
  return position;
}

TEST_F(MaskViewTest, EachFormSaysTheSame) {
  Random random(2);
  int asked = 0;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t vocab = 1 + static_cast<std::int64_t>(random() % (i % 4 == 0 ? 900 : 100));
    const std::int64_t width = vocab + static_cast<std::int64_t>(random() % 70);
    const auto word_count = static_cast<std::size_t>((width + 31) / 32);
    const Ids ids = RandomIds(random, vocab, 1 + random() % 5);
    for (int form = 0; form < 3; ++form) {
      for (const bool kept : {false, true}) {
        Make(vocab, width);
        v1::Position position = PositionOf(ids, vocab, word_count, form);
        if (kept) position.set_dictionary_slot(0);
        MaskView mask = Read(position);
        if (kept) {
          v1::Position same;
          same.set_same_as(0);
          const MaskView again = Read(same);
          EXPECT_EQ(again.serial(), mask.serial());
          mask = again;
        }
        const std::string what = absl::StrCat("form ", form, ", kept ", kept, ", case ", i);
        // Before its words are made, and after.
        for (const bool has_words : {false, true}) {
          if (has_words) {
            ASSERT_EQ(mask.words().size(), word_count) << what;
            for (std::int32_t token = 0; token < static_cast<std::int32_t>(32 * word_count);
                 ++token)
              ASSERT_EQ(Bit(mask.words(), token), ids.contains(token)) << what << ": " << token;
          }
          for (std::int32_t token = -2; token < vocab + 3; ++token) {
            ASSERT_EQ(mask.Allows(token, vocab), ids.contains(token)) << what << ": " << token;
            ++asked;
          }
          std::vector<std::int32_t> row(word_count + 2, 77);
          mask.CopyToRow(static_cast<std::int64_t>(word_count), row);
          std::vector<std::int32_t> expected(word_count + 2);
          ExpandAllowed(std::vector<std::int32_t>(ids.begin(), ids.end()), expected);
          ASSERT_EQ(row, expected) << what;
        }
      }
    }
  }
  EXPECT_GT(asked, 100'000);
}

TEST_F(MaskViewTest, WithoutAMaskAllOrNothingIsAllowed) {
  Make(40, 64);
  v1::Position position;
  position.set_full(true);
  const MaskView full = Read(position);
  position.set_invalid(true);
  const MaskView invalid = Read(position);
  EXPECT_TRUE(full.words().empty());
  EXPECT_TRUE(invalid.words().empty());
  EXPECT_TRUE(full.Allows(39, 40));
  EXPECT_FALSE(full.Allows(40, 40));
  EXPECT_FALSE(full.Allows(-1, 40));
  EXPECT_FALSE(invalid.Allows(3, 40));
  std::vector<std::int32_t> row(4, 5);
  full.CopyToRow(2, row);
  EXPECT_THAT(row, ElementsAreArray({-1, -1, 0, 0}));
}

TEST(WordPoolTest, SpansStayWhereTheyAre) {
  WordPool pool(3);
  std::vector<std::span<std::int32_t>> spans;
  for (std::int32_t i = 0; i < 1000; ++i) {
    spans.push_back(pool.Take());
    ASSERT_EQ(spans.back().size(), 3);
    std::ranges::fill(spans.back(), i);
  }
  for (std::int32_t i = 0; i < 1000; ++i) EXPECT_THAT(spans[static_cast<std::size_t>(i)], Each(i));
  pool.Clear();
  EXPECT_EQ(pool.Take().data(), spans[0].data()) << "memory is used again";
}

TEST(MaskStorageTest, ListsStayWhereTheyAreUntilItIsCleared) {
  MaskStorage storage;
  storage.pool = std::make_unique<WordPool>(1);
  std::vector<std::span<const std::int32_t>> lists;
  for (std::int32_t i = 0; i < 200; ++i) {
    std::vector<std::int32_t>& list = storage.TakeIds();
    EXPECT_TRUE(list.empty());
    list.assign(static_cast<std::size_t>(i % 7 + 1), i);
    lists.emplace_back(list);
  }
  // A storage that moves takes them along.
  MaskStorage moved = std::move(storage);
  for (std::int32_t i = 0; i < 200; ++i) EXPECT_THAT(lists[static_cast<std::size_t>(i)], Each(i));
  moved.Clear();
  EXPECT_EQ(moved.used_ids, 0U);
  EXPECT_EQ(moved.TakeIds().data(), lists[0].data()) << "memory is used again";
}

}  // namespace
}  // namespace maskd::client
