// An output of its own: what it becomes is what the logits would have become in place, the logits
// are only read, and nothing but the named rows of either is touched.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "client/apply/applier.h"
#include "tests/apply/each_applier.h"
#include "tests/apply/guarded_plane.h"
#include "tests/apply/logits_fixture.h"

namespace maskd::client {
namespace {

constexpr std::int64_t kVocab = 700;
constexpr std::int64_t kWidth = 720;
constexpr std::int64_t kRowCount = 9;

// Rows of every form; row 8 is named by none.
struct Rows {
  Rows() {
    made = {MaskRow::Full(0),
            MaskRow::Dense(1, words),
            MaskRow::Allowed(2, ids),
            MaskRow::Forbidden(3, ids),
            MaskRow::Delta(4, words, ids),
            MaskRow::Dense(5, words).With(biases, 0.5F),
            MaskRow::Allowed(6, ids).With(biases, 0.5F),
            MaskRow::Forbidden(7, ids).With(biases)};
  }
  std::vector<std::int32_t> words = MaskOf(kVocab, {0, 1, 31, 32, 64, 500, 699});
  std::vector<std::int32_t> ids = {0, 2, 31, 64, 699};
  std::vector<LogitBias> biases = {{0, 1.5F}, {64, -3}, {100, 8}};
  std::vector<MaskRow> made;
};

class OutputTest : public EachApplierTest {};

TEST_P(OutputTest, IsWhatTheLogitsWouldHaveBecome) {
  const Rows rows;
  const MaskRows masks{.vocab_size = kVocab, .rows = rows.made};
  LogitsPlane logits(type(), kRowCount, kWidth, kWidth + 3);
  logits.FillDistinct();
  LogitsPlane in_place = logits;
  ASSERT_EQ(applier_->Apply(masks, in_place.view()), absl::OkStatus());

  LogitsPlane read = logits;
  LogitsPlane output(type(), kRowCount, kWidth, kWidth + 11);
  output.FillUniform(-7);
  const LogitsPlane untouched = output;
  ASSERT_EQ(applier_->Apply(masks, read.view(), output.view()), absl::OkStatus());
  EXPECT_EQ(read.bytes(), logits.bytes()) << "the logits are only read";
  const auto row_bytes = static_cast<std::size_t>(kWidth * ElementBytes(type()));
  for (std::int64_t row = 0; row < kRowCount; ++row) {
    const std::vector<std::byte> is = output.RowBytes(row);
    const std::vector<std::byte> was = untouched.RowBytes(row);
    const std::vector<std::byte> due = row == 8 ? was : in_place.RowBytes(row);
    EXPECT_EQ(std::memcmp(is.data(), due.data(), row_bytes), 0) << row;
    EXPECT_EQ(std::memcmp(is.data() + row_bytes, was.data() + row_bytes, is.size() - row_bytes), 0)
        << "the gap behind row " << row;
  }
}

TEST_P(OutputTest, MayBeTheLogitsThemselves) {
  const Rows rows;
  const MaskRows masks{.vocab_size = kVocab, .rows = rows.made};
  LogitsPlane logits(type(), kRowCount, kWidth);
  logits.FillDistinct();
  LogitsPlane in_place = logits;
  ASSERT_EQ(applier_->Apply(masks, in_place.view()), absl::OkStatus());
  ASSERT_EQ(applier_->Apply(masks, logits.view(), logits.view()), absl::OkStatus());
  EXPECT_EQ(logits.bytes(), in_place.bytes());
}

TEST_P(OutputTest, OfFullRowsAloneIsACopy) {
  LogitsPlane logits(type(), 2, 50);
  logits.FillDistinct();
  LogitsPlane output(type(), 2, 50);
  const std::vector<MaskRow> rows = {MaskRow::Full(1)};
  ASSERT_EQ(applier_->Apply({.vocab_size = 40, .rows = rows}, logits.view(), output.view()),
            absl::OkStatus());
  EXPECT_EQ(output.RowBytes(1), logits.RowBytes(1));
  EXPECT_EQ(output.RowBytes(0), std::vector<std::byte>(output.RowBytes(0).size()));
}

// The logits' pages may only be read, and of both planes no page but the named rows' accessed.
TEST_P(OutputTest, OnlyTheNamedRowsAreAccessed) {
  GuardedPlane from(type());
  GuardedPlane to(type());
  for (const std::int64_t row : {1, 3, 4, 5}) ASSERT_TRUE(from.OpenToRead(row) && to.Open(row));
  const Logits logits = from.view();
  const std::int64_t vocab = logits.width - 37;
  const auto words = MaskOf(vocab, {0, vocab - 1});
  const std::vector<std::int32_t> ids = {2, 700};
  const std::vector<LogitBias> biases = {{2, 1}};
  const std::vector<MaskRow> rows = {MaskRow::Full(5), MaskRow::Dense(1, words).With(biases, 2),
                                     MaskRow::Allowed(3, ids).With(biases, 2),
                                     MaskRow::Forbidden(4, ids)};
  EXPECT_EQ(applier_->Apply({.vocab_size = vocab, .rows = rows}, logits, to.view()),
            absl::OkStatus());
  for (const std::int64_t row : {1, 3, 4})
    EXPECT_NE(to.Row(row)[logits.width * ElementBytes(type()) - 1], std::byte{0}) << row;
}

TEST_P(OutputTest, ThatSharesMemoryIsRefused) {
  LogitsPlane logits(type(), 4, 64);
  logits.FillDistinct();
  const LogitsPlane before = logits;
  const std::vector<MaskRow> rows = {MaskRow::Allowed(0, {})};
  Logits upper = logits.view();
  upper.row_count = 2;
  // From one row below to inside the same row; the end of one is not the begin of the other.
  for (const std::int64_t offset : {1, 63, 64, 127}) {
    Logits lower = upper;
    lower.offset = offset;
    const absl::Status status = applier_->Apply({.vocab_size = 64, .rows = rows}, upper, lower);
    EXPECT_EQ(status.message(), "output.data: shares memory with the logits") << offset;
    EXPECT_EQ(applier_->Apply({.vocab_size = 64, .rows = rows}, lower, upper).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(logits.bytes(), before.bytes());
  Logits behind = upper;
  behind.offset = 128;
  EXPECT_EQ(applier_->Apply({.vocab_size = 64, .rows = rows}, upper, behind), absl::OkStatus());
}

TEST_P(OutputTest, OfAnotherShapeIsRefused) {
  LogitsPlane logits(type(), 2, 64);
  LogitsPlane other(type(), 2, 64);
  const std::vector<MaskRow> rows = {MaskRow::Allowed(0, {})};
  const auto refusal = [&](auto change) {
    Logits output = other.view();
    change(output);
    return std::string(
        applier_->Apply({.vocab_size = 64, .rows = rows}, logits.view(), output).message());
  };
  EXPECT_EQ(refusal([](Logits& output) { output.data = nullptr; }), "output.data: is null");
  EXPECT_EQ(refusal([](Logits& output) { output.row_stride = 63; }),
            "output.row_stride: 63 is less than width 64");
  EXPECT_EQ(refusal([](Logits& output) { output.width = 63; }),
            "output.width: 2 rows of 63 are not the logits' 2 rows of 64");
  EXPECT_EQ(refusal([](Logits& output) { output.row_count = 1; }),
            "output.width: 1 rows of 64 are not the logits' 2 rows of 64");
  EXPECT_EQ(refusal([](Logits& output) {
              output.type = output.type == LogitsType::kFloat16 ? LogitsType::kBFloat16
                                                                : LogitsType::kFloat16;
            }),
            "output.type: is not that of the logits");
  EXPECT_EQ(refusal([](Logits& output) { output.memory = LogitsMemory::kOpenClBuffer; }),
            "output.memory: is not that of the logits");
}

INSTANTIATE_TEST_SUITE_P(Appliers, OutputTest, EachApplierAndType(), CaseName);

}  // namespace
}  // namespace maskd::client
