#include "client/apply/cpu_applier.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "client/apply/cpu_kernels.h"
#include "cpu/level.h"

namespace maskd::client {
namespace {

// What the kernels need to know of an element type.
struct ElementType {
  std::int64_t bytes;
  std::uint32_t minus_infinity;
};

// In the order of LogitsType.
constexpr std::array kElementTypes = {
    ElementType{4, 0xFF800000},
    ElementType{2, 0xFC00},
    ElementType{2, 0xFF80},
};

class CpuApplier final : public Applier {
 public:
  explicit CpuApplier(const CpuKernel& kernel) : kernel_(kernel) {}

  [[nodiscard]] absl::string_view name() const override { return "cpu"; }

 private:
  absl::Status ApplyChecked(const MaskRows& masks, const Logits& logits) const override {
    const ElementType& type = kElementTypes[static_cast<std::size_t>(logits.type)];
    const RowKernel kernel = type.bytes == 4 ? kernel_.mask_32bit : kernel_.mask_16bit;
    RowJob job{.vocab_size = masks.vocab_size,
               .width = logits.width,
               .minus_infinity = type.minus_infinity};
    for (const MaskRow& row : masks.rows) {
      if (row.full()) continue;
      job.elements =
          static_cast<std::byte*>(logits.data) + row.logits_row() * logits.row_stride * type.bytes;
      job.words = row.words().data();
      kernel(job);
    }
    return absl::OkStatus();
  }

  const CpuKernel& kernel_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Applier>> MakeCpuApplier() {
  return std::make_unique<CpuApplier>(BestCpuKernel());
}

absl::StatusOr<std::unique_ptr<Applier>> MakeCpuApplierWithKernel(absl::string_view kernel) {
  const absl::StatusOr<const CpuKernel*> found = cpu::Find(CpuKernels(), kernel);
  if (!found.ok()) return found.status();
  return std::make_unique<CpuApplier>(**found);
}

std::string CpuDevice() { return absl::StrCat("cpu (", BestCpuKernel().level, ")"); }

}  // namespace maskd::client
