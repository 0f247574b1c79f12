// The client library over TLS: what its environment says, and what it says when that is wrong.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cpp/client.h"
#include "tests/e2e/certificates.h"
#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

using client::Client;
using testing::StartsWith;

constexpr char kServerName[] = "maskd.test";

class ClientSecurityTest : public testing::Test {
 protected:
  ClientSecurityTest() : folder_(std::filesystem::path(SocketPath("x")).parent_path()) {
    const PemPair server = authority_.Sign("maskd", kServerName);
    const PemPair engine = authority_.Sign("engine", "engine.test");
    Write("ca.pem", authority_.pem());
    Write("server.pem", server.certificate);
    Write("server.key", server.key);
    Write("engine.pem", engine.certificate);
    Write("engine.key", engine.key);
    Write("tokens", "red red-token-0123456789\n");
    Write("token", "red-token-0123456789\n");
    Write("wrong-token", "another-token-0123456789\n");
    config_.tls_cert = Path("server.pem");
    config_.tls_key = Path("server.key");
  }
  ~ClientSecurityTest() override {
    for (const char* variable : {"MASKD_TLS_CA", "MASKD_TLS_CERT", "MASKD_TLS_KEY",
                                 "MASKD_TLS_NAME", "MASKD_TOKEN_FILE"}) {
      unsetenv(variable);  // NOLINT(concurrency-mt-unsafe)
    }
  }

  [[nodiscard]] std::string Path(const std::string& name) const { return folder_ / name; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  static void Set(const char* variable, const std::string& value) {
    setenv(variable, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  void Trust() const {
    Set("MASKD_TLS_CA", Path("ca.pem"));
    Set("MASKD_TLS_NAME", kServerName);
  }

  // Of a unary call, or of a stream's first step where that was OK.
  static absl::Status Use(const RunningServer& running,
                          absl::Duration patience = absl::Seconds(30)) {
    const auto made =
        Client::Connect({.address = absl::StrCat("127.0.0.1:", running.server().ports()[1]),
                         .connect_timeout = patience});
    if (!made.ok()) return made.status();
    if (const auto listed = (*made)->ListTokenizers(); !listed.ok()) return listed.status();
    return (*made)->OpenStream({.logits_width = 257}).status();
  }

  const std::filesystem::path folder_;
  const Authority authority_{"authority"};
  Config config_;
};

TEST_F(ClientSecurityTest, ReachesAServerWithTlsWhoseAuthorityItTrusts) {
  const RunningServer running(config_);
  EXPECT_TRUE(absl::IsUnavailable(Use(running, absl::Milliseconds(200)))) << "in plain text";
  Trust();
  EXPECT_TRUE(Use(running).ok()) << Use(running);
  Set("MASKD_TLS_NAME", "another.test");
  EXPECT_TRUE(absl::IsUnavailable(Use(running, absl::Milliseconds(200))));
}

TEST_F(ClientSecurityTest, ShowsItsCertificate) {
  config_.tls_client_ca = Path("ca.pem");
  config_.tenants = {{"engines", {"cert:engine.test"}, {}}};
  const RunningServer running(config_);
  Trust();
  EXPECT_FALSE(Use(running, absl::Milliseconds(500)).ok());
  Set("MASKD_TLS_CERT", Path("engine.pem"));
  Set("MASKD_TLS_KEY", Path("engine.key"));
  EXPECT_TRUE(Use(running).ok()) << Use(running);
}

TEST_F(ClientSecurityTest, ShowsItsToken) {
  config_.tokens = Path("tokens");
  const RunningServer running(config_);
  Trust();
  EXPECT_TRUE(absl::IsUnauthenticated(Use(running))) << Use(running);
  Set("MASKD_TOKEN_FILE", Path("wrong-token"));
  EXPECT_TRUE(absl::IsUnauthenticated(Use(running))) << Use(running);
  Set("MASKD_TOKEN_FILE", Path("token"));
  EXPECT_TRUE(Use(running).ok()) << Use(running);
}

TEST_F(ClientSecurityTest, WhatCannotBeUsedIsSaidAtOnceAndNothingGoesInPlainText) {
  const RunningServer running;  // it would serve in plain text
  Set("MASKD_TOKEN_FILE", Path("token"));
  EXPECT_THAT(std::string(Use(running).message()), StartsWith("MASKD_TOKEN_FILE: needs MASKD_TLS"));
  Set("MASKD_TLS_CA", Path("none.pem"));
  EXPECT_EQ(Use(running).message(),
            absl::StrCat("MASKD_TLS_CA: ", Path("none.pem"), ": No such file or directory"));
  Trust();
  Set("MASKD_TLS_KEY", Path("engine.key"));
  EXPECT_THAT(std::string(Use(running).message()), StartsWith("MASKD_TLS_CERT: and MASKD_TLS_KEY"));
}

}  // namespace
}  // namespace maskd::service
