// maskd, the server. `maskd --help` says its flags. The order is what matters here: process and
// heap before any thread, signals blocked before the first one, the guard of the end before
// anything that may hang.
//
// Invariant  SIGTERM and SIGINT end the process within drain_ms and kOverrun, whatever hangs: a
//            start, a reload or the drain.
// Threads    the first one starts, reloads and ends the server, and looks after tokens once a
//            second. Another one waits for signals, and tells systemd that the server is live.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

#include "grammar_core/base/heap.h"
#include "grammar_core/base/memory_reserve.h"
#include "grammar_core/mask/word_kernels.h"
#include "playground/served_page.h"
#include "service/base/log.h"
#include "service/callers/admission.h"
#include "service/config/config_reader.h"
#include "service/config/memory_plan.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/preload.h"
#include "service/grammars/tokenizer_store.h"
#include "service/ports/tls.h"
#include "service/process/config_file.h"
#include "service/process/exit_guard.h"
#include "service/process/health_probe.h"
#include "service/process/process_setup.h"
#include "service/process/server.h"
#include "service/process/signal_watch.h"
#include "service/process/supervisor.h"

namespace {

using maskd::service::Config;

using std::chrono::milliseconds;

constexpr int kUsageError = 2;
// What is left to run after drain_ms is cancelled then, and ended so much later, so that the
// process is gone within a second.
constexpr milliseconds kOverrun{700};
// How often tokens are looked at.
constexpr milliseconds kLook{1'000};
// How long the end waits for the last lines of the log, and for the one that says why there was no
// beginning.
constexpr milliseconds kLogPatience{200};
constexpr milliseconds kErrorPatience{2'000};

std::optional<std::string> FromEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): no thread yet
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

int Fail(const absl::Status& status, int code) {
  maskd::service::LogText(absl::StrCat("maskd: ", status.message()));
  maskd::service::FlushLog(kErrorPatience);
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
          .refill_reserve = &maskd::RefillMemoryReserve,
          .empty_thread_cache = &maskd::EmptyThreadCache};
}

// A closed terminal is no reason to end; a server without a file has the same flags still.
void Reload(const std::vector<std::string>& arguments, maskd::service::Server* server) {
  const auto next =
      maskd::service::ReadConfig(arguments, &FromEnvironment, &maskd::service::ReadConfigFileAt);
  const absl::Status done = next.ok() ? server->Reload(*next) : next.status();
  maskd::service::LogEvent(done.ok() ? "reloaded" : "reload_refused",
                           {{"reason", std::string(done.message())}});
}

// Until SIGTERM or SIGINT.
void AwaitEnd(const std::vector<std::string>& arguments,
              const maskd::service::Supervisor& supervisor, maskd::service::SignalWatch* signals,
              maskd::service::Server* server) {
  using Asked = maskd::service::SignalWatch::Asked;
  for (;;) {
    const Asked asked = signals->Await(kLook);
    if (asked == Asked::kEnd) return;
    if (asked == Asked::kReload) {
      supervisor.Reloading();
      Reload(arguments, server);
      supervisor.Ready();
    }
    // Once a second and after each reload; tokens change without one.
    server->LookAtTokens();
  }
}

// Serves until SIGTERM or SIGINT.
int Serve(const Config& config, const std::vector<std::string>& arguments) {
  maskd::service::SignalWatch signals;  // before any thread
  if (const absl::Status used = maskd::UseWordKernels(config.cpu_kernels); !used.ok())
    return Fail(used, kUsageError);
  const auto guard = maskd::service::ExitGuard::Start();  // outlives the server's end
  if (guard == nullptr)
    return Fail(absl::UnavailableError("the system gives no thread"), EXIT_FAILURE);
  const maskd::service::Supervisor supervisor(FromEnvironment("NOTIFY_SOCKET"));
  std::atomic<const maskd::service::Server*> serving = nullptr;
  const absl::Status watched = signals.Start({
      .at_end = [&] { guard->EndWithin(milliseconds(config.drain_ms) + kOverrun); },
      .each_second =
          [&] {
            const maskd::service::Server* const server = serving;
            if (server != nullptr && server->IsLive()) supervisor.Alive();
          },
  });
  if (!watched.ok()) return Fail(watched, EXIT_FAILURE);
  // However this ends: the watch calls what goes before it.
  const auto stop = absl::MakeCleanup([&signals] { signals.Stop(); });
  auto server = maskd::service::Server::Start(config, HeapOfThisProgram(),
                                              [&signals] { return signals.is_ending(); });
  if (absl::IsCancelled(server.status())) return EXIT_SUCCESS;
  if (!server.ok()) return Fail(server.status(), EXIT_FAILURE);
  auto page = maskd::playground::ServedPage::Start(config, server->get());
  if (!page.ok()) return Fail(page.status(), EXIT_FAILURE);
  serving = server->get();
  supervisor.Ready();
  AwaitEnd(arguments, supervisor, &signals, server->get());
  supervisor.Stopping();
  if (*page != nullptr) (*page)->Close();
  (*server)->Drain();
  page->reset();
  server->reset();
  return EXIT_SUCCESS;
}

int CheckConfig(const Config& config) {
  if (const absl::Status read = maskd::service::CheckTlsFiles(config); !read.ok())
    return Fail(read, EXIT_FAILURE);
  // All that a start would read, and nothing that it would open.
  maskd::service::Admission admission;
  if (const absl::Status read = admission.Configure(config); !read.ok())
    return Fail(read, EXIT_FAILURE);
  const auto loaded = maskd::service::TokenizerStore::Load(
      config.tokenizers, maskd::service::PlanMemory(config).mask_store_bytes);
  if (!loaded.ok()) return Fail(loaded.status(), EXIT_FAILURE);
  maskd::service::GrammarStore grammars(config, nullptr);
  const auto preloaded = maskd::service::Preload(config.grammars, **loaded, &grammars);
  return preloaded.ok() ? EXIT_SUCCESS : Fail(preloaded.status(), EXIT_FAILURE);
}

int Probe(const Config& config) {
  const absl::StatusOr<bool> serving = maskd::service::AskHealth(config);
  if (!serving.ok()) return Fail(serving.status(), EXIT_FAILURE);
  const bool is_said = std::puts(*serving ? "SERVING" : "NOT_SERVING") >= 0;
  return *serving && is_said ? EXIT_SUCCESS : EXIT_FAILURE;
}

int Run(const std::vector<std::string>& arguments) {
  const absl::StatusOr<Config> config =
      maskd::service::ReadConfig(arguments, &FromEnvironment, &maskd::service::ReadConfigFileAt);
  if (!config.ok()) return Fail(config.status(), kUsageError);
  switch (config->action) {
    case Config::Action::kHelp:
      return std::fputs(maskd::service::ConfigHelp().c_str(), stdout) < 0;
    case Config::Action::kVersion:
      return std::puts("maskd " MASKD_VERSION) < 0;
    case Config::Action::kCheckConfig:
      return CheckConfig(*config);
    case Config::Action::kHealth:
      return Probe(*config);
    case Config::Action::kServe:
      break;
  }
  // An Abseil that is built with assertions, as Debian's is, looks for deadlocks at each lock, of
  // which gRPC takes dozens a message.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (const std::int64_t reserve = maskd::MemoryReserveNeeded(); reserve > 0)
    maskd::KeepMemoryReserve(reserve);
  maskd::ReserveHeap(maskd::service::PlanMemory(*config).heap_bytes);
  return Serve(*config, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  maskd::service::SetUpProcess();
  const int code = Run(std::vector<std::string>(argv + 1, argv + argc));
  maskd::service::FlushLog(kLogPatience);
  return code;
}
