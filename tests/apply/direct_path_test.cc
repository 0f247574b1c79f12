// peers.md B11: through an applier nothing is lost against calling a kernel directly.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "client/apply/cpu_applier.h"
#include "client/apply/cpu_kernels.h"
#include "client/apply/element_type.h"

namespace maskd::client {
namespace {

constexpr std::int64_t kVocabSize = 128'256;
constexpr std::int64_t kRows = 4;
constexpr int kRounds = 50;

double Microseconds(const std::function<void()>& work) {
  const absl::Time start = absl::Now();
  work();
  return absl::ToDoubleMicroseconds(absl::Now() - start);
}

// The least of many rounds in turn: what other programs take from a round is in neither.
TEST(DirectPathTest, B11ApplyTakesAsLongAsItsKernel) {
  std::vector<float> plane(static_cast<std::size_t>(kRows * kVocabSize));
  const std::vector<std::int32_t> words(static_cast<std::size_t>(MaskWordCount(kVocabSize)),
                                        0x5A5A5A5A);
  std::vector<MaskRow> masks;
  for (std::int64_t row = 0; row < kRows; ++row) masks.push_back(MaskRow::Dense(row, words));
  const Logits logits{.data = plane.data(),
                      .type = LogitsType::kFloat32,
                      .row_count = kRows,
                      .width = kVocabSize,
                      .row_stride = kVocabSize};
  const auto applier = MakeCpuApplier();
  ASSERT_TRUE(applier.ok()) << applier.status();
  const auto by_kernel = [&] {
    for (std::int64_t row = 0; row < kRows; ++row) {
      auto* const elements = reinterpret_cast<std::byte*>(plane.data() + row * kVocabSize);
      BestCpuKernel().mask_32bit(
          {.elements = elements,
           .source = elements,
           .words = words.data(),
           .vocab_size = kVocabSize,
           .width = kVocabSize,
           .minus_infinity = ElementTypeOf(LogitsType::kFloat32).minus_infinity});
    }
  };
  const auto by_applier = [&] {
    ASSERT_TRUE((*applier)->Apply({.vocab_size = kVocabSize, .rows = masks}, logits).ok());
  };
  double kernel = std::numeric_limits<double>::infinity();
  double whole = kernel;
  for (int round = 0; round < kRounds; ++round) {
    kernel = std::min(kernel, Microseconds(by_kernel));
    whole = std::min(whole, Microseconds(by_applier));
  }
  EXPECT_LE(whole, 1.2 * kernel + 5) << "microseconds";
}

}  // namespace
}  // namespace maskd::client
