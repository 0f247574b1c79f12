// maskd, the server. `maskd --help` says its flags.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

#include "grammar_core/base/heap.h"
#include "grammar_core/base/memory_reserve.h"
#include "grammar_core/mask/word_kernels.h"
#include "service/config.h"
#include "service/memory_plan.h"
#include "service/server.h"
#include "service/tokenizer_store.h"

namespace {

using maskd::service::Config;

constexpr int kUsageError = 2;

std::optional<std::string> FromEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): no thread yet
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

int Fail(const absl::Status& status, int code) {
  std::fprintf(stderr, "maskd: %s\n", std::string(status.message()).c_str());
  return code;
}

maskd::memory::Accountant::Heap HeapOfThisProgram() {
  return {.read =
              [] {
                auto bytes = maskd::ReadHeap();
                if (bytes.has_value()) {  // what is set aside is asked for and never touched
                  bytes->allocated -= maskd::MemoryReserveBytes();
                  bytes->resident -= maskd::MemoryReserveBytes();
                }
                return bytes;
              },
          .trim = &maskd::TrimHeap,
          .refill_reserve = &maskd::RefillMemoryReserve};
}

// Serves until SIGTERM or SIGINT. The signals are blocked before any thread starts, so that only
// sigwait() sees them.
int Serve(const Config& config) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  if (const absl::Status used = maskd::UseWordKernels(config.cpu_kernels); !used.ok()) {
    return Fail(used, kUsageError);
  }
  auto server = maskd::service::Server::Start(config, HeapOfThisProgram());
  if (!server.ok()) {
    return Fail(server.status(), EXIT_FAILURE);
  }
  int signal = 0;
  sigwait(&signals, &signal);
  (*server)->Drain();
  return EXIT_SUCCESS;
}

int CheckConfig(const Config& config) {
  const auto loaded = maskd::service::TokenizerStore::Load(
      config.tokenizers, maskd::service::PlanMemory(config).mask_store_bytes);
  return loaded.ok() ? EXIT_SUCCESS : Fail(loaded.status(), EXIT_FAILURE);
}

}  // namespace

int main(int argc, char** argv) {
  const absl::StatusOr<Config> config =
      maskd::service::ReadConfig(std::vector<std::string>(argv + 1, argv + argc), &FromEnvironment);
  if (!config.ok()) {
    return Fail(config.status(), kUsageError);
  }
  switch (config->action) {
    case Config::Action::kHelp:
      return std::fputs(maskd::service::ConfigHelp().c_str(), stdout) < 0;
    case Config::Action::kVersion:
      return std::puts("maskd " MASKD_VERSION) < 0;
    case Config::Action::kCheckConfig:
      return CheckConfig(*config);
    case Config::Action::kServe:
      break;
  }
  // An Abseil that is built with assertions, as Debian's is, looks for deadlocks at each lock, of
  // which gRPC takes dozens a message.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (const std::int64_t reserve = maskd::MemoryReserveNeeded(); reserve > 0) {
    maskd::KeepMemoryReserve(reserve);
  }
  maskd::ReserveHeap(maskd::service::PlanMemory(*config).heap_bytes);
  return Serve(*config);
}
