#include "client/apply/cpu_applier.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "client/apply/cpu_kernels.h"
#include "client/apply/cpu_row.h"
#include "client/apply/element_type.h"
#include "client/apply/row_pool.h"
#include "cpu/level.h"

namespace maskd::client {
namespace {

constexpr int kMaxThreads = 256;

class CpuApplier final : public Applier {
 public:
  CpuApplier(const CpuKernel& kernel, const CpuOptions& options)
      : kernel_(kernel), share_from_bytes_(options.share_from_bytes) {
    if (options.threads > 1) pool_.emplace(options.threads);
  }

  [[nodiscard]] absl::string_view name() const override { return "cpu"; }

 private:
  absl::Status ApplyChecked(const MaskRows& masks, const Logits& logits,
                            const Logits& output) const override {
    if (logits.memory != LogitsMemory::kHost)
      return absl::InvalidArgumentError("logits.memory: the cpu applier masks host memory only");
    const auto row_count = std::ssize(masks.rows);
    const auto mask_row = [&](std::int64_t i) {
      MaskCpuRow(kernel_, masks, masks.rows[static_cast<std::size_t>(i)], logits, output);
    };
    const std::int64_t bytes = row_count * logits.width * ElementTypeOf(logits.type).bytes;
    if (pool_.has_value() && bytes >= share_from_bytes_)
      pool_->ForEach(row_count, mask_row);
    else
      for (std::int64_t i = 0; i < row_count; ++i) mask_row(i);
    return absl::OkStatus();
  }

  const CpuKernel& kernel_;
  std::int64_t share_from_bytes_;
  mutable std::optional<RowPool> pool_;  // internally synchronised
};

}  // namespace

absl::StatusOr<std::unique_ptr<Applier>> MakeCpuApplier(const CpuOptions& options) {
  const absl::StatusOr<const CpuKernel*> found = cpu::Find(CpuKernels(), options.kernel);
  if (!found.ok()) return found.status();
  if (options.threads < 1 || options.threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("threads: ", options.threads, " is not between 1 and ", kMaxThreads));
  }
  return std::make_unique<CpuApplier>(**found, options);
}

absl::StatusOr<std::unique_ptr<Applier>> MakeCpuApplierWithKernel(absl::string_view kernel) {
  return MakeCpuApplier({.kernel = std::string(kernel)});
}

std::string CpuDevice() { return absl::StrCat("cpu (", BestCpuKernel().level, ")"); }

}  // namespace maskd::client
