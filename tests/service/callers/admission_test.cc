#include "service/callers/admission.h"

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/callers/caller.h"
#include "service/config/tenant_rule.h"
#include "tests/base/test_folder.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;

constexpr char kRed[] = "red-token-0123456789";

const Peer kUser = {true, "uid:1000", 1000};
const Peer kProxy = {true, "uid:33", 33};
const Peer kRemote = {false, "10.0.0.7"};

class AdmissionTest : public testing::Test {
 protected:
  AdmissionTest() {
    std::ofstream(path_) << "red " << kRed << "\n";
    config_.tokens = path_;
    config_.proxy_metadata = "x-who";
    config_.proxy_users = {33};
  }

  void AddTenant(const std::string& name, std::vector<std::string> identities) {
    config_.tenants.push_back({name, std::move(identities), {}});
  }

  // "identity tenant", or the reason of the refusal.
  std::string Said(const Shown& shown) {
    const absl::Status configured = admission_.Configure(config_);
    EXPECT_TRUE(configured.ok()) << configured;
    const auto caller = admission_.Admit(shown);
    if (!caller.ok()) return absl::StatusCodeToString(caller.status().code());
    return absl::StrCat(caller->identity, " ", caller->tenant->name());
  }

  TestFolder folder_;
  std::string path_ = folder_.Path("tokens");
  Config config_;
  Admission admission_;
};

TEST_F(AdmissionTest, OverASocketTheUserIsTheIdentity) {
  EXPECT_EQ(Said({kUser, {}, {}, {}}), "uid:1000 all");
  EXPECT_EQ(Said({kUser, {}, {}, "who"}), "uid:1000 all") << "not a proxy's word";
}

// This server's own page, as the gate names it.
TEST_F(AdmissionTest, ThePlaygroundIsATenantOfItsOwn) {
  const Shown page = {{true, kPlayground}, {}, {}, {}};
  config_.playground_listen = "127.0.0.1:0";
  EXPECT_EQ(Said(page), "playground playground");
  AddTenant("blue", {"uid:1000"});
  EXPECT_EQ(Said(page), "playground playground") << "also where tenants are configured";
  EXPECT_EQ(Said({kRemote, kRed, {}, {}}), "PERMISSION_DENIED");
  AddTenant("pages", {kPlayground, "uid:7"});
  EXPECT_EQ(Said(page), "playground pages");
}

TEST_F(AdmissionTest, ATenantOfThatNameIsThePlaygrounds) {
  config_.playground_listen = "127.0.0.1:0";
  AddTenant(kPlayground, {"uid:7"});
  EXPECT_EQ(Said({{true, kPlayground}, {}, {}, {}}), "playground playground");
  EXPECT_EQ(admission_.tenants().size(), 1U);
}

TEST_F(AdmissionTest, ThePlaygroundHasLimits) {
  config_.playground_listen = "127.0.0.1:0";
  ASSERT_TRUE(admission_.Configure(config_).ok());
  const auto caller = admission_.Admit({{true, kPlayground}, {}, {}, {}});
  ASSERT_TRUE(caller.ok());
  std::vector<Tenant::Lease> streams;
  for (int i = 0; i < kPlaygroundStreams; ++i) {
    auto stream = caller->tenant->Take(Tenant::Use::kStream);
    ASSERT_TRUE(stream.ok());
    streams.push_back(*std::move(stream));
  }
  EXPECT_FALSE(caller->tenant->Take(Tenant::Use::kStream).ok());
  const auto compile = caller->tenant->Take(Tenant::Use::kCompile);
  EXPECT_FALSE(caller->tenant->Take(Tenant::Use::kCompile).ok());
}

TEST_F(AdmissionTest, ATokenIsTheIdentityAndMustBeKnown) {
  EXPECT_EQ(Said({kUser, kRed, {}, {}}), "token:red all");
  EXPECT_EQ(Said({kRemote, kRed, {}, {}}), "token:red all");
  for (const char* wrong : {"", "red", "red-token-012345678X"}) {
    EXPECT_EQ(Said({kUser, wrong, {}, {}}), "UNAUTHENTICATED") << wrong;
    EXPECT_EQ(Said({kRemote, wrong, {}, {}}), "UNAUTHENTICATED") << wrong;
  }
}

