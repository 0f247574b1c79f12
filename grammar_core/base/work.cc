#include "grammar_core/base/work.h"

#include "absl/strings/cord.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

constexpr char kPayload[] = "maskd/automaton_full";

}  // namespace

absl::Status AutomatonFull(const char* limit_name, std::int64_t limit, std::int64_t needed) {
  absl::Status full = LimitExceeded("", limit_name, limit, needed);
  full.SetPayload(kPayload, absl::Cord());
  return full;
}

bool IsAutomatonFull(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && status.GetPayload(kPayload).has_value();
}

}  // namespace maskd
