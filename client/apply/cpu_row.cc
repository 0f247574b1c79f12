#include "client/apply/cpu_row.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/container/inlined_vector.h"

#include "client/apply/element_type.h"
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

// One row, for elements of type Bits.
template <typename Bits>
struct Row {
  const CpuKernel& kernel;
  const RowJob& job;
  MaskRow::Ids ids;

  [[nodiscard]] Bits Get(std::int32_t token) const {
    Bits bits = 0;
    std::memcpy(&bits, job.elements + token * sizeof(Bits), sizeof(Bits));
    return bits;
  }
  void Set(std::int32_t token, Bits bits) const {
    std::memcpy(job.elements + token * sizeof(Bits), &bits, sizeof(Bits));
  }
  void Fill(std::int64_t first, std::int64_t count) const {
    kernel.fill(job.elements + first * sizeof(Bits), count * sizeof(Bits), Pattern());
  }
  // Minus infinity, in both halves where an element has 16 bits.
  [[nodiscard]] std::uint32_t Pattern() const {
    return sizeof(Bits) == 4 ? job.minus_infinity : job.minus_infinity * 0x10001U;
  }
  void ApplyWords() const { sizeof(Bits) == 4 ? kernel.mask_32bit(job) : kernel.mask_16bit(job); }
  void Forbid() const {
    for (const std::int32_t id : ids) Set(id, static_cast<Bits>(job.minus_infinity));
    Fill(job.vocab_size, job.width - job.vocab_size);
  }
  // The base is job.words, or nothing when that is null.
  void Change() const {
    absl::InlinedVector<Bits, kInlineIds> aside;
    aside.reserve(ids.size());
    for (const std::int32_t id : ids) aside.push_back(Get(id));
    job.words == nullptr ? Fill(0, job.width) : ApplyWords();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool forbid = job.words != nullptr && Allows(job.words, ids[i]);
      Set(ids[i], forbid ? static_cast<Bits>(job.minus_infinity) : aside[i]);
    }
  }
};

template <typename Bits>
void MaskRowOf(const CpuKernel& kernel, const RowJob& job, const MaskRow& row) {
  const Row<Bits> masked{kernel, job, row.ids()};
  if (row.base() == MaskRow::Base::kAll) return masked.Forbid();
  if (job.words != nullptr && row.ids().empty()) return masked.ApplyWords();
  masked.Change();
}

}  // namespace

void MaskCpuRow(const CpuKernel& kernel, const MaskRows& masks, const MaskRow& row,
                const Logits& logits) {
  if (row.full()) return;
  const ElementType& type = ElementTypeOf(logits.type);
  const RowJob job{.elements = static_cast<std::byte*>(logits.data) +
                               (logits.offset + row.logits_row() * logits.row_stride) * type.bytes,
                   .words = BaseWords(masks, row),
                   .vocab_size = masks.vocab_size,
                   .width = logits.width,
                   .minus_infinity = type.minus_infinity};
  type.bytes == 4 ? MaskRowOf<std::uint32_t>(kernel, job, row)
                  : MaskRowOf<std::uint16_t>(kernel, job, row);
}

}  // namespace maskd::client
