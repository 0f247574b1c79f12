// What every applier must do, as a table of appliers and element types. The cases named A1 to A10
// are promises that the engines' own appliers made first (shared design/peers.md, section 1).
#include "client/apply/applier.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/apply/each_applier.h"
#include "tests/apply/logits_fixture.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ApplierTest : public EachApplierTest {
 protected:
  LogitsPlane Distinct(std::int64_t rows, std::int64_t width, std::int64_t stride) {
    LogitsPlane plane(type(), rows, width, stride);
    plane.FillDistinct();
    return plane;
  }
  LogitsPlane Distinct(std::int64_t rows, std::int64_t width) {
    return Distinct(rows, width, width);
  }

  absl::Status Apply(std::int64_t vocab_size, const std::vector<MaskRow>& rows,
                     LogitsPlane& plane) {
    return applier_->Apply({.vocab_size = vocab_size, .rows = rows}, plane.view());
  }

  // Masks `constrained` rows of a batch at vocabulary 32,000 with one allowed token each and checks
  // what was touched.
  void CheckTouched(std::int64_t rows, const std::vector<std::int64_t>& constrained);
};

TEST_P(ApplierTest, A1TokenNinetyOf128IsWordTwo) {
  EXPECT_THAT(MaskOf(128, {90}), ElementsAre(0, 0, 67'108'864, 0));
  LogitsPlane plane = Distinct(1, 128);
  const std::vector<std::int32_t> words = {0, 0, 67'108'864, 0};
  ASSERT_TRUE(Apply(128, {MaskRow::Dense(0, words)}, plane).ok());
  EXPECT_THAT(plane.Finite(0), ElementsAre(90));
}

TEST_P(ApplierTest, A1EveryTokenHasItsOwnBit) {
  constexpr std::int64_t kVocab = 128;
  for (std::int64_t token = 0; token < kVocab; ++token) {
    LogitsPlane plane = Distinct(1, kVocab);
    const auto words = MaskOf(kVocab, {token});
    ASSERT_TRUE(Apply(kVocab, {MaskRow::Dense(0, words)}, plane).ok());
    ASSERT_THAT(plane.Finite(0), ElementsAre(token));
  }
}

TEST_P(ApplierTest, A2GreedyPicksTheAllowedTokenOfUniformLogits) {
  LogitsPlane plane(type(), 1, 128);
  plane.FillUniform(1.0F);
  EXPECT_EQ(plane.Greedy(0), 0);
  const auto words = MaskOf(128, {90});
  ASSERT_TRUE(Apply(128, {MaskRow::Dense(0, words)}, plane).ok());
  EXPECT_EQ(plane.Greedy(0), 90);
}

TEST_P(ApplierTest, A3RowsNotNamedAreBitIdentical) {
  LogitsPlane plane = Distinct(5, 200);
  const LogitsPlane before = plane;
  const auto words = MaskOf(200, {7});
  ASSERT_TRUE(Apply(200, {MaskRow::Dense(1, words), MaskRow::Dense(3, words)}, plane).ok());
  for (const std::int64_t row : {0, 2, 4}) EXPECT_EQ(plane.RowBytes(row), before.RowBytes(row));
  for (const std::int64_t row : {1, 3}) EXPECT_THAT(plane.Finite(row), ElementsAre(7));
}

void ApplierTest::CheckTouched(std::int64_t rows, const std::vector<std::int64_t>& constrained) {
  constexpr std::int64_t kVocab = 32'000;
  LogitsPlane plane = Distinct(rows, kVocab);
  LogitsPlane before = plane;
  const auto none = std::vector<std::int32_t>(kVocab / 32);
  std::vector<MaskRow> masks;
  for (const std::int64_t row : constrained) masks.push_back(MaskRow::Dense(row, none));
  ASSERT_TRUE(Apply(kVocab, masks, plane).ok());
  EXPECT_EQ(plane.CountChanged(before), static_cast<std::int64_t>(constrained.size()) * kVocab);
  std::size_t identical = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    identical += plane.RowBytes(row) == before.RowBytes(row);
  EXPECT_EQ(identical, static_cast<std::size_t>(rows) - constrained.size());
}

