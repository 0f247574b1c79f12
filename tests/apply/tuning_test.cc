// Temperatures and biases: every applier gives, bit for bit, what arithmetic on single logits
// gives; rounding to 16 bits is that of the processor, or of the definition where it has none.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "client/apply/applier.h"
#include "client/apply/float_bits.h"
#include "cpu/level.h"
#include "tests/apply/each_applier.h"
#include "tests/apply/logits_fixture.h"

namespace maskd::client {
namespace {

using Ids = std::vector<std::int32_t>;
using Random = std::mt19937_64;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The nearest number of the type, ties to even, by its definition: the neighbours' distances.
double RoundTo(LogitsType type, double value) {
  if (type == LogitsType::kFloat32) return static_cast<float>(value);
  const bool half = type == LogitsType::kFloat16;
  const int digits = half ? 11 : 8;
  const int least = half ? -24 : -133;  // exponent of the smallest step
  if (value == 0 || std::isinf(value)) return value;
  const int exponent = std::max(std::ilogb(value) - digits + 1, least);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
  const double largest = half ? 65504 : 0x1.FEp127;
  return std::abs(rounded) > largest ? std::copysign(kInfinity, value) : rounded;
}

// A plane of numbers of every size, subnormal ones and infinities among them.
void FillRandom(Random& random, LogitsType type, std::vector<std::byte>& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(ElementBytes(type))) {
    auto bits = static_cast<std::uint32_t>(random());
    if (random() % 2 == 0) {
      const float near = static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 64;
      bits = std::bit_cast<std::uint32_t>(near);
      if (type == LogitsType::kFloat16) bits = ToFloat16(near);
      if (type == LogitsType::kBFloat16) bits >>= 16;
    }
    // No NaN: whose bits are nobody's promise.
    if (type == LogitsType::kFloat16 && (bits & 0x7C00) == 0x7C00) bits &= 0xFC00;
    if (type == LogitsType::kBFloat16 && (bits & 0x7F80) == 0x7F80) bits &= 0xFF80;
    if (type == LogitsType::kFloat32 && (bits & 0x7F800000) == 0x7F800000) bits &= 0xFF800000;
    std::memcpy(&bytes[at], &bits, static_cast<std::size_t>(ElementBytes(type)));
  }
}

struct TunedRow {
  Ids ids;
  std::vector<std::int32_t> words;
  std::vector<LogitBias> biases;
  float temperature = 1;
  int form = 0;

  [[nodiscard]] MaskRow row() const {
    const MaskRow plain = form == 0   ? MaskRow::Allowed(1, ids)
                          : form == 1 ? MaskRow::Forbidden(1, ids)
                          : form == 2 ? MaskRow::Dense(1, words)
                                      : MaskRow::Delta(1, words, ids);
    return plain.With(biases, temperature);
  }
  [[nodiscard]] bool Allows(std::int32_t token) const {
    const bool listed = std::ranges::binary_search(ids, token);
    if (form < 2) return listed == (form == 0);
    const bool bit = (static_cast<std::uint32_t>(words[token / 32]) >> (token % 32) & 1) != 0;
    return form == 2 ? bit : bit != listed;
  }
};

Ids RandomIds(Random& random, std::int64_t vocab) {
  Ids ids;
  const std::uint64_t one_in = 1 + random() % 20;
  for (std::int32_t id = 0; id < vocab; ++id)
    if (random() % one_in == 0) ids.push_back(id);
  return ids;
}

TunedRow MakeRow(Random& random, std::int64_t vocab) {
  constexpr float kTemperatures[] = {0, 0.1F, 0.5F, 0.7F, 1, 1.3F, 2, 100, 1e-45F};
  TunedRow made;
  made.ids = RandomIds(random, vocab);
  made.words.resize(static_cast<std::size_t>(MaskWordCount(vocab)));
  for (std::int32_t& word : made.words) word = static_cast<std::int32_t>(random());
  if (random() % 3 != 0)
    for (const std::int32_t id : RandomIds(random, vocab))
      made.biases.push_back({id, static_cast<float>(static_cast<int>(random() % 401) - 200) / 7});
  made.temperature = kTemperatures[random() % std::size(kTemperatures)];
  made.form = static_cast<int>(random() % 4);
  return made;
}

// What a logit becomes, one at a time: float32 as C++ computes it, then rounded once.
double Expected(const TunedRow& row, LogitsType type, std::int32_t token, double before) {
  if (!row.Allows(token)) return -kInfinity;
  auto number = static_cast<float>(before);
  const auto bias = std::ranges::find(row.biases, token, &LogitBias::id);
  if (bias != row.biases.end()) number += bias->bias;
  if (row.temperature > 1e-30F) number *= 1 / row.temperature;
  return RoundTo(type, number);
}

double NumberAt(const std::vector<std::byte>& bytes, LogitsType type, std::int64_t index) {
  std::uint32_t bits = 0;
  const int size = ElementBytes(type);
  std::memcpy(&bits, &bytes[static_cast<std::size_t>(index * size)],
              static_cast<std::size_t>(size));
  if (type == LogitsType::kFloat32) return std::bit_cast<float>(bits);
  if (type == LogitsType::kBFloat16) return std::bit_cast<float>(bits << 16);
  const int exponent = static_cast<int>(bits >> 10 & 0x1F);
  const auto mantissa = static_cast<double>(bits & 0x3FF);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return sign * kInfinity;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

class ApplierTuningTest : public EachApplierTest {};

TEST_P(ApplierTuningTest, LogitsThatStayAreTunedOneByOne) {
  Random random(20261123);
  for (int i = 0; i < 40; ++i) {
    const std::int64_t vocab = 1 + static_cast<std::int64_t>(random() % (i % 2 == 0 ? 70 : 1500));
    const std::int64_t width = vocab + static_cast<std::int64_t>(random() % 40);
    std::vector<std::byte> bytes(static_cast<std::size_t>(3 * width * ElementBytes(type())));
    FillRandom(random, type(), bytes);
    const std::vector<std::byte> before = bytes;
    const TunedRow tuned = MakeRow(random, vocab);
    const std::vector<MaskRow> rows = {tuned.row()};
    const Logits logits{
        .data = bytes.data(), .type = type(), .row_count = 3, .width = width, .row_stride = width};
    ASSERT_EQ(applier_->Apply({.vocab_size = vocab, .rows = rows}, logits), absl::OkStatus());
    for (std::int64_t token = 0; token < vocab; ++token) {
      const double was = NumberAt(before, type(), width + token);
      const double is = NumberAt(bytes, type(), width + token);
      const double expected = Expected(tuned, type(), static_cast<std::int32_t>(token), was);
      ASSERT_EQ(is, expected) << "token " << token << " was " << was << " form " << tuned.form
                              << " temperature " << tuned.temperature << " case " << i;
    }
    for (std::int64_t past = vocab; past < width; ++past)
      ASSERT_EQ(NumberAt(bytes, type(), width + past), -kInfinity);
    const auto row_bytes = static_cast<std::ptrdiff_t>(width * ElementBytes(type()));
    ASSERT_TRUE(std::equal(bytes.begin(), bytes.begin() + row_bytes, before.begin()));
    ASSERT_TRUE(
        std::equal(bytes.end() - row_bytes, bytes.end(), before.end() - row_bytes, before.end()));
  }
}

TEST_P(ApplierTuningTest, WithoutTemperatureOrBiasBitsStay) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(64 * ElementBytes(type())));
  Random random(7);
  FillRandom(random, type(), bytes);
  const std::vector<std::byte> before = bytes;
  const std::vector<LogitBias> none;
  const std::vector<MaskRow> rows = {MaskRow::Forbidden(0, {}).With(none, 1)};
  const Logits logits{
      .data = bytes.data(), .type = type(), .row_count = 1, .width = 64, .row_stride = 64};
  ASSERT_EQ(applier_->Apply({.vocab_size = 64, .rows = rows}, logits), absl::OkStatus());
  EXPECT_EQ(bytes, before);
}

