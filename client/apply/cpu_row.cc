#include "client/apply/cpu_row.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/container/inlined_vector.h"

#include "client/apply/element_type.h"
#include "client/apply/float_bits.h"
#include "client/apply/mask_dictionary.h"

namespace maskd::client {
namespace {

// Longer lists are put into memory of their own.
constexpr std::size_t kInlineIds = 512;

const std::int32_t* BaseWords(const MaskRows& masks, const MaskRow& row) {
  if (row.base() == MaskRow::Base::kWords) return row.words().data();
  if (row.base() == MaskRow::Base::kSlot) return masks.dictionary->Find(row.slot()).data();
  return nullptr;
}

bool Allows(const std::int32_t* words, std::int32_t token) {
  return ((static_cast<std::uint32_t>(words[token / 32]) >> (token % 32)) & 1) != 0;
}

// One row, for logits of a type.
template <LogitsType kType>
struct Row {
  using Bits = LogitBits<kType>;

  const CpuKernel& kernel;
  const RowJob& job;
  const MaskRow& row;

  static Bits Get(const std::byte* elements, std::int32_t token) {
    Bits bits = 0;
    std::memcpy(&bits, elements + token * sizeof(Bits), sizeof(Bits));
    return bits;
  }
  void Set(std::int32_t token, Bits bits) const {
    std::memcpy(job.elements + token * sizeof(Bits), &bits, sizeof(Bits));
  }
  void Forbid(std::int32_t token) const { Set(token, static_cast<Bits>(job.minus_infinity)); }
  void Fill(std::int64_t first, std::int64_t count) const {
    kernel.fill(job.elements + first * sizeof(Bits), count * sizeof(Bits), Pattern());
  }
  // Minus infinity, in both halves where an element has 16 bits.
  [[nodiscard]] std::uint32_t Pattern() const {
    return sizeof(Bits) == 4 ? job.minus_infinity : job.minus_infinity * 0x10001U;
  }
  void ApplyWords() const { sizeof(Bits) == 4 ? kernel.mask_32bit(job) : kernel.mask_16bit(job); }

  // What a logit of the source becomes where it stays.
  [[nodiscard]] Bits Biased(const LogitBias& bias) const {
    const float sum = ToNumber<kType>(Get(job.source, bias.id)) + bias.bias;
    return ToBits<kType>(sum * row.scale());
  }
  [[nodiscard]] Bits Unbiased(std::int32_t token) const {
    const Bits bits = Get(job.source, token);
    const float scale = row.scale();
    return scale == 1 ? bits : ToBits<kType>(ToNumber<kType>(bits) * scale);
  }

  // All logits of the vocabulary, tuned.
  void Bring() const {
    absl::InlinedVector<Bits, kInlineIds> biased;
    biased.reserve(row.biases().size());
    for (const LogitBias& bias : row.biases()) biased.push_back(Biased(bias));
    if (job.source != job.elements)
      std::memcpy(job.elements, job.source, job.vocab_size * sizeof(Bits));
    if (row.scale() != 1)
      kernel.scale[static_cast<std::size_t>(kType)](job.elements, job.vocab_size, row.scale());
    for (std::size_t i = 0; i < biased.size(); ++i) Set(row.biases()[i].id, biased[i]);
  }

  // Nothing but the ids.
  void ApplyAllowed() const {
    absl::InlinedVector<Bits, kInlineIds> aside;
    aside.reserve(row.ids().size());
    auto bias = row.biases().begin();
    for (const std::int32_t id : row.ids()) {
      while (bias != row.biases().end() && bias->id < id) ++bias;
      const bool biased = bias != row.biases().end() && bias->id == id;
      aside.push_back(biased ? Biased(*bias) : Unbiased(id));
    }
    Fill(0, job.width);
    for (std::size_t i = 0; i < aside.size(); ++i) Set(row.ids()[i], aside[i]);
  }
  // All but the ids.
  void ApplyForbidden() const {
    for (const std::int32_t id : row.ids()) Forbid(id);
    Fill(job.vocab_size, job.width - job.vocab_size);
  }
  // The words, with the ids turned over.
  void ApplyChanged() const {
    absl::InlinedVector<Bits, kInlineIds> aside;
    aside.reserve(row.ids().size());
    for (const std::int32_t id : row.ids()) aside.push_back(Get(job.elements, id));
    ApplyWords();
    for (std::size_t i = 0; i < aside.size(); ++i)
      Allows(job.words, row.ids()[i]) ? Forbid(row.ids()[i]) : Set(row.ids()[i], aside[i]);
  }
};

template <LogitsType kType>
void MaskRowOf(const CpuKernel& kernel, const RowJob& job, const MaskRow& row) {
  const Row<kType> masked{kernel, job, row};
  if (row.base() == MaskRow::Base::kNone) return masked.ApplyAllowed();
  if (row.tuned() || job.source != job.elements) masked.Bring();
  if (row.base() == MaskRow::Base::kAll) return masked.ApplyForbidden();
  row.ids().empty() ? masked.ApplyWords() : masked.ApplyChanged();
}

std::byte* RowBegin(const Logits& logits, const MaskRow& row) {
  return static_cast<std::byte*>(logits.data) +
         (logits.offset + row.logits_row() * logits.row_stride) * ElementTypeOf(logits.type).bytes;
}

}  // namespace

void MaskCpuRow(const CpuKernel& kernel, const MaskRows& masks, const MaskRow& row,
                const Logits& logits, const Logits& output) {
  const ElementType& type = ElementTypeOf(logits.type);
  const RowJob job{.elements = RowBegin(output, row),
                   .source = RowBegin(logits, row),
                   .words = BaseWords(masks, row),
                   .vocab_size = masks.vocab_size,
                   .width = logits.width,
                   .minus_infinity = type.minus_infinity};
  if (row.full()) {
    if (job.source != job.elements)
      std::memcpy(job.elements, job.source, static_cast<std::size_t>(job.width * type.bytes));
    return;
  }
  if (logits.type == LogitsType::kFloat32) MaskRowOf<LogitsType::kFloat32>(kernel, job, row);
  if (logits.type == LogitsType::kFloat16) MaskRowOf<LogitsType::kFloat16>(kernel, job, row);
  if (logits.type == LogitsType::kBFloat16) MaskRowOf<LogitsType::kBFloat16>(kernel, job, row);
}

}  // namespace maskd::client
