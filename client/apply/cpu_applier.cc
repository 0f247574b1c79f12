#include "client/apply/cpu_applier.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "client/apply/cpu_kernels.h"
#include "client/apply/cpu_row.h"
#include "cpu/level.h"

namespace maskd::client {
namespace {

class CpuApplier final : public Applier {
 public:
  explicit CpuApplier(const CpuKernel& kernel) : kernel_(kernel) {}

  [[nodiscard]] absl::string_view name() const override { return "cpu"; }

 private:
  absl::Status ApplyChecked(const MaskRows& masks, const Logits& logits) const override {
    if (logits.memory != LogitsMemory::kHost) {
      return absl::InvalidArgumentError("logits.memory: the cpu applier masks host memory only");
    }
    for (const MaskRow& row : masks.rows) MaskCpuRow(kernel_, masks, row, logits);
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
