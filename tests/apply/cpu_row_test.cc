// One row, masked by each kernel as a plain loop over its tokens masks it: any bits of logits, any
// form, any place in memory, a neighbour's bytes on both sides.
#include "client/apply/cpu_row.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "client/apply/cpu_applier.h"
#include "client/apply/element_type.h"
#include "tests/apply/appliers.h"

namespace maskd::client {
namespace {

using Bytes = std::vector<std::byte>;
using Ids = std::vector<std::int32_t>;
using Random = std::mt19937_64;

// The kernels that this processor has.
std::vector<const CpuKernel*> Kernels() {
  std::vector<const CpuKernel*> kernels;
  for (const CpuKernel* kernel : CpuKernels())
    if (MakeCpuApplierWithKernel(kernel->level).ok()) kernels.push_back(kernel);
  return kernels;
}

TEST(ElementTypeTest, MinusInfinityIsThatOfTheType) {
  const std::uint32_t single =
      std::bit_cast<std::uint32_t>(-std::numeric_limits<float>::infinity());
  EXPECT_EQ(ElementTypeOf(LogitsType::kFloat32).bytes, 4);
  EXPECT_EQ(ElementTypeOf(LogitsType::kFloat32).minus_infinity, single);
  EXPECT_EQ(ElementTypeOf(LogitsType::kBFloat16).bytes, 2);
  EXPECT_EQ(ElementTypeOf(LogitsType::kBFloat16).minus_infinity, single >> 16);
  // IEEE 754 binary16: a sign, 5 bits of exponent, all ones, 10 of mantissa, all zeros.
  EXPECT_EQ(ElementTypeOf(LogitsType::kFloat16).bytes, 2);
  EXPECT_EQ(ElementTypeOf(LogitsType::kFloat16).minus_infinity, 0b1'11111'0000000000U);
}

// A row's mask in one of its forms, and whether a token is in it.
struct Mask {
  MaskRow::Base base = MaskRow::Base::kFull;
  Ids ids;
  std::vector<std::int32_t> words;

  [[nodiscard]] MaskRow Row(std::int64_t logits_row) const {
    switch (base) {
      case MaskRow::Base::kFull:
        return MaskRow::Full(logits_row);
      case MaskRow::Base::kNone:
        return MaskRow::Allowed(logits_row, ids);
      case MaskRow::Base::kAll:
        return MaskRow::Forbidden(logits_row, ids);
      case MaskRow::Base::kWords:
        return MaskRow::Delta(logits_row, words, ids);
      case MaskRow::Base::kSlot:
        return MaskRow::Delta(logits_row, std::int64_t{1}, ids);
    }
    return MaskRow::Full(logits_row);
  }
  [[nodiscard]] bool Allows(std::int32_t token) const {
    const bool listed = std::ranges::find(ids, token) != ids.end();
    if (base == MaskRow::Base::kNone) return listed;
    if (base == MaskRow::Base::kAll) return !listed;
    const auto word = static_cast<std::uint32_t>(words[static_cast<std::size_t>(token / 32)]);
    return ((word >> (token % 32) & 1) != 0) != listed;
  }
};

Mask MakeMask(Random& random, std::int64_t vocab) {
  constexpr MaskRow::Base kBases[] = {MaskRow::Base::kFull, MaskRow::Base::kNone,
                                      MaskRow::Base::kAll, MaskRow::Base::kWords,
                                      MaskRow::Base::kSlot};
  Mask mask;
  mask.base = kBases[random() % std::size(kBases)];
  const std::uint64_t one_in = 1 + random() % 40;
  for (std::int32_t id = 0; id < vocab; ++id)
    if (random() % one_in == 0) mask.ids.push_back(id);
  if (random() % 3 == 0) mask.ids.clear();
  mask.words.resize(static_cast<std::size_t>(MaskWordCount(vocab)));
  const auto kind = random() % 3;
  for (std::int32_t& word : mask.words)
    word = kind == 0 ? -1 : kind == 1 ? static_cast<std::int32_t>(random()) : 0;
  return mask;
}

// Three rows in a place of their own; the one in the middle is masked.
struct Plane {
  Plane(LogitsType type, std::int64_t width, std::int64_t stride, std::size_t shift)
      : bytes(static_cast<std::size_t>((3 * stride + 2) * ElementTypeOf(type).bytes) + shift),
        view{.data = bytes.data() + shift,
             .type = type,
             .offset = 2,
             .row_count = 3,
             .width = width,
             .row_stride = stride},
        begin(shift + static_cast<std::size_t>((2 + stride) * ElementTypeOf(type).bytes)) {}

