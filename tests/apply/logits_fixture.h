// Logits of any element type for tests: made from floats, kept as bits, compared bit for bit.
#ifndef MASKD_TESTS_APPLY_LOGITS_FIXTURE_H_
#define MASKD_TESTS_APPLY_LOGITS_FIXTURE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "client/apply/float_bits.h"
#include "client/apply/logits.h"
#include "client/apply/mask_rows.h"

namespace maskd::client {

inline int ElementBytes(LogitsType type) { return type == LogitsType::kFloat32 ? 4 : 2; }

// A plane of logits that owns its bytes.
class LogitsPlane {
 public:
  LogitsPlane(LogitsType type, std::int64_t rows, std::int64_t width, std::int64_t stride)
      : type_(type),
        rows_(rows),
        width_(width),
        stride_(stride),
        bytes_(static_cast<std::size_t>(rows * stride * ElementBytes(type))) {}
  LogitsPlane(LogitsType type, std::int64_t rows, std::int64_t width)
      : LogitsPlane(type, rows, width, width) {}

  [[nodiscard]] Logits view() {
    return {.data = bytes_.data(),
            .type = type_,
            .row_count = rows_,
            .width = width_,
            .row_stride = stride_};
  }

  void Set(std::int64_t row, std::int64_t column, float value) {
    std::byte* const element = Element(row, column);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto upper = static_cast<std::uint16_t>(bits >> 16);
    const std::uint16_t half = type_ == LogitsType::kFloat16 ? ToFloat16(value) : upper;
    std::memcpy(element, type_ == LogitsType::kFloat32 ? static_cast<const void*>(&bits) : &half,
                static_cast<std::size_t>(ElementBytes(type_)));
  }

  [[nodiscard]] float Get(std::int64_t row, std::int64_t column) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, Element(row, column), static_cast<std::size_t>(ElementBytes(type_)));
    if (type_ == LogitsType::kFloat32) return std::bit_cast<float>(bits);
    if (type_ == LogitsType::kBFloat16) return std::bit_cast<float>(bits << 16);
    return FromFloat16(static_cast<std::uint16_t>(bits));
  }

  // Every byte of the plane, the gaps between rows too, gets a value of its place; no element is
  // minus infinity.
  void FillDistinct() {
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t column = 0; column < stride_; ++column)
        Set(row, column, static_cast<float>(1 + (row * 31 + column) % 997) / 8.0F);
  }

  void FillUniform(float value) {
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t column = 0; column < stride_; ++column) Set(row, column, value);
  }

  [[nodiscard]] bool IsMinusInfinity(std::int64_t row, std::int64_t column) {
    return Get(row, column) == -std::numeric_limits<float>::infinity();
  }

  // The first of the largest logits, as a greedy sampler picks it.
  [[nodiscard]] std::int64_t Greedy(std::int64_t row) {
    std::int64_t best = 0;
    for (std::int64_t column = 1; column < width_; ++column)
      if (Get(row, column) > Get(row, best)) best = column;
    return best;
  }

  // The tokens that a sampler could still pick.
  [[nodiscard]] std::vector<std::int64_t> Finite(std::int64_t row) {
    std::vector<std::int64_t> finite;
    for (std::int64_t column = 0; column < width_; ++column)
      if (!IsMinusInfinity(row, column)) finite.push_back(column);
    return finite;
  }

  // One row's bytes, its gap included.
  [[nodiscard]] std::vector<std::byte> RowBytes(std::int64_t row) const {
    const std::int64_t size = stride_ * ElementBytes(type_);
    return {bytes_.begin() + row * size, bytes_.begin() + (row + 1) * size};
  }

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

  // How many logits are not what they were in `before`.
  [[nodiscard]] std::int64_t CountChanged(LogitsPlane& before) {
    std::int64_t changed = 0;
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t column = 0; column < stride_; ++column) {
        if (std::memcmp(Element(row, column), before.Element(row, column),
                        static_cast<std::size_t>(ElementBytes(type_))) != 0) {
          ++changed;
        }
      }
    }
    return changed;
  }

 private:
  std::byte* Element(std::int64_t row, std::int64_t column) {
    return bytes_.data() + (row * stride_ + column) * ElementBytes(type_);
  }

  LogitsType type_;
  std::int64_t rows_;
  std::int64_t width_;
  std::int64_t stride_;
  std::vector<std::byte> bytes_;
};

// A mask that allows exactly `allowed`.
inline std::vector<std::int32_t> MaskOf(std::int64_t vocab_size,
                                        const std::vector<std::int64_t>& allowed) {
  std::vector<std::int32_t> words(static_cast<std::size_t>(MaskWordCount(vocab_size)));
  for (const std::int64_t token : allowed)
    words[static_cast<std::size_t>(token / 32)] |= static_cast<std::int32_t>(1U << (token % 32));
  return words;
}

}  // namespace maskd::client

#endif  // MASKD_TESTS_APPLY_LOGITS_FIXTURE_H_
