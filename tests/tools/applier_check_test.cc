// `maskctl applier`: what it counts of a right applier, and that it finds a wrong one.
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gtest/gtest.h"

#include "client/apply/make_applier.h"
#include "tools/cli/applier/batch_check.h"

namespace maskd::cli {
namespace {

using client::LogitsType;

constexpr std::array kTypes = {LogitsType::kFloat32, LogitsType::kFloat16, LogitsType::kBFloat16};

// Does what the cpu applier does, and one thing more.
class SpoilingApplier : public client::Applier {
 public:
  // `row` and `token` of what it puts back or overwrites.
  SpoilingApplier(std::int64_t row, std::int64_t token) : row_(row), token_(token) {}
  [[nodiscard]] absl::string_view name() const override { return "spoiling"; }

 private:
  absl::Status ApplyChecked(const client::MaskRows& masks, const client::Logits& logits,
                            const client::Logits& output) const override {
    const absl::Status applied = cpu_->Apply(masks, logits, output);
    static_cast<float*>(logits.data)[row_ * logits.row_stride + token_] = 7777;
    return applied;
  }

  std::unique_ptr<client::Applier> cpu_ = *client::MakeApplier("cpu");
  std::int64_t row_;
  std::int64_t token_;
};

TEST(BatchCheckTest, TheOriginsBatchesSpareWhatTheyPromise) {
  const auto cpu = *client::MakeApplier("cpu");
  struct Promise {
    BatchShape shape;
    std::int64_t plane;
    std::int64_t named;
  };
  const std::array promises = {Promise{{128, 2, 32'000}, 4'096'000, 64'000},
                               Promise{{64, 1, 32'000}, 2'048'000, 32'000},
                               Promise{{32, 3, 32'000}, 1'024'000, 96'000}};
  for (const LogitsType type : kTypes) {
    for (const Promise& promise : promises) {
      const auto counts = CheckBatch(*cpu, promise.shape, type);
      ASSERT_TRUE(counts.ok()) << counts.status();
      EXPECT_EQ(counts->plane, promise.plane);
      EXPECT_EQ(counts->named, promise.named);
      EXPECT_EQ(counts->wrong, 0);
      EXPECT_LE(counts->written, promise.named);
      EXPECT_GE(counts->written, 31'999);
      EXPECT_NE(counts->greedy_before, 90);
      EXPECT_EQ(counts->greedy_after, 90);
    }
  }
}

TEST(BatchCheckTest, AnyShapeIsRight) {
  const auto cpu = *client::MakeApplier("cpu");
  for (const LogitsType type : kTypes) {
    for (const BatchShape shape :
         {BatchShape{1, 1, 91}, BatchShape{9, 9, 128}, BatchShape{5, 0, 97},
          BatchShape{40, 17, 1000}, BatchShape{3, 2, 4097}}) {
      const auto counts = CheckBatch(*cpu, shape, type);
      ASSERT_TRUE(counts.ok()) << counts.status();
      EXPECT_EQ(counts->wrong, 0) << shape.vocab_size;
      EXPECT_EQ(counts->greedy_after, shape.held == 0 ? -1 : 90);
    }
  }
}

// Of 10 rows 0 and 5 are held; the first allows token 90 alone.
TEST(BatchCheckTest, OneWrongLogitIsFound) {
  const BatchShape shape{10, 2, 1000};
  const auto allowed_again = CheckBatch(SpoilingApplier(0, 3), shape, LogitsType::kFloat32);
  EXPECT_EQ(allowed_again->wrong, 1);
  EXPECT_EQ(allowed_again->greedy_after, 3);
  const auto of_a_free_row = CheckBatch(SpoilingApplier(4, 999), shape, LogitsType::kFloat32);
  EXPECT_EQ(of_a_free_row->wrong, 1);
  EXPECT_EQ(of_a_free_row->greedy_after, 90);
}

}  // namespace
}  // namespace maskd::cli