  void Fill(Random& random) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  }

  Bytes bytes;
  Logits view;
  std::size_t begin;  // of the row in the middle
};

// What the row of `from` becomes in `to`, token by token.
Bytes Expected(const Mask& mask, std::int64_t vocab, const Plane& from, const Plane& to) {
  Bytes bytes = to.bytes;
  const ElementType& type = ElementTypeOf(to.view.type);
  const auto size = static_cast<std::size_t>(type.bytes);
  for (std::int64_t token = 0; token < to.view.width; ++token) {
    const std::size_t at = static_cast<std::size_t>(token) * size;
    const bool stays = mask.base == MaskRow::Base::kFull ||
                       (token < vocab && mask.Allows(static_cast<std::int32_t>(token)));
    std::memcpy(
        &bytes[to.begin + at],
        stays ? static_cast<const void*>(&from.bytes[from.begin + at]) : &type.minus_infinity,
        size);
  }
  return bytes;
}

TEST(CpuRowTest, AnyBitsInAnyFormAtAnyPlace) {
  Random random(20261126);
  const auto applier = *MakeCpuApplier();
  int masked = 0;
  for (int i = 0; i < 400; ++i) {
    const std::int64_t vocab = 1 + static_cast<std::int64_t>(random() % (i % 5 == 0 ? 3000 : 150));
    const std::int64_t width = vocab + static_cast<std::int64_t>(random() % 70);
    const LogitsType type = kLogitsTypes[random() % kLogitsTypes.size()];
    const Mask mask = MakeMask(random, vocab);
    const auto dictionary = *applier->MakeDictionary(vocab, 2);
    ASSERT_TRUE(dictionary->Set(1, mask.words).ok());
    const std::vector<MaskRow> rows = {mask.Row(1)};
    const MaskRows masks{.vocab_size = vocab, .rows = rows, .dictionary = dictionary.get()};
    Plane from(type, width, width + static_cast<std::int64_t>(random() % 9), random() % 4);
    Plane to(type, width, width + static_cast<std::int64_t>(random() % 9), random() % 4);
    from.Fill(random);
    to.Fill(random);
    for (const CpuKernel* kernel : Kernels()) {
      const std::string what = absl::StrCat(kernel->level, ", case ", i, ", base ",
                                            static_cast<int>(mask.base), ", vocabulary ", vocab);
      Plane apart = to;
      apart.view.data =
          apart.bytes.data() + (static_cast<std::byte*>(to.view.data) - to.bytes.data());
      MaskCpuRow(*kernel, masks, rows.front(), from.view, apart.view);
      ASSERT_EQ(apart.bytes, Expected(mask, vocab, from, to)) << what;
      Plane in_place = from;
      in_place.view.data =
          in_place.bytes.data() + (static_cast<std::byte*>(from.view.data) - from.bytes.data());
      MaskCpuRow(*kernel, masks, rows.front(), in_place.view, in_place.view);
      ASSERT_EQ(in_place.bytes, Expected(mask, vocab, from, from)) << what << ", in place";
      ++masked;
    }
  }
  EXPECT_GE(masked, 400);
}

// Minus zero is no less than zero: it asks for the greatest, as zero does.
TEST(CpuRowTest, ATemperatureOfMinusZeroIsOneOfZero) {
  const std::vector<std::int32_t> ids = {3};
  const std::vector<LogitBias> biases = {{5, 1.5F}};
  for (const MaskRow& row : {MaskRow::Forbidden(0, ids), MaskRow::Allowed(0, ids)}) {
    for (const CpuKernel* kernel : Kernels()) {
      std::vector<float> zero = {1, -2, 0, 4, 5, 6, -7, 8, 9};
      std::vector<float> minus_zero = zero;
      for (auto* const logits : {&zero, &minus_zero}) {
        const float temperature = logits == &zero ? 0.0F : -0.0F;
        const std::vector<MaskRow> rows = {row.With(biases, temperature)};
        const Logits plane{.data = logits->data(), .row_count = 1, .width = 9, .row_stride = 9};
        ASSERT_TRUE((*MakeCpuApplierWithKernel(kernel->level))
                        ->Apply({.vocab_size = 9, .rows = rows}, plane)
                        .ok());
      }
      EXPECT_EQ(minus_zero, zero) << kernel->level;
      EXPECT_EQ(zero[3], row.base() == MaskRow::Base::kNone ? 4 : -INFINITY);
    }
  }
}

}  // namespace
}  // namespace maskd::client
