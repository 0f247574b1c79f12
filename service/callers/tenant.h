// A tenant: who shares limits, and what of them is in use.
//
// Lease    something of a tenant in use: a stream, a row, a compile; given back with its end. The
//          tenant lives as long as its leases.
// Limits   may change at any time; what is in use stays.
// Minute   compiles_per_minute is a bucket that holds so many and fills evenly. A compile that
//          never begins is put back.
// Threads  any.
#ifndef MASKD_SERVICE_CALLERS_TENANT_H_
#define MASKD_SERVICE_CALLERS_TENANT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cache/share.h"
#include "grammar_core/base/clock.h"
#include "grammar_core/base/mutex.h"
#include "service/config/tenant_rule.h"

namespace maskd::service {

// One tenant, shared by its calls and its leases.
class Tenant : public std::enable_shared_from_this<Tenant> {
 public:
  // What a lease is for.
  enum class Use : std::uint8_t { kStream, kRow, kCompile };
  static constexpr std::size_t kUseCount = 3;

  // One use, given back when it is destroyed.
  class Lease {
   public:
    Lease() = default;  // of nobody
    // What was moved from gives nothing back.
    Lease(Lease&& other) noexcept : tenant_(std::move(other.tenant_)), use_(other.use_) {}
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { GiveBack(); }

    // The compile has begun: it counts for its minute.
    void Spend() { spent_ = true; }

   private:
    friend class Tenant;
    Lease(std::shared_ptr<Tenant> tenant, Use use) : tenant_(std::move(tenant)), use_(use) {}
    void GiveBack();

    std::shared_ptr<Tenant> tenant_;
    Use use_ = Use::kRow;
    bool spent_ = false;
  };

  // Without limits until they are set.
  explicit Tenant(std::string name, Clock* clock = Clock::Steady())
      : name_(std::move(name)), clock_(clock) {}

  // As the configuration has it.
  [[nodiscard]] const std::string& name() const { return name_; }
  // From now on; what is in use stays, also beyond them.
  void SetLimits(TenantLimits limits) ABSL_LOCKS_EXCLUDED(mutex_);

  // Errors: RESOURCE_EXHAUSTED with the limit and a retry hint.
  absl::StatusOr<Lease> Take(Use use) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether it may bring texts; whether it may use the grammar of that id. Errors:
  // PERMISSION_DENIED.
  absl::Status CheckInline() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status CheckGrammar(const std::string& id) ABSL_LOCKS_EXCLUDED(mutex_);

  // Its share of the cache. Never null.
  [[nodiscard]] const std::shared_ptr<cache::Share>& share() const { return share_; }

  // What is in use and what was refused, for metrics.
  struct Figures {
    std::array<std::int64_t, kUseCount> in_use = {};  // by Use
    std::array<std::int64_t, kUseCount> refused = {};
    std::int64_t compiles = 0;  // that began
    std::int64_t cache_bytes = 0;
  };
  // As of one look, under the tenant's lock.
  [[nodiscard]] Figures figures() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void GiveBack(Use use, bool spent) ABSL_LOCKS_EXCLUDED(mutex_);
  void FillBucket() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckMinute() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string name_;
  Clock* const clock_;
  const std::shared_ptr<cache::Share> share_ = std::make_shared<cache::Share>();
  mutable Mutex mutex_;
  TenantLimits limits_ ABSL_GUARDED_BY(mutex_);
  Figures figures_ ABSL_GUARDED_BY(mutex_);
  double bucket_ ABSL_GUARDED_BY(mutex_) = 0;  // compiles that may begin now
  Clock::TimePoint filled_ ABSL_GUARDED_BY(mutex_) = Clock::TimePoint::min();
};

using TenantPtr = std::shared_ptr<Tenant>;

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLERS_TENANT_H_
