#include "service/callers/tenant.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache/load_error.h"
#include "tests/service/base/hand_clock.h"

namespace maskd::service {
namespace {

using std::chrono::seconds;
using Use = Tenant::Use;

struct UseCase {
  const char* name;
  Use use;
  std::int64_t TenantLimits::* most;
  const char* limit;
};

class TenantUseTest : public testing::TestWithParam<UseCase> {};

INSTANTIATE_TEST_SUITE_P(Uses, TenantUseTest,
                         testing::ValuesIn(std::vector<UseCase>{
                             {"Streams", Use::kStream, &TenantLimits::max_streams, "max_streams"},
                             {"Rows", Use::kRow, &TenantLimits::max_rows, "max_rows"},
                             {"Compiles", Use::kCompile, &TenantLimits::compiles_at_once,
                              "compiles_at_once"},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST_P(TenantUseTest, NoMoreThanItsLimitUntilOneIsGivenBack) {
  const auto tenant = std::make_shared<Tenant>("red");
  TenantLimits limits;
  limits.*GetParam().most = 2;
  tenant->SetLimits(limits);
  std::vector<Tenant::Lease> leases;
  for (int i = 0; i < 2; ++i) {
    auto lease = tenant->Take(GetParam().use);
    ASSERT_TRUE(lease.ok()) << lease.status();
    leases.push_back(*std::move(lease));
  }
  const absl::Status third = tenant->Take(GetParam().use).status();
  EXPECT_TRUE(absl::IsResourceExhausted(third)) << third;
  EXPECT_EQ(third.message(),
            absl::StrCat("limit ", GetParam().limit, " of tenant red is 2, one more needed"));
  EXPECT_TRUE(cache::RetryAfterMs(third).has_value());
  leases.pop_back();
  EXPECT_TRUE(tenant->Take(GetParam().use).ok());
  const auto i = static_cast<std::size_t>(GetParam().use);
  EXPECT_EQ(tenant->figures().in_use[i], 1);
  EXPECT_EQ(tenant->figures().refused[i], 1);
}

TEST(TenantTest, WithoutLimitsEverythingIsThere) {
  const auto tenant = std::make_shared<Tenant>("all");
  std::vector<Tenant::Lease> leases;
  for (int i = 0; i < 1000; ++i)
    for (const Use use : {Use::kStream, Use::kRow, Use::kCompile})
      leases.push_back(*tenant->Take(use));
  EXPECT_TRUE(tenant->CheckInline().ok());
  EXPECT_TRUE(tenant->CheckGrammar("any").ok());
  leases.clear();
  EXPECT_THAT(tenant->figures().in_use, testing::Each(0));
}

TEST(TenantTest, AMinuteHasSoManyCompilesAndFillsEvenly) {
  HandClock clock;
  const auto tenant = std::make_shared<Tenant>("red", &clock);
  TenantLimits limits;
  limits.compiles_per_minute = 6;
  tenant->SetLimits(limits);
  const auto compile = [&] {
    auto lease = tenant->Take(Use::kCompile);
    if (lease.ok()) lease->Spend();
    return lease.status();
  };
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(compile().ok()) << i;
  const absl::Status seventh = compile();
  EXPECT_TRUE(absl::IsResourceExhausted(seventh)) << seventh;
  EXPECT_EQ(cache::RetryAfterMs(seventh), 10'000);
  clock.Advance(seconds(9));
  EXPECT_FALSE(compile().ok());
  clock.Advance(seconds(1));
  EXPECT_TRUE(compile().ok());
  EXPECT_FALSE(compile().ok());
  clock.Advance(std::chrono::hours(1));
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(compile().ok()) << i;
  EXPECT_FALSE(compile().ok()) << "an hour fills no more than one minute's";
}

TEST(TenantTest, ACompileThatDidNotBeginIsPutBack) {
  HandClock clock;
  const auto tenant = std::make_shared<Tenant>("red", &clock);
  TenantLimits limits;
  limits.compiles_per_minute = 1;
  tenant->SetLimits(limits);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(tenant->Take(Use::kCompile).ok());
  tenant->Take(Use::kCompile)->Spend();
  EXPECT_FALSE(tenant->Take(Use::kCompile).ok());
}

TEST(TenantTest, NewLimitsKeepWhatIsInUse) {
  const auto tenant = std::make_shared<Tenant>("red");
  std::vector<Tenant::Lease> rows;
  for (int i = 0; i < 10; ++i) rows.push_back(*tenant->Take(Use::kRow));
  TenantLimits limits;
  limits.max_rows = 5;
  tenant->SetLimits(limits);
  EXPECT_FALSE(tenant->Take(Use::kRow).ok());
  rows.resize(4);
  EXPECT_TRUE(tenant->Take(Use::kRow).ok());
}

TEST(TenantTest, OnlyGrammarsOfItsListAndNoTexts) {
  const auto tenant = std::make_shared<Tenant>("red");
  TenantLimits limits;
  limits.inline_grammars = false;
  limits.grammars = {"a"};
  tenant->SetLimits(limits);
  EXPECT_TRUE(absl::IsPermissionDenied(tenant->CheckInline()));
  EXPECT_TRUE(tenant->CheckGrammar("a").ok());
  EXPECT_TRUE(absl::IsPermissionDenied(tenant->CheckGrammar("b")));
}

TEST(TenantTest, ALeaseOutlivesItsTenantsOwner) {
  auto tenant = std::make_shared<Tenant>("red");
  auto lease = tenant->Take(Use::kRow);
  tenant.reset();
  Tenant::Lease moved = *std::move(lease);
  moved = Tenant::Lease();
}

}  // namespace
}  // namespace maskd::service
