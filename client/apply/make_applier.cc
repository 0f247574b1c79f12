#include "client/apply/make_applier.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "client/apply/cpu_applier.h"

namespace maskd::client {
namespace {

constexpr absl::string_view kAuto = "auto";

struct Row {
  absl::string_view name;
  bool (*supported)();
  absl::StatusOr<std::unique_ptr<Applier>> (*make)();
};

bool Always() { return true; }

// Best first: "auto" takes the first that is supported.
constexpr std::array kAppliers = {
    Row{"cpu", &Always, &MakeCpuApplier},
};

std::string NotMade(absl::string_view name, absl::string_view why) {
  return absl::StrCat("applier \"", name, "\" ", why, " on ", CpuDevice(),
                      "; supported: ", absl::StrJoin(SupportedAppliers(), ", "));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Applier>> MakeApplier(absl::string_view name) {
  for (const Row& row : kAppliers) {
    if (name != kAuto && name != row.name) continue;
    if (row.supported()) return row.make();
    if (name != kAuto) return absl::UnimplementedError(NotMade(name, "is not supported"));
  }
  return absl::InvalidArgumentError(NotMade(name, "is not known"));
}

std::vector<std::string> SupportedAppliers() {
  std::vector<std::string> names = {std::string(kAuto)};
  for (const Row& row : kAppliers) {
    if (row.supported()) names.emplace_back(row.name);
  }
  return names;
}

}  // namespace maskd::client