TEST_F(AdmissionTest, OverTcpSomethingMustBeShown) {
  EXPECT_EQ(Said({kRemote, {}, {}, {}}), "UNAUTHENTICATED");
  EXPECT_EQ(Said({kRemote, {}, {"engine.test", "engine"}, {}}), "cert:engine.test all");
  EXPECT_EQ(Said({kRemote, kRed, {"engine.test"}, {}}), "token:red all");
  EXPECT_EQ(Said({kRemote, {}, {}, "who"}), "UNAUTHENTICATED") << "not a proxy's word";
  config_.tokens.clear();
  EXPECT_EQ(Said({kRemote, {}, {}, {}}), "address:10.0.0.7 all");
  EXPECT_EQ(Said({kRemote, "whatever", {}, {}}), "address:10.0.0.7 all") << "nobody reads it";
}

TEST_F(AdmissionTest, AProxySaysWhoseCallItIs) {
  EXPECT_EQ(Said({kProxy, {}, {}, "engine-7"}), "proxy:engine-7 all");
  EXPECT_EQ(Said({kProxy, {}, {}, {}}), "UNAUTHENTICATED");
  EXPECT_EQ(Said({kProxy, {}, {}, ""}), "UNAUTHENTICATED");
  EXPECT_EQ(Said({kProxy, {}, {}, std::string(1000, 'x')}), "UNAUTHENTICATED");
}

TEST_F(AdmissionTest, TenantsAreFoundByAnyIdentityThatIsShown) {
  AddTenant("red", {"token:red", "proxy:red"});
  AddTenant("engines", {"cert:engine", "uid:1000"});
  EXPECT_EQ(Said({kUser, {}, {}, {}}), "uid:1000 engines");
  EXPECT_EQ(Said({kUser, kRed, {}, {}}), "token:red red");
  EXPECT_EQ(Said({kRemote, {}, {"engine.test", "engine"}, {}}), "cert:engine engines");
  EXPECT_EQ(Said({kProxy, {}, {}, "red"}), "proxy:red red");
  EXPECT_EQ(Said({kProxy, {}, {}, "blue"}), "PERMISSION_DENIED");
  EXPECT_EQ(Said({kRemote, {}, {"stranger"}, {}}), "PERMISSION_DENIED");
  AddTenant("others", {"*"});
  EXPECT_EQ(Said({kProxy, {}, {}, "blue"}), "proxy:blue others");
  EXPECT_EQ(Said({kRemote, {}, {"stranger"}, {}}), "cert:stranger others");
}

TEST_F(AdmissionTest, ANewConfigurationKeepsWhatATenantUses) {
  AddTenant("red", {"*"});
  ASSERT_TRUE(admission_.Configure(config_).ok());
  const auto before = admission_.Admit({kUser, {}, {}, {}});
  const auto row = before->tenant->Take(Tenant::Use::kRow);
  config_.tenants[0].limits.max_rows = 1;
  ASSERT_TRUE(admission_.Configure(config_).ok());
  const auto after = admission_.Admit({kUser, {}, {}, {}});
  EXPECT_EQ(after->tenant, before->tenant);
  EXPECT_FALSE(after->tenant->Take(Tenant::Use::kRow).ok());
}

TEST_F(AdmissionTest, AConfigurationThatIsWrongChangesNothing) {
  AddTenant("red", {"*"});
  ASSERT_TRUE(admission_.Configure(config_).ok());
  std::ofstream(path_) << "nonsense";
  config_.tenants[0].name = "blue";
  const absl::Status refused = admission_.Configure(config_);
  EXPECT_EQ(refused.message(), absl::StrCat("--tokens: ", path_, ":1: is not a name and a token"));
  EXPECT_FALSE(admission_.ReadTokens(path_).ok());
  EXPECT_EQ(admission_.Admit({kUser, kRed, {}, {}})->tenant->name(), "red");
}

TEST_F(AdmissionTest, TokensAreReadAgainAlone) {
  ASSERT_TRUE(admission_.Configure(config_).ok());
  std::ofstream(path_) << "red new-token-0123456789\n";
  EXPECT_TRUE(admission_.Admit({kRemote, kRed, {}, {}}).ok());
  ASSERT_TRUE(admission_.ReadTokens(path_).ok());
  EXPECT_TRUE(absl::IsUnauthenticated(admission_.Admit({kRemote, kRed, {}, {}}).status()));
  EXPECT_TRUE(admission_.Admit({kRemote, "new-token-0123456789", {}, {}}).ok());
}