INSTANTIATE_TEST_SUITE_P(Appliers, ApplierTuningTest, EachApplierAndType(), CaseName);

TEST(FloatBitsTest, EveryHalfReadsAndRoundsAsDefined) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float number = FromFloat16(half);
    if ((bits & 0x7FFF) > 0x7C00) {
      EXPECT_TRUE(std::isnan(number));
      continue;
    }
    ASSERT_EQ(ToFloat16(number), half) << bits;
    // Between this one and the next.
    if ((bits & 0x7FFF) >= 0x7BFF) continue;
    const float next = FromFloat16(static_cast<std::uint16_t>(bits + 1));
    const float middle = (number + next) / 2;
    const std::uint32_t even = bits + (bits & 1);
    ASSERT_EQ(ToFloat16(middle), even) << bits;
    ASSERT_EQ(ToFloat16(std::nextafter(middle, number)), bits);
    ASSERT_EQ(ToFloat16(std::nextafter(middle, next)), bits + 1);
  }
  EXPECT_EQ(ToFloat16(65519.9F), 0x7BFF);
  EXPECT_EQ(ToFloat16(65520.0F), 0x7C00);
  EXPECT_EQ(ToFloat16(1e30F), 0x7C00);
}

TEST(FloatBitsTest, NaNsStay) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(FromFloat16(ToFloat16(nan))));
  EXPECT_TRUE(std::isnan(FromBFloat16(ToBFloat16(nan))));
  EXPECT_TRUE(std::isnan(FromBFloat16(ToBFloat16(std::bit_cast<float>(0x7F800001)))));
}

struct RefusedRow {
  const char* name;
  float temperature;
  std::vector<LogitBias> biases;
  const char* message;
};

class RefusedTuningTest : public testing::TestWithParam<RefusedRow> {};

TEST_P(RefusedTuningTest, IsRefusedBeforeAnythingIsWritten) {
  std::vector<float> logits(32, 1);
  const std::vector<float> before = logits;
  const std::vector<MaskRow> rows = {
      MaskRow::Allowed(0, {}).With(GetParam().biases, GetParam().temperature)};
  const Logits plane{.data = logits.data(), .row_count = 1, .width = 32, .row_stride = 32};
  const absl::Status status = (*MakeCpuApplier())->Apply({.vocab_size = 30, .rows = rows}, plane);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().substr(0, std::strlen(GetParam().message)), GetParam().message);
  EXPECT_EQ(logits, before);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedTuningTest,
    testing::ValuesIn(std::vector<RefusedRow>{
        {"Negative", -1, {}, "masks.rows[0].temperature: -1 is not"},
        {"Infinite", kInfinity, {}, "masks.rows[0].temperature: inf is not"},
        {"NoNumber", std::numeric_limits<float>::quiet_NaN(), {}, "masks.rows[0].temperature: "},
        {"Twice", 1, {{3, 1}, {3, 1}}, "masks.rows[0].biases[1]: of token 3"},
        {"PastTheVocabulary", 1, {{30, 1}}, "masks.rows[0].biases[0]: of token 30"},
        {"BelowIt", 1, {{-1, 1}}, "masks.rows[0].biases[0]: of token -1"},
        {"BiasInfinite", 1, {{3, kInfinity}}, "masks.rows[0].biases[0]: of token 3 by inf"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd::client
