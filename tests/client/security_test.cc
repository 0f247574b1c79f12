// What the environment says of security, and that nothing of it is passed over in silence.
// tests/e2e/client_security_test.cc has the servers.
#include "client/cpp/connect/security.h"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/cpp/failover/failover_stream.h"
#include "tests/base/test_folder.h"

namespace maskd::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kPem[] = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";

struct SecurityCase {
  const char* name;
  // Variables and their values; "@" begins the name of a file below.
  std::vector<std::pair<const char*, std::string>> variables;
  const char* error;  // how its message begins; empty: none
  const char* why = "";
};

class SecurityTest : public testing::TestWithParam<SecurityCase> {
 protected:
  SecurityTest() {
    folder_.Write("pem", kPem);
    folder_.Write("empty", "");
    folder_.Write("text", "certificate");
    folder_.Write("token", "  abc\r\nsecond\n");
    folder_.Write("blank", " \nabc\n");
    for (const auto& [variable, value] : GetParam().variables) {
      const std::string is = value.starts_with("@") ? folder_.Path(value.substr(1)) : value;
      setenv(variable, is.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    }
  }
  ~SecurityTest() override {
    for (const auto& [variable, value] : GetParam().variables)
      unsetenv(variable);  // NOLINT(concurrency-mt-unsafe)
  }

  TestFolder folder_;
};

TEST_P(SecurityTest, IsTakenOrRefusedWithTheVariable) {
  const absl::Status checked = CheckSecurity();
  grpc::ChannelArguments arguments;
  const auto over_tcp = MakeCredentials("127.0.0.1:1", &arguments);
  EXPECT_NE(MakeCredentials("unix:/a", &arguments), nullptr) << "sockets need none of it";
  if (std::string(GetParam().error).empty()) {
    EXPECT_TRUE(checked.ok()) << checked;
    EXPECT_NE(over_tcp, nullptr);
    return;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(checked)) << checked;
  EXPECT_THAT(std::string(checked.message()),
              AllOf(StartsWith(GetParam().error), HasSubstr(GetParam().why)));
  EXPECT_EQ(over_tcp, nullptr) << "nothing goes in plain text";
  // Whoever opens a stream is told the same.
  const auto alone = MaskStream::Open("127.0.0.1:1", 1 << 20, {.logits_width = 32});
  EXPECT_EQ(alone.status(), checked);
  const auto one_of_many =
      FailoverStream::Open({.addresses = {"127.0.0.1:1"}, .stream = {.logits_width = 32}});
  EXPECT_EQ(one_of_many.status(), checked);
}

INSTANTIATE_TEST_SUITE_P(
    Environments, SecurityTest,
    testing::ValuesIn(std::vector<SecurityCase>{
        {"None", {}, ""},
        {"EmptyVariables", {{"MASKD_TLS_CA", ""}, {"MASKD_TOKEN_FILE", ""}}, ""},
        {"System", {{"MASKD_TLS_CA", "system"}}, ""},
        {"All",
         {{"MASKD_TLS_CA", "@pem"},
          {"MASKD_TLS_CERT", "@pem"},
          {"MASKD_TLS_KEY", "@pem"},
          {"MASKD_TLS_NAME", "maskd"},
          {"MASKD_TOKEN_FILE", "@token"}},
         ""},
        {"CertificateAlone", {{"MASKD_TLS_CERT", "@pem"}}, "MASKD_TLS_CERT: needs MASKD_TLS_CA"},
        {"NameAlone", {{"MASKD_TLS_NAME", "a"}}, "MASKD_TLS_NAME: needs MASKD_TLS_CA"},
        {"TokenAlone", {{"MASKD_TOKEN_FILE", "@token"}}, "MASKD_TOKEN_FILE: needs MASKD_TLS_CA"},
        {"CertificateWithoutKey",
         {{"MASKD_TLS_CA", "@pem"}, {"MASKD_TLS_CERT", "@pem"}},
         "MASKD_TLS_CERT: and MASKD_TLS_KEY are given together"},
        {"AuthorityThatIsNotThere",
         {{"MASKD_TLS_CA", "@none"}},
         "MASKD_TLS_CA: ",
         "/none: No such file"},
        {"AuthorityThatIsAFolder",
         {{"MASKD_TLS_CA", "@."}},
         "MASKD_TLS_CA: ",
         "/.: Is a directory"},
        {"AuthorityThatIsEmpty", {{"MASKD_TLS_CA", "@empty"}}, "MASKD_TLS_CA: ", ": is empty"},
        {"AuthorityThatIsNoPem", {{"MASKD_TLS_CA", "@text"}}, "MASKD_TLS_CA: ", ": is no PEM"},
        {"KeyThatIsNoPem",
         {{"MASKD_TLS_CA", "@pem"}, {"MASKD_TLS_CERT", "@pem"}, {"MASKD_TLS_KEY", "@text"}},
         "MASKD_TLS_KEY: ",
         ": is no PEM"},
        {"TokenThatIsBlank",
         {{"MASKD_TLS_CA", "system"}, {"MASKD_TOKEN_FILE", "@blank"}},
         "MASKD_TOKEN_FILE: ",
         "has no token in its first line"},
        {"TokenOfAFolder",
         {{"MASKD_TLS_CA", "system"}, {"MASKD_TOKEN_FILE", "@."}},
         "MASKD_TOKEN_FILE: ",
         "Is a directory"},
    }),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd::client