TEST_F(AdmissionTest, AnAdminNeedsNoTenantButToBeOneOfTheCallers) {
  AddTenant("red", {"token:red"});
  ASSERT_TRUE(admission_.Configure(config_).ok());
  EXPECT_EQ(admission_.AdmitAdmin({kUser, {}, {}, {}})->identity, "uid:1000");
  EXPECT_TRUE(absl::IsUnauthenticated(admission_.AdmitAdmin({kRemote, {}, {}, {}}).status()));
  config_.admin_callers = {"uid:0", "token:red"};
  ASSERT_TRUE(admission_.Configure(config_).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(admission_.AdmitAdmin({kUser, {}, {}, {}}).status()));
  const auto caller = admission_.AdmitAdmin({kUser, kRed, {}, {}});
  ASSERT_TRUE(caller.ok()) << caller.status();
  EXPECT_EQ(caller->identity, "token:red");
}

TEST_F(AdmissionTest, UsersOfTheSocketAreThoseOfTheList) {
  EXPECT_TRUE(admission_.MayConnect(7));
  config_.socket_users = {1000, 0};
  ASSERT_TRUE(admission_.Configure(config_).ok());
  EXPECT_TRUE(admission_.MayConnect(1000));
  EXPECT_TRUE(admission_.MayConnect(0));
  EXPECT_FALSE(admission_.MayConnect(7));
  EXPECT_FALSE(admission_.MayConnect(-1));
}

TEST_F(AdmissionTest, FiguresHaveABoundedLabel) {
  constexpr std::size_t kMany = 50'000;
  for (std::size_t i = 0; i < kMany; ++i)
    AddTenant(absl::StrCat("tenant-", i), {absl::StrCat("proxy:", i)});
  EXPECT_EQ(Said({kProxy, {}, {}, "49999"}), "proxy:49999 tenant-49999");
  const auto row = admission_.Admit({kProxy, {}, {}, "49999"})->tenant->Take(Tenant::Use::kRow);
  EXPECT_EQ(Said({kProxy, {}, {}, "nobody"}), "PERMISSION_DENIED");
  double others = -1;
  std::size_t labels = 0;
  double denied = 0;
  for (const metrics::Figure& figure : admission_.ReadFigures()) {
    const std::string name = figure.name.name;
    labels += name == "maskd_tenant_rows_open" ? 1 : 0;
    if (name == "maskd_tenant_rows_open" && figure.label_value == "other") others = figure.value;
    if (figure.label_value == "permission_denied") denied = figure.value;
  }
  EXPECT_EQ(labels, Admission::kMaxLabels + 1);
  EXPECT_EQ(others, 1);
  EXPECT_EQ(denied, 1);
}

TEST(TenantRuleTest, AnIdentityIsAKindAndAName) {
  for (const char* identity : {"uid:0", "token:a", "cert:CN=x", "proxy:::", "address:::1"})
    EXPECT_TRUE(IsIdentity(identity)) << identity;
  for (const char* none :
       {"", "*", "uid", "uid:", "token:", "user:1", "UID:1", " uid:1", kPlayground})
    EXPECT_FALSE(IsIdentity(none)) << none;
}

// Each kind that admission can find is one that a tenant or an admin may be said to be.
TEST_F(AdmissionTest, EveryIdentityThatIsFoundCanBeSaid) {
  config_.playground_listen = "127.0.0.1:0";
  for (const Shown& shown :
       {Shown{kUser, {}, {}, {}}, Shown{kRemote, kRed, {}, {}}, Shown{kRemote, {}, {"cn"}, {}},
        Shown{kProxy, {}, {}, "who"}, Shown{{true, kPlayground}, {}, {}, {}}}) {
    ASSERT_TRUE(admission_.Configure(config_).ok());
    const auto caller = admission_.Admit(shown);
    ASSERT_TRUE(caller.ok()) << caller.status();
    EXPECT_TRUE(IsIdentity(caller->identity) || caller->identity == kPlayground)
        << caller->identity;
  }
  config_.tokens = "";
  ASSERT_TRUE(admission_.Configure(config_).ok());
  EXPECT_TRUE(IsIdentity(admission_.Admit({kRemote, {}, {}, {}})->identity));
}

// A call keeps the tenant that it came with, also when a reload has none of that name any more.
TEST_F(AdmissionTest, ACallerHasItsTenantAsLongAsItsCallLives) {
  AddTenant("red", {"uid:1000"});
  ASSERT_TRUE(admission_.Configure(config_).ok());
  Caller caller = *admission_.Admit({kUser, {}, {}, {}});
  config_.tenants.clear();
  ASSERT_TRUE(admission_.Configure(config_).ok());
  EXPECT_EQ(caller.tenant->name(), "red");
  EXPECT_TRUE(caller.tenant->Take(Tenant::Use::kStream).ok());
  EXPECT_EQ(admission_.Admit({kUser, {}, {}, {}})->tenant->name(), "all");
  const std::weak_ptr<Tenant> watched = caller.tenant;
  caller = Caller();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace maskd::service
