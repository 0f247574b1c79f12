// Standard error that nobody reads, that is broken, closed or full: the server serves on.

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "ring/unique_fd.h"
#include "tests/e2e/running_server.h"
#include "tests/e2e/server_program.h"

namespace maskd::service {
namespace {

using ring::UniqueFd;
using testing::ContainsRegex;
using testing::HasSubstr;

// A line of the log has about a hundred bytes, a pipe room for 64 KiB.
constexpr int kCompiles = 1500;

struct LogCase {
  const char* name;
  // Readies the program's standard error and gives the other end, to be held.
  UniqueFd (*open)(ServerProgram::Options* options, UniqueFd* given);
};

UniqueFd OpenPipe(ServerProgram::Options* options, UniqueFd* given) {
  std::array<int, 2> ends = {};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  *given = UniqueFd(ends[1]);
  options->standard_error = ends[1];
  return UniqueFd(ends[0]);
}

UniqueFd OpenBrokenPipe(ServerProgram::Options* options, UniqueFd* given) {
  OpenPipe(options, given);  // the reader's end is closed at once
  return UniqueFd();
}

UniqueFd OpenNothing(ServerProgram::Options* options, UniqueFd* /*given*/) {
  options->closes_standard_error = true;
  return UniqueFd();
}

UniqueFd OpenFullDisk(ServerProgram::Options* options, UniqueFd* given) {
  *given = UniqueFd(open("/dev/full", O_WRONLY | O_CLOEXEC));
  options->standard_error = given->get();
  return UniqueFd();
}

// A file that may not grow any more, by `ulimit -f`.
UniqueFd OpenFileAtItsLimit(ServerProgram::Options* options, UniqueFd* /*given*/) {
  options->file_bytes = 1024;
  return UniqueFd();
}

class LogTest : public testing::TestWithParam<LogCase> {};

TEST_P(LogTest, TheServerServesOn) {
  ServerProgram::Options options;
  UniqueFd given;
  const UniqueFd held = GetParam().open(&options, &given);
  ServerProgram program(options);
  given = UniqueFd();
  const auto channel = ConnectTo(program.address());
  ASSERT_TRUE(IsLive(channel));
  const auto compiler = v1::CompileService::NewStub(channel);
  for (int i = 0; i < kCompiles; ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    v1::CompileRequest request;
    *request.mutable_grammar() = GrammarOf("choice", absl::StrCat("[\"", i, "\"]"));
    v1::CompileResponse response;
    const grpc::Status status = compiler->Compile(&context, request, &response);
    ASSERT_TRUE(status.ok()) << "compile " << i << ": " << status.error_message();
  }
  ExpectServes(channel);
  EXPECT_TRUE(IsLive(channel));
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(StandardError, LogTest,
                         testing::ValuesIn(std::vector<LogCase>{
                             {"ReaderStalls", &OpenPipe},
                             {"ReaderHasGone", &OpenBrokenPipe},
                             {"Closed", &OpenNothing},
                             {"DiskIsFull", &OpenFullDisk},
                             {"FileIsAtItsLimit", &OpenFileAtItsLimit},
                         }),
                         [](const auto& test) { return test.param.name; });

// A file has no port.
TEST(LogLinesTest, SayWhereTheServerListens) {
  ServerProgram program({.flags = {"--insecure_listen=127.0.0.1:0"}});
  ASSERT_TRUE(IsLive(ConnectTo(program.address())));
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0);
  EXPECT_THAT(program.Log(),
              HasSubstr(absl::StrCat("listening address=", program.address(), " guard=")));
  EXPECT_THAT(program.Log(), ContainsRegex("listening address=127.0.0.1:0 port=[0-9]+ guard="));
}

}  // namespace
}  // namespace maskd::service
