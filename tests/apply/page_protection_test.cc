// Nothing outside the named rows is read or written: the pages of all other rows, and of the gaps
// between rows, may not be accessed at all while masks are applied. Nor may what lies behind a
// mask's words.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "client/apply/applier.h"
#include "tests/apply/each_applier.h"
#include "tests/apply/guarded_plane.h"
#include "tests/apply/logits_fixture.h"

namespace maskd::client {
namespace {

class PageProtectionTest : public EachApplierTest {};

TEST_P(PageProtectionTest, OnlyTheNamedRowsAreAccessed) {
  GuardedPlane plane(type());
  ASSERT_TRUE(plane.Open(1) && plane.Open(3) && plane.Open(4));
  const Logits logits = plane.view();
  const std::int64_t vocab = logits.width - 37;
  const auto words = MaskOf(vocab, {0, vocab - 1});
  const std::vector<std::int32_t> ids = {2, 700};
  const std::vector<MaskRow> rows = {MaskRow::Full(0), MaskRow::Dense(1, words),
                                     MaskRow::Allowed(3, ids), MaskRow::Forbidden(4, ids)};
  EXPECT_EQ(applier_->Apply({.vocab_size = vocab, .rows = rows}, logits), absl::OkStatus());
  // The open rows were masked: their last logit is padding.
  for (const std::int64_t row : {1, 3, 4})
    EXPECT_NE(plane.Row(row)[logits.width * ElementBytes(type()) - 1], std::byte{0}) << row;
}

TEST_P(PageProtectionTest, NorByWhatADictionaryHoldsAndByTuning) {
  GuardedPlane plane(type());
  ASSERT_TRUE(plane.Open(0) && plane.Open(2) && plane.Open(4));
  const Logits logits = plane.view();
  const std::int64_t vocab = logits.width - 5;
  const auto dictionary = applier_->MakeDictionary(vocab, 1);
  ASSERT_TRUE(dictionary.ok() && (*dictionary)->Set(0, MaskOf(vocab, {1, vocab - 1})).ok());
  const std::vector<std::int32_t> ids = {0, 700};
  const std::vector<LogitBias> biases = {{1, 2}};
  const std::vector<MaskRow> rows = {MaskRow::Same(0, 0), MaskRow::Delta(2, 0, ids),
                                     MaskRow::Same(4, 0).With(biases, 2)};
  EXPECT_EQ(
      applier_->Apply({.vocab_size = vocab, .rows = rows, .dictionary = dictionary->get()}, logits),
      absl::OkStatus());
  for (const std::int64_t row : {0, 2, 4})
    EXPECT_NE(plane.Row(row)[logits.width * ElementBytes(type()) - 1], std::byte{0}) << row;
}

// Words whose last one ends a page; the next may not be accessed.
TEST_P(PageProtectionTest, WordsAreReadToTheirEnd) {
  GuardedPlane pages(LogitsType::kFloat32);
  ASSERT_TRUE(pages.Open(0));
  const std::int64_t held = pages.view().width;
  auto* const first = reinterpret_cast<std::int32_t*>(pages.Row(0));
  for (const std::int64_t vocab : {1, 31, 33, 511, 512, 545, 3000}) {
    LogitsPlane plane(type(), 1, vocab);
    const std::int64_t count = MaskWordCount(vocab);
    const std::span<std::int32_t> words(first + held - count, static_cast<std::size_t>(count));
    std::ranges::copy(MaskOf(vocab, {vocab - 1}), words.begin());
    const std::vector<MaskRow> rows = {MaskRow::Dense(0, words)};
    EXPECT_EQ(applier_->Apply({.vocab_size = vocab, .rows = rows}, plane.view()), absl::OkStatus());
    EXPECT_EQ(plane.Finite(0), std::vector<std::int64_t>{vocab - 1});
  }
}

INSTANTIATE_TEST_SUITE_P(Appliers, PageProtectionTest, EachApplierAndType(), CaseName);

}  // namespace
}  // namespace maskd::client