TEST_P(ApplierTest, A4Touches64000Of4096000) { CheckTouched(128, {5, 127}); }
TEST_P(ApplierTest, A4Touches32000Of2048000) { CheckTouched(64, {0}); }
TEST_P(ApplierTest, A4Touches96000Of1024000) { CheckTouched(32, {1, 16, 30}); }

TEST_P(ApplierTest, A5FiniteSetIsTheAllowedSet) {
  LogitsPlane plane = Distinct(3, 1000);
  const std::vector<std::vector<std::int64_t>> allowed = {{0}, {31, 32, 999}, {500, 501, 640}};
  std::vector<std::vector<std::int32_t>> words;
  for (const auto& each : allowed) words.push_back(MaskOf(1000, each));
  ASSERT_TRUE(
      Apply(1000,
            {MaskRow::Dense(0, words[0]), MaskRow::Dense(1, words[1]), MaskRow::Dense(2, words[2])},
            plane)
          .ok());
  for (int row = 0; row < 3; ++row) EXPECT_EQ(plane.Finite(row), allowed[row]);
}

// A batch as an engine packs it: decode sequences have one row, prefill sequences one row a prompt
// token of which the last is sampled, sequences with k drafts 1 + k rows that are all sampled.
struct Sequence {
  std::int64_t first_row;
  std::int64_t row_count;
  bool all_sampled;
};

std::vector<std::int64_t> SampledRows(const std::vector<Sequence>& sequences) {
  std::vector<std::int64_t> rows;
  for (const Sequence& each : sequences) {
    const std::int64_t end = each.first_row + each.row_count;
    for (std::int64_t row = each.all_sampled ? each.first_row : end - 1; row < end; ++row)
      rows.push_back(row);
  }
  return rows;
}

TEST_P(ApplierTest, A6RowsFollowTheEnginesMap) {
  const std::vector<Sequence> batch = {
      {0, 1, true},  {1, 1, true},   {2, 3, true},  // decode, decode, decode with two drafts
      {5, 7, false}, {12, 4, false},                // prefills of 7 and 4 tokens
  };
  const std::vector<std::int64_t> sampled = SampledRows(batch);
  ASSERT_THAT(sampled, ElementsAre(0, 1, 2, 3, 4, 11, 15));
  LogitsPlane plane = Distinct(16, 96);
  const LogitsPlane before = plane;
  std::vector<std::vector<std::int32_t>> words;
  for (const std::int64_t row : sampled) words.push_back(MaskOf(96, {row + 40}));
  std::vector<MaskRow> masks;
  for (std::size_t i = 0; i < sampled.size(); ++i)
    masks.push_back(MaskRow::Dense(sampled[i], words[i]));
  ASSERT_TRUE(Apply(96, masks, plane).ok());
  for (const std::int64_t row : sampled) EXPECT_THAT(plane.Finite(row), ElementsAre(row + 40));
  for (const std::int64_t row : {5, 6, 10, 12, 14})
    EXPECT_EQ(plane.RowBytes(row), before.RowBytes(row));
}

TEST_P(ApplierTest, A6OrderOfRowsIsFree) {
  LogitsPlane plane = Distinct(4, 64);
  const auto first = MaskOf(64, {1});
  const auto second = MaskOf(64, {2});
  ASSERT_TRUE(Apply(64, {MaskRow::Dense(3, first), MaskRow::Dense(0, second)}, plane).ok());
  EXPECT_THAT(plane.Finite(3), ElementsAre(1));
  EXPECT_THAT(plane.Finite(0), ElementsAre(2));
}

TEST_P(ApplierTest, A8MismatchIsAnErrorAndNothingIsWritten) {
  LogitsPlane plane = Distinct(2, 128);
  const auto before = plane.bytes();
  const auto good = MaskOf(128, {1});
  const auto short_words = MaskOf(96, {1});
  const absl::Status status =
      Apply(128, {MaskRow::Dense(0, good), MaskRow::Dense(1, short_words)}, plane);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(plane.bytes(), before);
}

