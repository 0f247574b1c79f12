// A server whose address space is bounded (ulimit -v), so that the system refuses it memory.
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

constexpr int kGrammars = 20;
constexpr int kRefusals = 3;                    // are enough
constexpr std::chrono::seconds kPatience{550};  // the machine may be busy
constexpr int kChoices = 200'000;

// The real program with so much address space; ends with its lifetime.
class BoundedServer {
 public:
  explicit BoundedServer(rlim_t bytes) : socket_(SocketPath("oom.sock")), child_(fork()) {
    if (child_ == 0) Become(bytes);
    channel_ = ConnectTo(absl::StrCat("unix:", socket_));
  }
  ~BoundedServer() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    unlink(socket_.c_str());
  }
  BoundedServer(const BoundedServer&) = delete;
  BoundedServer& operator=(const BoundedServer&) = delete;

  [[nodiscard]] const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  [[nodiscard]] bool lives() const { return waitpid(child_, nullptr, WNOHANG) == 0; }

 private:
  [[noreturn]] void Become(rlim_t bytes) const {
    const rlimit bound{.rlim_cur = bytes, .rlim_max = bytes};
    setrlimit(RLIMIT_AS, &bound);
    const int log = open((socket_ + ".log").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dup2(log, STDERR_FILENO);
    const std::string listen = absl::StrCat("--listen=unix:", socket_);
    execl(MASKD_BINARY, MASKD_BINARY, listen.c_str(), "--metrics_listen=", "--shared_memory=false",
          "--memory_bytes=64GiB", "--cache_bytes=64GiB", "--heap_mib=0", "--warm_up_ms=0",
          "--look_ahead_masks=0", "--max_compile_work=1000000000", nullptr);
    _exit(127);
  }

  const std::string socket_;
  const pid_t child_;
  std::shared_ptr<grpc::Channel> channel_;
};

// Some sixty megabytes, compiled; each number is another grammar.
std::string LargeChoice(int number) {
  std::string source = "[";
  for (int i = 0; i < kChoices; ++i)
    absl::StrAppend(&source, i == 0 ? "" : ",", "\"", number, " ", i * 7919 % 1'000'003, " text\"");
  return source + "]";
}

// How a row stands whose grammar has been compiled, however many steps that takes.
v1::RowReply Open(TestStream* stream, std::uint64_t row, const std::string& source) {
  v1::StepReply reply = stream->Run(OpeningStep(OpenOf(row, "choice", source)));
  while (!testing::Test::HasFailure() &&
         (reply.rows_size() == 0 || reply.rows(0).state() == v1::ROW_STATE_COMPILING)) {
    reply = stream->Run({});
    absl::SleepFor(absl::Milliseconds(5));
  }
  return reply.rows_size() == 0 ? v1::RowReply() : reply.rows(0);
}

// So many MiB: the allocation that fails is another one each time.
class OutOfMemoryTest : public testing::TestWithParam<int> {};

TEST_P(OutOfMemoryTest, GrammarsThatDoNotFitAreRefusedAndTheServerLives) {
  const BoundedServer server(static_cast<rlim_t>(GetParam()) << 20);
  ASSERT_TRUE(server.channel()->WaitForConnected(std::chrono::system_clock::now() +
                                                 std::chrono::seconds(60)));
  TestStream stream(server.channel(), "", kPatience);
  stream.Greet();
  int active = 0;
  int refused = 0;
  for (std::uint64_t row = 1; row <= kGrammars && refused < kRefusals; ++row) {
    ASSERT_TRUE(server.lives() && !HasFailure());
    const v1::RowReply answer = Open(&stream, row, LargeChoice(static_cast<int>(row)));
    active += answer.state() == v1::ROW_STATE_ACTIVE;
    if (answer.state() == v1::ROW_STATE_FAILED) {
      ++refused;
      EXPECT_EQ(answer.error().code(), grpc::StatusCode::RESOURCE_EXHAUSTED)
          << answer.error().ShortDebugString();
    }
  }
  EXPECT_GT(active, 0);
  EXPECT_GT(refused, 0);
  v1::Step step;
  v1::RowUpdate& update = *step.add_rows();
  update.set_row(1);
  update.add_tokens('1');
  EXPECT_EQ(stream.Run(step).rows(0).state(), v1::ROW_STATE_ACTIVE) << "open rows go on";
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_TRUE(server.lives());
}

INSTANTIATE_TEST_SUITE_P(MiB, OutOfMemoryTest, testing::Values(600, 650, 700, 750));

}  // namespace
}  // namespace maskd::service
