// A short form does to a row, bit for bit, what the dense row of the same set does: over random
// sets, vocabularies, paddings and strides, for every applier and element type.
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/apply/applier.h"
#include "tests/apply/each_applier.h"
#include "tests/apply/logits_fixture.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Words = std::vector<std::int32_t>;
using Ids = std::vector<std::int32_t>;

constexpr std::int64_t kRows = 3;
constexpr std::int64_t kSlot = 1;

// What the forms of one row say, and the dense words that each of them means.
struct RandomSets {
  RandomSets(std::mt19937_64& random, std::int64_t vocab) : base(MaskWordCount(vocab)) {
    for (std::int32_t& word : base) word = static_cast<std::int32_t>(random());
    only = except = Words(base.size());
    changed = base;
    const std::uint64_t one_in = 1 + random() % 40;
    for (std::int64_t token = 0; token < vocab; ++token) {
      const auto bit = static_cast<std::int32_t>(1U << (token % 32));
      if (random() % one_in == 0) {
        ids.push_back(static_cast<std::int32_t>(token));
        only[token / 32] |= bit;
        changed[token / 32] ^= bit;
      } else {
        except[token / 32] |= bit;
      }
    }
  }
  Ids ids;
  Words base, only, except, changed;
};

class RowFormsTest : public EachApplierTest {
 protected:
  // The plane after `row` alone, or the status as a failure.
  std::vector<std::byte> After(LogitsPlane plane, std::int64_t vocab, const MaskRow& row,
                               const MaskDictionary* dictionary = nullptr) {
    const std::vector<MaskRow> rows = {row};
    const MaskRows masks{.vocab_size = vocab, .rows = rows, .dictionary = dictionary};
    EXPECT_EQ(applier_->Apply(masks, plane.view()), absl::OkStatus());
    return plane.bytes();
  }
};

TEST_P(RowFormsTest, EachFormIsItsDenseRow) {
  std::mt19937_64 random(20261122);
  for (int i = 0; i < 60; ++i) {
    const std::int64_t vocab = 1 + static_cast<std::int64_t>(random() % (i % 2 == 0 ? 70 : 3000));
    const std::int64_t width = vocab + static_cast<std::int64_t>(random() % 70);
    LogitsPlane plane(type(), kRows, width, width + static_cast<std::int64_t>(random() % 9));
    plane.FillDistinct();
    const RandomSets sets(random, vocab);
    auto dictionary = applier_->MakeDictionary(vocab, kSlot + 1);
    ASSERT_TRUE(dictionary.ok() && (*dictionary)->Set(kSlot, sets.base).ok());
    const MaskDictionary* const slots = dictionary->get();

    const auto dense = [&](const Words& words) {
      return After(plane, vocab, MaskRow::Dense(1, words));
    };
    EXPECT_EQ(After(plane, vocab, MaskRow::Allowed(1, sets.ids)), dense(sets.only));
    EXPECT_EQ(After(plane, vocab, MaskRow::Forbidden(1, sets.ids)), dense(sets.except));
    EXPECT_EQ(After(plane, vocab, MaskRow::Delta(1, sets.base, sets.ids)), dense(sets.changed));
    EXPECT_EQ(After(plane, vocab, MaskRow::Same(1, kSlot), slots), dense(sets.base));
    EXPECT_EQ(After(plane, vocab, MaskRow::Delta(1, kSlot, sets.ids), slots), dense(sets.changed));
    ASSERT_FALSE(HasFailure()) << "vocab " << vocab << " width " << width << " ids "
                               << sets.ids.size();
  }
}

TEST_P(RowFormsTest, AllFormsInOneBatch) {
  constexpr std::int64_t kVocab = 70;
  LogitsPlane plane(type(), 6, 80);
  plane.FillDistinct();
  const LogitsPlane before = plane;
  const Words words = MaskOf(kVocab, {1, 2, 69});
  const Ids ids = {0, 2, 69};
  auto dictionary = applier_->MakeDictionary(kVocab, 3);
  ASSERT_TRUE(dictionary.ok() && (*dictionary)->Set(2, words).ok());
  const std::vector<MaskRow> rows = {MaskRow::Full(0), MaskRow::Dense(5, words),
                                     MaskRow::Allowed(1, ids), MaskRow::Delta(4, words, ids),
                                     MaskRow::Same(2, 2)};
  ASSERT_EQ(applier_->Apply({.vocab_size = kVocab, .rows = rows, .dictionary = dictionary->get()},
                            plane.view()),
            absl::OkStatus());
  for (const std::int64_t row : {0, 3}) EXPECT_EQ(plane.RowBytes(row), before.RowBytes(row));
  EXPECT_THAT(plane.Finite(1), ElementsAre(0, 2, 69));
  for (const std::int64_t row : {2, 5}) EXPECT_THAT(plane.Finite(row), ElementsAre(1, 2, 69));
  EXPECT_THAT(plane.Finite(4), ElementsAre(0, 1));
}

TEST_P(RowFormsTest, NothingAllowedAndNothingForbidden) {
  LogitsPlane plane(type(), 2, 100);
  plane.FillDistinct();
  LogitsPlane before = plane;
  const std::vector<MaskRow> rows = {MaskRow::Allowed(0, {}), MaskRow::Forbidden(1, {})};
  ASSERT_TRUE(applier_->Apply({.vocab_size = 90, .rows = rows}, plane.view()).ok());
  EXPECT_THAT(plane.Finite(0), IsEmpty());
  EXPECT_EQ(plane.Finite(1).size(), 90);  // padding is no token
}

// Longer than what is kept on the stack.
TEST_P(RowFormsTest, LongListsOfIds) {
  constexpr std::int64_t kVocab = 5000;
  LogitsPlane plane(type(), 1, kVocab);
  plane.FillDistinct();
  Ids ids;
  for (std::int32_t id = 1; id < kVocab; id += 2) ids.push_back(id);
  const std::vector<MaskRow> rows = {MaskRow::Allowed(0, ids)};
  ASSERT_TRUE(applier_->Apply({.vocab_size = kVocab, .rows = rows}, plane.view()).ok());
  EXPECT_EQ(plane.Finite(0), std::vector<std::int64_t>(ids.begin(), ids.end()));
}

INSTANTIATE_TEST_SUITE_P(Appliers, RowFormsTest, EachApplierAndType(), CaseName);

}  // namespace
}  // namespace maskd::client
