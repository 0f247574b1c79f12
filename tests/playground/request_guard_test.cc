#include "playground/request_guard.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd::playground {
namespace {

struct HostCase {
  std::string name;
  std::string host;
  bool is_allowed;
};

class HostTest : public testing::TestWithParam<HostCase> {};

TEST_P(HostTest, IsAddressLocalhostOrAGivenName) {
  EXPECT_EQ(HostIsAllowed(GetParam().host, {"box.lan"}), GetParam().is_allowed);
}

INSTANTIATE_TEST_SUITE_P(Hosts, HostTest,
                         testing::ValuesIn(std::vector<HostCase>{
                             {"Address", "127.0.0.1:8417", true},
                             {"AddressOfSix", "[::1]:8417", true},
                             {"Localhost", "localhost:8417", true},
                             {"LocalhostInCapitals", "LocalHost", true},
                             {"GivenName", "box.lan:80", true},
                             {"ReboundName", "evil.example:8417", false},
                             {"NameThatBeginsWithAnAddress", "127.0.0.1.evil.example", false},
                             {"NoHost", "", false},
                             {"OpenBracket", "[::1", false},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(RequestGuardTest, OriginsAndContentTypes) {
  EXPECT_TRUE(OriginIsAllowed("", "127.0.0.1:1"));
  EXPECT_TRUE(OriginIsAllowed("http://127.0.0.1:1", "127.0.0.1:1"));
  EXPECT_FALSE(OriginIsAllowed("http://evil.example", "127.0.0.1:1"));
  EXPECT_FALSE(OriginIsAllowed("null", "127.0.0.1:1"));
  EXPECT_TRUE(IsJson("application/json; charset=utf-8"));
  EXPECT_FALSE(IsJson("text/plain"));
}

}  // namespace
}  // namespace maskd::playground
