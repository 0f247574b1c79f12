#include "grammar_core/mask/word_kernels.h"

#include <array>
#include <atomic>

#include "absl/status/statusor.h"

#include "cpu/level.h"

namespace maskd {
namespace {

constexpr std::array kVariants = {
#if defined(__x86_64__)
    &kAvx512WordKernels,
    &kAvx2WordKernels,
#elif defined(__aarch64__)
    &kNeonWordKernels,
#endif
    &kPortableWordKernels,
};

// Set by the first use, or before that by UseWordKernels().
std::atomic<const WordKernels*> used = nullptr;

}  // namespace

std::span<const WordKernels* const> AllWordKernels() { return kVariants; }

const WordKernels& UsedWordKernels() {
  const WordKernels* kernels = used.load(std::memory_order_relaxed);
  if (kernels == nullptr) {
    kernels = &cpu::Best(AllWordKernels());
    used.store(kernels, std::memory_order_relaxed);
  }
  return *kernels;
}

absl::Status UseWordKernels(absl::string_view level) {
  const absl::StatusOr<const WordKernels*> kernels = cpu::Find(AllWordKernels(), level);
  if (kernels.ok()) used.store(*kernels, std::memory_order_relaxed);
  return kernels.status();
}

}  // namespace maskd
