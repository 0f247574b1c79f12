// The end of a server: streams are told, answered until they leave or the time is up, and exit is
// 0.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

using std::chrono::milliseconds;

v1::Step TokenStep(int token) {
  v1::Step step;
  step.add_rows()->set_row(1);
  step.mutable_rows(0)->add_tokens(token);
  return step;
}

void ExpectGoAway(TestStream* stream) {
  v1::DecodeResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(response.has_go_away()) << response.ShortDebugString();
  EXPECT_EQ(response.go_away().reason(), "draining");
}

class DrainedStreamTest : public testing::TestWithParam<Via> {};

INSTANTIATE_TEST_SUITE_P(Transports, DrainedStreamTest, testing::Values(Via::kGrpc, Via::kMemory),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(DrainedStreamTest, AnswersUntilTheStreamLeaves) {
  Config config;
  config.drain_ms = 3'600'000;
  RunningServer running(config);
  TestStream stream(running.channel(), running.memory_at(GetParam()));
  stream.Greet();
  stream.Run(OpeningStep(OpenOf(1, "choice", R"(["abc"])")));
  std::thread drain([&] { running.server().Drain(); });
  ExpectGoAway(&stream);
  EXPECT_EQ(stream.Run(TokenStep('a')).rows(0).state(), v1::ROW_STATE_ACTIVE);
  EXPECT_EQ(stream.Run(TokenStep('b')).rows(0).token_count(), 2U);
  TestStream late(running.channel());
  EXPECT_EQ(late.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(stream.Finish().ok());
  drain.join();  // or ctest ends the test long before the drain's own deadline
}

TEST_P(DrainedStreamTest, EndsAtItsDeadline) {
  Config config;
  config.drain_ms = 300;
  RunningServer running(config);
  TestStream stream(running.channel(), running.memory_at(GetParam()));
  stream.Greet();
  std::thread drain([&] { running.server().Drain(); });
  ExpectGoAway(&stream);
  v1::DecodeResponse response;
  EXPECT_FALSE(stream.Read(&response)) << "the stream never leaves by itself";
  EXPECT_FALSE(stream.Finish().ok());
  drain.join();
}

TEST(DrainTest, WhoWatchesHealthIsTold) {
  using grpc::health::v1::HealthCheckResponse;
  const RunningServer running;
  const auto stub = grpc::health::v1::Health::NewStub(running.channel());
  grpc::ClientContext context;
  grpc::health::v1::HealthCheckRequest request;
  request.set_service("readiness");
  const auto reader = stub->Watch(&context, request);
  HealthCheckResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  running.server().Drain();
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

// The real program, run with `arguments`; its standard error goes to `log`.
pid_t RunMaskd(const std::vector<std::string>& arguments, const std::string& log) {
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dup2(fd, STDERR_FILENO);
    std::vector<char*> argv = {const_cast<char*>(MASKD_BINARY)};
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(MASKD_BINARY, argv.data());
    _exit(127);
  }
  return child;
}

int ExitCode(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_P(DrainedStreamTest, SigtermDrainsTheRealProgram) {
  const std::string socket = SocketPath("m.sock");
  const std::string address = absl::StrCat("unix:", socket);
  const pid_t child =
      RunMaskd({absl::StrCat("--listen=", address), "--metrics_listen=", "--drain_ms=20000"},
               socket + ".log");
  const auto channel = ConnectTo(address);
  ASSERT_TRUE(channel->WaitForConnected(std::chrono::system_clock::now() + milliseconds(20'000)));
  TestStream stream(channel, GetParam() == Via::kMemory ? socket : "");
  stream.Greet();
  stream.Run(OpeningStep(OpenOf(1, "choice", R"(["abc"])")));
  ASSERT_EQ(kill(child, SIGTERM), 0);
  ExpectGoAway(&stream);
  EXPECT_EQ(stream.Run(TokenStep('a')).rows(0).state(), v1::ROW_STATE_ACTIVE);
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_EQ(ExitCode(child), 0);
}

struct ExitCase {
  const char* name;
  std::vector<std::string> arguments;
  int code;
};

class ExitTest : public testing::TestWithParam<ExitCase> {};

TEST_P(ExitTest, ExitsAsPromised) {
  EXPECT_EQ(ExitCode(RunMaskd(GetParam().arguments, SocketPath("log"))), GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(
    Arguments, ExitTest,
    testing::ValuesIn(std::vector<ExitCase>{
        {"Help", {"--help"}, 0},
        {"Version", {"--version"}, 0},
        {"CheckConfig", {"--check_config"}, 0},
        {"UnknownFlag", {"--nope"}, 2},
        {"NoSuchVocabulary", {"--check_config", "--tokenizer=a=/nonexistent.json"}, 1},
        {"NoSuchGrammars", {"--check_config", "--grammars=/nonexistent"}, 1},
        {"NoSuchFolder", {"--listen=unix:/nonexistent/m.sock", "--metrics_listen="}, 1},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ServerTest, DoesNotTakeOverASocketInUse) {
  Config config;
  const std::string socket = SocketPath("m.sock");
  config.listen = {absl::StrCat("unix:", socket)};
  config.metrics_listen.clear();
  const auto first = Server::Start(config);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = Server::Start(config);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  (*first)->Drain();
}

TEST(ServerTest, APortInUseIsAnErrorThatNamesTheFlag) {
  const RunningServer running;
  Config config;
  config.metrics_listen.clear();
  config.listen = {};
  config.insecure_listen = {absl::StrCat("127.0.0.1:", running.server().ports()[1])};
  const auto second = Server::Start(config);
  ASSERT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_EQ(second.status().message().substr(0, 18), "--insecure_listen:");
}

TEST(ServerTest, AStreamTooManyIsRefusedWithAHint) {
  Config config;
  config.max_streams = 1;
  const RunningServer running(config);
  TestStream first(running.channel());
  first.Greet();
  TestStream second(running.channel());
  v1::DecodeRequest hello;
  hello.mutable_hello()->set_logits_width(257);
  EXPECT_TRUE(second.Send(hello));
  EXPECT_EQ(second.Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(first.Finish().ok());
  running.ExpectServes();
}

}  // namespace
}  // namespace maskd::service
