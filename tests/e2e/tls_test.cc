// Who comes in over TCP: TLS, clients' certificates, tokens, and certificates that change.

#include "service/ports/tls.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <unistd.h>

#include "tests/e2e/certificates.h"
#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;

constexpr char kServerName[] = "maskd.test";
constexpr char kRed[] = "red-token-0123456789";

void WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class TlsTest : public testing::Test {
 protected:
  TlsTest() : folder_(std::filesystem::path(SocketPath("x")).parent_path()) {
    WriteFile(folder_ / "ca.pem", authority_.pem());
    Install(authority_.Sign("maskd", kServerName));
    config_.tls_cert = folder_ / "now" / "tls.crt";
    config_.tls_key = folder_ / "now" / "tls.key";
  }

  // Puts the pair into a folder of its own and changes the link to it, as Kubernetes does.
  void Install(const PemPair& pair) {
    const std::filesystem::path folder = folder_ / absl::StrCat("pair", ++installed_);
    std::filesystem::create_directory(folder);
    WriteFile(folder / "tls.crt", pair.certificate);
    WriteFile(folder / "tls.key", pair.key);
    std::filesystem::create_directory_symlink(folder, folder_ / "next");
    std::filesystem::rename(folder_ / "next", folder_ / "now");
  }

  void WantTokens() {
    WriteFile(folder_ / "tokens", absl::StrCat("red ", kRed, "\n"));
    config_.tokens = folder_ / "tokens";
  }

  static std::string AddressOf(const RunningServer& running) {
    return absl::StrCat("127.0.0.1:", running.server().ports()[1]);
  }

  // A client that trusts `authority`, shows `pair` if it has one, and `token`.
  static std::shared_ptr<grpc::Channel> Connect(const RunningServer& running,
                                                const Authority& authority,
                                                const PemPair& pair = {},
                                                const std::string& token = "") {
    return Connect(AddressOf(running), authority, pair, token);
  }
  static std::shared_ptr<grpc::Channel> Connect(const std::string& address,
                                                const Authority& authority, const PemPair& pair,
                                                const std::string& token = "") {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetSslTargetNameOverride(kServerName);
    auto credentials = grpc::SslCredentials({authority.pem(), pair.key, pair.certificate});
    if (!token.empty()) {
      credentials =
          grpc::CompositeChannelCredentials(credentials, grpc::AccessTokenCredentials(token));
    }
    return grpc::CreateCustomChannel(address, credentials, arguments);
  }

  // Of a unary call and of a stream, which must agree.
  static grpc::Status Ask(const std::shared_ptr<grpc::Channel>& channel) {
    std::string answer;
    const grpc::Status unary =
        CallRaw(channel, "/maskd.v1.TokenizerService/ListTokenizers", "", &answer);
    TestStream stream(channel);
    v1::DecodeRequest hello;
    hello.mutable_hello()->set_logits_width(257);
    stream.Send(hello);
    const grpc::Status streamed = stream.Finish();
    EXPECT_EQ(unary.error_code(), streamed.error_code())
        << unary.error_message() << streamed.error_message();
    return unary;
  }

  const std::filesystem::path folder_;
  const Authority authority_{"authority"};
  int installed_ = 0;
  Config config_;
};

TEST_F(TlsTest, ServesWhoTrustsItsCertificateAndNobodyInPlainText) {
  const RunningServer running(config_);
  ExpectServes(Connect(running, authority_));
  EXPECT_EQ(Ask(Connect(running, Authority("another"))).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Ask(ConnectTo(AddressOf(running))).error_code(), grpc::StatusCode::UNAVAILABLE);
  running.ExpectServes();
}