TEST_P(ApplierTest, A10ResultIsInPlaceAndNothingElseIsKept) {
  LogitsPlane plane = Distinct(1, 128);
  std::vector<std::int32_t> words = MaskOf(128, {90});
  const std::vector<std::int32_t> words_before = words;
  const void* const data = plane.view().data;
  ASSERT_TRUE(Apply(128, {MaskRow::Dense(0, words)}, plane).ok());
  EXPECT_EQ(plane.view().data, data);
  EXPECT_EQ(words, words_before);
  const auto after = plane.bytes();
  words.assign(words.size(), 0);
  EXPECT_EQ(plane.bytes(), after);
}

TEST_P(ApplierTest, AllowedLogitsKeepTheirBits) {
  LogitsPlane plane = Distinct(1, 300);
  LogitsPlane before = plane;
  std::vector<std::int64_t> allowed;
  for (std::int64_t token = 0; token < 300; token += 3) allowed.push_back(token);
  const auto words = MaskOf(300, allowed);
  ASSERT_TRUE(Apply(300, {MaskRow::Dense(0, words)}, plane).ok());
  for (const std::int64_t token : allowed) EXPECT_EQ(plane.Get(0, token), before.Get(0, token));
  EXPECT_EQ(plane.Finite(0), allowed);
}

TEST_P(ApplierTest, PaddingPastTheVocabularyIsMinusInfinity) {
  LogitsPlane plane = Distinct(2, 160, 170);
  const LogitsPlane before = plane;
  const auto words = MaskOf(130, {0, 129});
  ASSERT_TRUE(Apply(130, {MaskRow::Dense(0, words)}, plane).ok());
  EXPECT_THAT(plane.Finite(0), ElementsAre(0, 129));
  EXPECT_EQ(plane.RowBytes(1), before.RowBytes(1));
}

TEST_P(ApplierTest, GapBetweenRowsIsNotTouched) {
  constexpr std::int64_t kWidth = 100;
  constexpr std::int64_t kStride = 117;
  LogitsPlane plane = Distinct(3, kWidth, kStride);
  LogitsPlane before = plane;
  const auto none = MaskOf(kWidth, {});
  std::vector<MaskRow> rows;
  for (int row = 0; row < 3; ++row) rows.push_back(MaskRow::Dense(row, none));
  ASSERT_TRUE(Apply(kWidth, rows, plane).ok());
  EXPECT_EQ(plane.CountChanged(before), 3 * kWidth);
  for (std::int64_t column = kWidth; column < kStride; ++column)
    EXPECT_EQ(plane.Get(1, column), before.Get(1, column));
}

TEST_P(ApplierTest, BitsPastTheVocabularyAreIgnored) {
  LogitsPlane plane = Distinct(1, 64);
  const std::vector<std::int32_t> words = {0, -1};
  ASSERT_TRUE(Apply(35, {MaskRow::Dense(0, words)}, plane).ok());
  EXPECT_THAT(plane.Finite(0), ElementsAre(32, 33, 34));
}

TEST_P(ApplierTest, FullRowIsUntouchedPaddingIncluded) {
  LogitsPlane plane = Distinct(2, 160);
  const LogitsPlane before = plane;
  ASSERT_TRUE(Apply(130, {MaskRow::Full(1)}, plane).ok());
  EXPECT_EQ(plane.bytes(), before.bytes());
}

TEST_P(ApplierTest, FullAndDenseRowsMix) {
  LogitsPlane plane = Distinct(3, 64);
  const LogitsPlane before = plane;
  const auto words = MaskOf(64, {63});
  ASSERT_TRUE(
      Apply(64, {MaskRow::Full(0), MaskRow::Dense(1, words), MaskRow::Full(2)}, plane).ok());
  EXPECT_EQ(plane.RowBytes(0), before.RowBytes(0));
  EXPECT_THAT(plane.Finite(1), ElementsAre(63));
  EXPECT_EQ(plane.RowBytes(2), before.RowBytes(2));
}

