// Counts under one lock: what is in use of each kind, and a bucket of compiles that fills by the
// time that has passed whenever it is looked at, so that no timer runs for it.
//
// Invariant  each lease was counted once and is given back once; a compile that never began puts
//            its share of the minute back.
// May block  nothing: the lock is held for some additions.
#include "service/callers/tenant.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "absl/strings/str_cat.h"

#include "cache/load_error.h"
#include "grammar_core/base/error.h"

namespace maskd::service {
namespace {

constexpr double kMsPerMinute = 60'000;
// Streams and rows live long; a compile is soon over.
constexpr std::int64_t kRetryAfterMs = 1000;

struct Limit {
  const char* name;
  std::int64_t TenantLimits::* most;
};

// By Use.
constexpr std::array<Limit, Tenant::kUseCount> kLimits = {{
    {"max_streams", &TenantLimits::max_streams},
    {"max_rows", &TenantLimits::max_rows},
    {"compiles_at_once", &TenantLimits::compiles_at_once},
}};

absl::Status OverLimit(absl::string_view tenant, absl::string_view limit, std::int64_t most,
                       std::int64_t retry_ms) {
  return cache::OverloadedError(
      "TENANT_LIMIT",
      absl::StrCat("limit ", limit, " of tenant ", tenant, " is ", most, ", one more needed"),
      retry_ms);
}

}  // namespace

Tenant::Lease& Tenant::Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    GiveBack();
    tenant_ = std::move(other.tenant_);
    use_ = other.use_;
    spent_ = other.spent_;
  }
  return *this;
}

void Tenant::Lease::GiveBack() {
  if (const std::shared_ptr<Tenant> tenant = std::exchange(tenant_, nullptr); tenant != nullptr)
    tenant->GiveBack(use_, spent_);
}

void Tenant::SetLimits(TenantLimits limits) {
  share_->capacity_bytes = limits.cache_bytes;
  const MutexLock lock(&mutex_);
  // A reload that leaves the rate as it was must not fill the bucket.
  if (limits.compiles_per_minute != limits_.compiles_per_minute) {
    bucket_ = static_cast<double>(limits.compiles_per_minute);
    filled_ = clock_->Now();
  }
  limits_ = std::move(limits);
}

absl::StatusOr<Tenant::Lease> Tenant::Take(Use use) {
  const auto i = static_cast<std::size_t>(use);
  const MutexLock lock(&mutex_);
  const std::int64_t most = limits_.*kLimits[i].most;
  absl::Status taken;
  if (most > 0 && figures_.in_use[i] >= most)
    taken = OverLimit(name_, kLimits[i].name, most, kRetryAfterMs);
  else if (use == Use::kCompile)
    taken = CheckMinute();
  if (!taken.ok()) {
    ++figures_.refused[i];
    return taken;
  }
  if (use == Use::kCompile && limits_.compiles_per_minute > 0) bucket_ -= 1;
  ++figures_.in_use[i];
  return Lease(shared_from_this(), use);
}

void Tenant::FillBucket() {
  const Clock::TimePoint now = clock_->Now();
  const auto most = static_cast<double>(limits_.compiles_per_minute);
  const std::chrono::duration<double, std::milli> passed = now - filled_;
  bucket_ = std::min(most, bucket_ + passed.count() * most / kMsPerMinute);
  filled_ = now;
}

absl::Status Tenant::CheckMinute() {
  if (limits_.compiles_per_minute == 0) return absl::OkStatus();
  FillBucket();
  if (bucket_ >= 1) return absl::OkStatus();
  // When the bucket will have one again: an honest time to come back.
  const double ms = (1 - bucket_) * kMsPerMinute / static_cast<double>(limits_.compiles_per_minute);
  return OverLimit(name_, "compiles_per_minute", limits_.compiles_per_minute,
                   static_cast<std::int64_t>(std::ceil(ms)));
}

void Tenant::GiveBack(Use use, bool spent) {
  const MutexLock lock(&mutex_);
  --figures_.in_use[static_cast<std::size_t>(use)];
  if (use != Use::kCompile) return;
  if (spent)
    ++figures_.compiles;
  else if (limits_.compiles_per_minute > 0)
    bucket_ = std::min(static_cast<double>(limits_.compiles_per_minute), bucket_ + 1);
}

absl::Status Tenant::CheckInline() {
  const MutexLock lock(&mutex_);
  if (limits_.inline_grammars) return absl::OkStatus();
  return ErrorAt(absl::StatusCode::kPermissionDenied, "grammar", "INLINE_GRAMMAR",
                 absl::StrCat("tenant ", name_, " names grammars by their ids alone"));
}

absl::Status Tenant::CheckGrammar(const std::string& id) {
  const MutexLock lock(&mutex_);
  if (limits_.grammars.empty() || limits_.grammars.contains(id)) return absl::OkStatus();
  return ErrorAt(absl::StatusCode::kPermissionDenied, "grammar", "GRAMMAR_NOT_ALLOWED",
                 absl::StrCat("tenant ", name_, " has no right to this grammar"));
}

Tenant::Figures Tenant::figures() const {
  const MutexLock lock(&mutex_);
  Figures figures = figures_;
  figures.cache_bytes = share_->held_bytes;
  return figures;
}

}  // namespace maskd::service