TEST_F(TlsTest, AClientNeedsACertificateWhereItsAuthorityIsNamed) {
  config_.tls_client_ca = folder_ / "ca.pem";
  config_.tenants = {{"engines", {"cert:engine.test"}, {}}, {"local", {"*"}, {}}};
  config_.tenants[0].limits.max_streams = 1;
  const RunningServer running(config_);
  EXPECT_EQ(Ask(Connect(running, authority_)).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(
      Ask(Connect(running, authority_, Authority("x").Sign("engine", "engine.test"))).error_code(),
      grpc::StatusCode::UNAVAILABLE);
  const auto engine = Connect(running, authority_, authority_.Sign("engine", "engine.test"));
  TestStream stream(engine);
  stream.Greet();
  TestStream one_more(engine);
  v1::DecodeRequest hello;
  hello.mutable_hello()->set_logits_width(257);
  EXPECT_TRUE(one_more.Send(hello));
  const grpc::Status refused = one_more.Finish();
  EXPECT_EQ(refused.error_message(), "limit max_streams of tenant engines is 1, one more needed");
  EXPECT_TRUE(stream.Finish().ok());
}

TEST_F(TlsTest, TheAdminAddressWantsTheSameAndIsForTheAdminsAlone) {
  config_.tls_client_ca = folder_ / "ca.pem";
  config_.admin_listen = {"127.0.0.1:0"};
  config_.admin_callers = {"cert:operator.test"};
  const RunningServer running(config_);
  const std::string address = absl::StrCat("127.0.0.1:", running.server().admin_ports()[0]);
  const auto ask = [&](const std::shared_ptr<grpc::Channel>& channel) {
    std::string answer;
    return CallRaw(channel, "/maskd.v1.AdminService/GetServer", "", &answer).error_code();
  };
  const PemPair admin = authority_.Sign("operator", "operator.test");
  EXPECT_EQ(ask(Connect(address, authority_, admin)), grpc::StatusCode::OK);
  EXPECT_EQ(ask(Connect(address, authority_, authority_.Sign("engine", "engine.test"))),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(ask(Connect(address, authority_, {})), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ask(Connect(address, authority_, Authority("x").Sign("operator", "operator.test"))),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ask(Connect(address, Authority("another"), admin)), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ask(ConnectTo(address)), grpc::StatusCode::UNAVAILABLE);

  const Authority next("next");
  Install(next.Sign("maskd", kServerName));
  const absl::Time patience = absl::Now() + absl::Seconds(60);
  bool changed = false;
  while (!changed && absl::Now() < patience)
    changed = ask(Connect(address, next, admin)) == grpc::StatusCode::OK;
  EXPECT_TRUE(changed);
}

TEST_F(TlsTest, WhereThereAreTokensEachCallNeedsOne) {
  WantTokens();
  const RunningServer running(config_);
  ExpectServes(Connect(running, authority_, {}, kRed));
  EXPECT_EQ(Ask(Connect(running, authority_)).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Ask(Connect(running, authority_, {}, "red")).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  running.ExpectServes();  // over the socket its rights are enough
}

TEST_F(TlsTest, ACertificateChangesAndNoStepFails) {
  const RunningServer running(config_);
  TestStream stream(Connect(running, authority_));
  stream.Greet();
  stream.Run(OpeningStep(OpenOf(1, "choice", R"(["yes","no"])")));
  const Authority next("next");
  Install(next.Sign("maskd", kServerName));
  const absl::Time patience = absl::Now() + absl::Seconds(60);
  int steps = 0;
  bool changed = false;
  while (!changed && absl::Now() < patience) {
    for (int i = 0; i < 100; ++i, ++steps) stream.Run(v1::Step());
    std::string answer;
    changed =
        CallRaw(Connect(running, next), "/maskd.v1.TokenizerService/ListTokenizers", "", &answer)
            .ok();
  }
  EXPECT_TRUE(changed);
  EXPECT_GE(steps, 100);
  stream.Run(v1::Step());  // the connection that was open goes on
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_EQ(Ask(Connect(running, authority_)).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TlsTest, ConnectionsWithTlsAreCounted) {
  config_.max_peer_connections = 1;
  const RunningServer running(config_);
  const auto first = Connect(running, authority_);
  ExpectServes(first);
  EXPECT_EQ(Ask(Connect(running, authority_)).error_code(), grpc::StatusCode::UNAVAILABLE);
  ExpectServes(first);
  running.ExpectServes();  // another peer
}

TEST_F(TlsTest, AKeyOfAnotherCertificateIsAnErrorThatNamesTheFlag) {
  WriteFile(folder_ / "other.key", authority_.Sign("other", "").key);
  config_.tls_key = folder_ / "other.key";
  config_.listen = {"127.0.0.1:0"};
  config_.metrics_listen.clear();
  const auto wrong = Server::Start(config_);
  EXPECT_TRUE(absl::IsInvalidArgument(wrong.status())) << wrong.status();
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("--tls_key: "));
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("is not the key of"));
  config_.tls_key = folder_ / "none";
  EXPECT_THAT(std::string(Server::Start(config_).status().message()),
              HasSubstr("none: No such file or directory"));
  config_.tls_key = config_.tls_cert;
  EXPECT_THAT(std::string(Server::Start(config_).status().message()),
              HasSubstr("has no private key in PEM"));
}

// What is wrong with the files of `config_`, which must begin with `flag`.
TEST_F(TlsTest, FilesThatCannotServeAreSaidBeforeAnyoneConnects) {
  const auto says = [&](const std::string& begin) {
    const absl::Status checked = CheckTlsFiles(config_);
    EXPECT_TRUE(absl::IsInvalidArgument(checked)) << checked;
    EXPECT_THAT(std::string(checked.message()), testing::StartsWith(begin));
  };
  EXPECT_TRUE(CheckTlsFiles(Config()).ok()) << "none are asked for";
  EXPECT_TRUE(CheckTlsFiles(config_).ok()) << CheckTlsFiles(config_);
  const PemPair pair = authority_.Sign("maskd", kServerName);
  const PemPair other = authority_.Sign("maskd", kServerName);
  config_.tls_cert = folder_ / "cert.pem";
  config_.tls_key = folder_ / "key.pem";
  says(absl::StrCat("--tls_cert: ", config_.tls_cert, ": No such file"));
  for (const std::string& text :
       {std::string(), std::string("no PEM"), pair.key, pair.certificate.substr(0, 60),
        std::string("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")}) {
    WriteFile(config_.tls_cert, text);
    says(absl::StrCat("--tls_cert: ", config_.tls_cert, ": has no certificate in PEM"));
  }
  WriteFile(config_.tls_cert, absl::StrCat(pair.certificate, authority_.pem()));
  says(absl::StrCat("--tls_key: ", config_.tls_key, ": No such file"));
  WriteFile(config_.tls_key, pair.certificate);
  says(absl::StrCat("--tls_key: ", config_.tls_key, ": has no private key in PEM"));
  WriteFile(config_.tls_key, other.key);
  says(absl::StrCat("--tls_key: ", config_.tls_key, ": is not the key of ", config_.tls_cert));
  WriteFile(config_.tls_key, pair.key);
  EXPECT_TRUE(CheckTlsFiles(config_).ok()) << "a chain, its own certificate first";
  config_.tls_client_ca = folder_ / "none.pem";
  says("--tls_client_ca: ");
  config_.tls_client_ca = folder_ / "ca.pem";
  EXPECT_TRUE(CheckTlsFiles(config_).ok());
  // A chain in the wrong order: the first certificate is not that of the key.
  WriteFile(config_.tls_cert, absl::StrCat(authority_.pem(), pair.certificate));
  says(absl::StrCat("--tls_key: ", config_.tls_key, ": is not the key of "));
  EXPECT_EQ(ERR_peek_error(), 0U) << "nothing is left for a later call to find";
}

TEST(InsecureTest, NoTcpAddressIsServedWithoutTlsUnlessItsFlagSaysSo) {
  Config config;
  config.listen = {"127.0.0.1:0"};
  config.metrics_listen.clear();
  const auto started = Server::Start(config);
  ASSERT_TRUE(absl::IsInvalidArgument(started.status())) << started.status();
  EXPECT_THAT(std::string(started.status().message()), HasSubstr("--insecure_listen"));
}

TEST(SocketUsersTest, AUserThatIsNotNamedIsClosedAtOnce) {
  Config config;
  config.socket_users = {static_cast<std::int64_t>(getuid()) + 1};
  const RunningServer running(config);
  std::string answer;
  EXPECT_EQ(CallRaw(running.channel(), "/maskd.v1.TokenizerService/ListTokenizers", "", &answer)
                .error_code(),
            grpc::StatusCode::UNAVAILABLE);
  ExpectServes(ConnectTo(absl::StrCat("127.0.0.1:", running.server().ports()[1])));
}

TEST(SocketUsersTest, OneThatIsNamedIsServedThroughBothSockets) {
  Config config;
  config.socket_users = {static_cast<std::int64_t>(getuid())};
  const RunningServer running(config);
  running.ExpectServes();
  TestStream stream(running.channel(), running.memory_at(Via::kMemory));
  stream.Greet();
  EXPECT_TRUE(stream.uses_memory());
  EXPECT_TRUE(stream.Finish().ok());
}

}  // namespace
}  // namespace maskd::service