TEST_P(ApplierTest, AllOnesChangesNothing) {
  LogitsPlane plane = Distinct(1, 32'000);
  const auto before = plane.bytes();
  const std::vector<std::int32_t> ones(1000, -1);
  ASSERT_TRUE(Apply(32'000, {MaskRow::Dense(0, ones)}, plane).ok());
  EXPECT_EQ(plane.bytes(), before);
}

TEST_P(ApplierTest, AllZerosForbidsEverything) {
  LogitsPlane plane = Distinct(1, 1003);
  const auto none = MaskOf(1003, {});
  ASSERT_TRUE(Apply(1003, {MaskRow::Dense(0, none)}, plane).ok());
  EXPECT_THAT(plane.Finite(0), IsEmpty());
}

TEST_P(ApplierTest, NoRowsIsNothingToDo) {
  LogitsPlane plane = Distinct(2, 64);
  const auto before = plane.bytes();
  ASSERT_TRUE(Apply(64, {}, plane).ok());
  EXPECT_EQ(plane.bytes(), before);
}

TEST_P(ApplierTest, TwiceIsTheSameAsOnce) {
  LogitsPlane plane = Distinct(1, 777);
  const auto words = MaskOf(777, {1, 100, 776});
  ASSERT_TRUE(Apply(777, {MaskRow::Dense(0, words)}, plane).ok());
  const auto once = plane.bytes();
  ASSERT_TRUE(Apply(777, {MaskRow::Dense(0, words)}, plane).ok());
  EXPECT_EQ(plane.bytes(), once);
}

TEST_P(ApplierTest, LogitsNeedNoAlignment) {
  std::vector<std::byte> storage(64 * 4 + 1);
  const Logits logits{
      .data = storage.data() + 1, .type = type(), .row_count = 1, .width = 64, .row_stride = 64};
  const auto none = MaskOf(64, {});
  const std::vector<MaskRow> rows = {MaskRow::Dense(0, none)};
  ASSERT_TRUE(applier_->Apply({.vocab_size = 64, .rows = rows}, logits).ok());
  EXPECT_EQ(storage[0], std::byte{0});
  EXPECT_NE(storage[static_cast<std::size_t>(64 * ElementBytes(type()))], std::byte{0});
}

TEST_P(ApplierTest, EqualsConvertingMaskingConvertingBack) {
  constexpr std::int64_t kVocab = 513;
  LogitsPlane plane = Distinct(1, kVocab);
  LogitsPlane wide(LogitsType::kFloat32, 1, kVocab);
  for (std::int64_t column = 0; column < kVocab; ++column)
    wide.Set(0, column, plane.Get(0, column));
  const auto words = MaskOf(kVocab, {2, 64, 65, 512});
  const std::vector<MaskRow> rows = {MaskRow::Dense(0, words)};
  ASSERT_TRUE(Apply(kVocab, rows, plane).ok());
  ASSERT_TRUE(Apply(kVocab, rows, wide).ok());
  LogitsPlane back(type(), 1, kVocab);
  for (std::int64_t column = 0; column < kVocab; ++column) back.Set(0, column, wide.Get(0, column));
  EXPECT_EQ(plane.bytes(), back.bytes());
}

TEST_P(ApplierTest, ManyThreadsShareAnApplier) {
  constexpr int kThreads = 4;
  constexpr std::int64_t kVocab = 4096;
  LogitsPlane plane = Distinct(kThreads, kVocab);
  const Logits logits = plane.view();
  std::vector<std::thread> threads;
  for (int row = 0; row < kThreads; ++row) {
    threads.emplace_back([this, row, logits] {
      const auto words = MaskOf(kVocab, {row});
      const std::vector<MaskRow> rows = {MaskRow::Dense(row, words)};
      for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(applier_->Apply({.vocab_size = kVocab, .rows = rows}, logits).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int row = 0; row < kThreads; ++row) EXPECT_THAT(plane.Finite(row), ElementsAre(row));
}

// peers.md A12: the origin's applier came with 30 tests.
TEST(Appliers, A12EachHasThirtyTestsAndMore) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::map<std::string, int> count;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const absl::string_view name = suite.GetTestInfo(k)->name();
      const std::size_t slash = name.rfind('/');
      if (slash != absl::string_view::npos) ++count[std::string(name.substr(slash + 1))];
    }
  }
  for (const std::string& applier : ApplierNames())
    for (const LogitsType type : kLogitsTypes) EXPECT_GE(count[applier + TypeName(type)], 30);
}

INSTANTIATE_TEST_SUITE_P(Appliers, ApplierTest, EachApplierAndType(), CaseName);

}  // namespace
}  // namespace maskd::client
