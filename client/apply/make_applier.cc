#include "client/apply/make_applier.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"

#include "client/apply/cpu_applier.h"
#include "client/apply/opencl/opencl_applier.h"
#include "client/apply/opencl/opencl_device.h"

namespace maskd::client {
namespace {

constexpr absl::string_view kAuto = "auto";
constexpr const char* kVariable = "MASKD_APPLIER";

using MadeApplier = absl::StatusOr<std::unique_ptr<Applier>>;

struct Row {
  std::string name;
  // OK, or why this machine lacks it.
  absl::Status (*supported)();
  ApplierMaker make;
};

absl::Status Always() { return absl::OkStatus(); }

// A number is of threads, any other variant a kernel.
MadeApplier MakeCpu(absl::string_view variant) {
  if (variant.empty()) return MakeCpuApplier();
  int threads = 0;
  if (absl::SimpleAtoi(variant, &threads)) return MakeCpuApplier({.threads = threads});
  return MakeCpuApplierWithKernel(variant);
}

absl::Status HasOpenCl() { return OpenClDevices().status(); }

MadeApplier MakeOpenCl(absl::string_view device) {
  OpenClOptions options = DefaultOpenClOptions();
  options.device = std::string(device);
  return OpenClApplier::Make(options);
}

struct Table {
  absl::Mutex mutex;
  // "auto" is the first, which every machine has: for logits in host memory it is the fastest.
  std::vector<Row> rows ABSL_GUARDED_BY(mutex) = {
      {"cpu", &Always, &MakeCpu},
      {"opencl", &HasOpenCl, &MakeOpenCl},
  };
};

Table& Appliers() {
  static auto& table = *new Table();
  return table;
}

std::vector<Row> Rows() {
  Table& table = Appliers();
  const absl::MutexLock lock(&table.mutex);
  return table.rows;
}

std::string NotMade(absl::string_view name, absl::string_view why) {
  return absl::StrCat("applier \"", name, "\" ", why, " on ", CpuDevice(),
                      "; supported: ", absl::StrJoin(SupportedAppliers(), ", "));
}

MadeApplier MakeFrom(const Row& row, absl::string_view name, absl::string_view variant) {
  if (const absl::Status lacks = row.supported(); !lacks.ok()) {
    return absl::UnimplementedError(
        NotMade(name, absl::StrCat("is not supported (", lacks.message(), ")")));
  }
  MadeApplier made = row.make(variant);
  if (made.ok()) return made;
  return absl::Status(
      made.status().code(),
      NotMade(name, absl::StrCat("cannot be made (", made.status().message(), ")")));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Applier>> MakeApplier(absl::string_view name) {
  const std::size_t colon = name.find(':');
  const absl::string_view asked = name.substr(0, colon);
  const absl::string_view variant =
      colon == absl::string_view::npos ? absl::string_view() : name.substr(colon + 1);
  const std::vector<Row> rows = Rows();
  if (name == kAuto) return rows.front().make("");
  for (const Row& row : rows)
    if (asked == row.name) return MakeFrom(row, name, variant);
  return absl::InvalidArgumentError(NotMade(name, "is not known"));
}

absl::Status AddApplier(absl::string_view name, ApplierMaker make) {
  if (name.empty() || absl::StrContains(name, ':')) {
    return absl::InvalidArgumentError(
        absl::StrCat("name: \"", name, "\" is empty or has a colon, which a variant follows"));
  }
  if (make == nullptr) return absl::InvalidArgumentError("make: is null");
  Table& table = Appliers();
  const absl::MutexLock lock(&table.mutex);
  const auto same = [&](const Row& row) { return row.name == name; };
  if (name == kAuto || std::ranges::any_of(table.rows, same))
    return absl::AlreadyExistsError(absl::StrCat("name: there is an applier \"", name, "\""));
  table.rows.push_back({std::string(name), &Always, make});
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Applier>> MakeConfiguredApplier(absl::string_view configured) {
  const char* const wanted = std::getenv(kVariable);
  if (wanted != nullptr && *wanted != '\0') return MakeApplier(wanted);
  return MakeApplier(configured.empty() ? kAuto : configured);
}

std::vector<std::string> SupportedAppliers() {
  std::vector<std::string> names = {std::string(kAuto)};
  for (const Row& row : Rows())
    if (row.supported().ok()) names.push_back(row.name);
  return names;
}

}  // namespace maskd::client
