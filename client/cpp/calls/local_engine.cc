#include "client/cpp/calls/local_engine.h"

#include <atomic>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace maskd::client {
namespace {

std::atomic<LocalEngines> local_engines = nullptr;

}  // namespace

bool IsLocal(absl::string_view address) { return absl::StartsWith(address, "local:"); }

absl::StatusOr<std::shared_ptr<LocalEngine>> FindLocalEngine(const std::string& address) {
  const LocalEngines engines = local_engines.load();
  if (engines != nullptr) return engines(address);
  return absl::UnimplementedError(
      absl::StrCat("address: ", address, ": this program holds no engine (local::Enable())"));
}

void UseLocalEngines(LocalEngines engines) { local_engines.store(engines); }

}  // namespace maskd::client
