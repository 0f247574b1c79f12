// Which addresses are names, and what servers a name stands for.
#include "client/cpp/connect/resolve.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maskd::client {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(ResolveTest, NamesAreToldFromServers) {
  for (const char* name : {"dns:///maskd:7411", "dns:maskd.ns.svc:7411", "localhost:7411"})
    EXPECT_TRUE(IsName(name)) << name;
  for (const char* server :
       {"unix:/run/maskd.sock", "unix:///run/a:b", "unix-abstract:a:1", "127.0.0.1:7411",
        "[::1]:7411", "ipv4:127.0.0.1:7411", "ipv6:[::1]:7411", "local:a=b", "maskd", "maskd:",
        ":7411", "dns://10.0.0.2/maskd:7411", "10.0.0.7:7411@maskd", "dns:///10.0.0.7:7411"}) {
    EXPECT_FALSE(IsName(server)) << server;
    const auto one = ResolveByDns(server);
    ASSERT_TRUE(one.ok()) << one.status();
    EXPECT_THAT(*one, ElementsAre(server));
  }
}

TEST(ResolveTest, AServerKeepsTheNameThatItWasFoundBy) {
  const auto found = ResolveByDns("dns:///localhost:7411");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(*found, Contains("127.0.0.1:7411@localhost"));
}

TEST(ResolveTest, ANameThatThereIsNotIsAnError) {
  const auto found = ResolveByDns("maskd.invalid:7411");
  EXPECT_TRUE(absl::IsUnavailable(found.status())) << found.status();
  EXPECT_THAT(found.status().message(), testing::HasSubstr("maskd.invalid:7411"));
}

TEST(ResolveTest, TheNameIsSplitOff) {
  const NamedAddress named = SplitName("[::1]:7411@maskd");
  EXPECT_EQ(named.target, "[::1]:7411");
  EXPECT_EQ(named.name, "maskd");
  EXPECT_EQ(SplitName("unix:/run/a@b.sock").target, "unix:/run/a@b.sock");
  EXPECT_EQ(SplitName("maskd:7411").name, "");
}

}  // namespace
}  // namespace maskd::client
