// The end of the real program is a bound: --drain_ms and a second, whatever runs in it.

#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/process/exit_guard.h"
#include "tests/base/test_folder.h"
#include "tests/e2e/running_server.h"
#include "tests/e2e/server_program.h"
#include "tests/service/process/notify_listener.h"

namespace maskd::service {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// Far above --drain_ms and a second, for a busy machine; far below what the work takes.
constexpr int kMostSeconds = 8;

const ServerProgram::Options kShortDrain = {
    .flags = {"--drain_ms=200", "--max_reply_bytes=2147483647"}};

// A step of four megabytes: rows of distinct strings, each with drafts to look at.
v1::Step LongStep() {
  constexpr int kRows = 4'000;
  constexpr int kDrafts = 1'000;
  v1::Step step;
  step.set_step(1);
  step.set_wait_for_compile_ms(10'000);
  for (int row = 0; row < kRows; ++row) {
    const auto id = static_cast<std::uint64_t>(row);
    *step.add_open() = OpenOf(id, "json_schema",
                              R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})");
    v1::RowUpdate& update = *step.add_rows();
    update.set_row(id);
    update.mutable_drafts()->add_tokens('[');
    update.mutable_drafts()->add_tokens('"');
    for (int draft = 2; draft < kDrafts; ++draft)
      update.mutable_drafts()->add_tokens('a' + (row * draft + draft) % 26);
  }
  return step;
}

// Whose compile takes hours.
std::string SlowSchema() {
  std::string product = R"({"allOf":[)";
  for (int i = 0; i < 14; ++i) {
    absl::StrAppend(&product, i == 0 ? "" : ",", R"({"oneOf":[)");
    for (int j = 0; j < 14; ++j) {
      absl::StrAppend(&product, j == 0 ? "" : ",", R"({"properties":{"p)", i, R"(":{"const":)", j,
                      "}}}");
    }
    product += "]}";
  }
  return product + "]}";
}

// Without a limit that would end such a compile.
std::vector<std::string> UnlimitedFlags() {
  return {"--drain_ms=200", "--max_compile_work=1000000000000", "--max_grammar_bytes=100GiB"};
}

void ExpectEndsInTime(ServerProgram* program) {
  program->Signal(SIGTERM);
  EXPECT_THAT(program->Wait(kMostSeconds), AnyOf(0, ExitGuard::kOverrun)) << program->Log();
}

TEST(EndTest, ALongStepDoesNotOutliveTheDrain) {
  ServerProgram program(kShortDrain);
  const auto channel = ConnectTo(program.address());
  ASSERT_TRUE(IsLive(channel));
  TestStream stream(channel);
  stream.Greet();
  v1::DecodeRequest request;
  *request.mutable_step() = LongStep();
  ASSERT_TRUE(stream.Send(request));
  while (program.Log().find(" compiled ") == std::string::npos) ASSERT_TRUE(IsLive(channel));
  ExpectEndsInTime(&program);
}

TEST(EndTest, ALongCheckDoesNotOutliveTheDrain) {
  ServerProgram program(kShortDrain);
  const auto channel = ConnectTo(program.address());
  ASSERT_TRUE(IsLive(channel));
  const auto stub = v1::CompileService::NewStub(channel);
  v1::CheckRequest request;
  *request.mutable_grammar() = GrammarOf("regex", "(a|b)*");
  request.mutable_grammar()->mutable_options()->set_max_tokens(5);
  request.set_text(std::string(15'000'000, 'a'));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  v1::CheckResponse response;
  grpc::Status status;
  const auto call = stub->AsyncCheck(&context, request, &queue);
  call->Finish(&response, &status, nullptr);
  ASSERT_TRUE(IsLive(channel));  // behind it on the same connection
  ExpectEndsInTime(&program);
  void* tag = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue.Next(&tag, &ok));
}

TEST(EndTest, ALongCompileDoesNotOutliveTheDrain) {
  ServerProgram program({.flags = UnlimitedFlags()});
  const auto channel = ConnectTo(program.address());
  ASSERT_TRUE(IsLive(channel));
  const auto stub = v1::CompileService::NewStub(channel);
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("json_schema", SlowSchema());
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  v1::CompileResponse response;
  grpc::Status status;
  const auto call = stub->AsyncCompile(&context, request, &queue);
  call->Finish(&response, &status, nullptr);
  ASSERT_TRUE(IsLive(channel));
  ExpectEndsInTime(&program);
  void* tag = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue.Next(&tag, &ok));
}

// A server that preloads the grammars of a folder, which may never be done.
class LongPreloadTest : public testing::Test {
 protected:
  void AddSlowGrammar() const { folder_.Write("slow.json_schema", SlowSchema()); }

  void Start() {
    std::vector<std::string> flags = UnlimitedFlags();
    flags.push_back(absl::StrCat("--grammars=", folder_.Path("")));
    program_.emplace(ServerProgram::Options{.flags = flags});
  }

  void StartAndReloadForLong() {
    Start();
    ASSERT_TRUE(IsLive(ConnectTo(program_->address())));
    AddSlowGrammar();
    program_->Signal(SIGHUP);
  }

  const TestFolder folder_;
  std::optional<ServerProgram> program_;
};

TEST_F(LongPreloadTest, TheEndDoesNotWaitForAStart) {
  AddSlowGrammar();
  Start();
  while (program_->Log().find(" tokenizer ") == std::string::npos)
    absl::SleepFor(absl::Milliseconds(1));
  program_->Signal(SIGTERM);
  EXPECT_EQ(program_->Wait(kMostSeconds), 0) << program_->Log();
}

TEST_F(LongPreloadTest, TheEndDoesNotWaitForAReload) {
  StartAndReloadForLong();
  ExpectEndsInTime(&*program_);
}

TEST_F(LongPreloadTest, ASupervisorHearsThatTheServerIsLive) {
  const NotifyListener systemd;
  setenv("NOTIFY_SOCKET", systemd.name().c_str(), 1);
  StartAndReloadForLong();
  unsetenv("NOTIFY_SOCKET");
  std::string message;
  while (!HasFailure() && !absl::StartsWith(message, "RELOADING=1")) message = systemd.Await();
  EXPECT_EQ(systemd.Await(), "WATCHDOG=1");
  EXPECT_EQ(systemd.Await(), "WATCHDOG=1");
}

TEST(EndTest, AHangUpIsNoEnd) {
  ServerProgram program(kShortDrain);
  const auto channel = ConnectTo(program.address());
  ASSERT_TRUE(IsLive(channel));
  program.Signal(SIGHUP);
  while (program.Log().find(" reloaded ") == std::string::npos) ASSERT_TRUE(IsLive(channel));
  ExpectServes(channel);
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0);
  EXPECT_THAT(program.Log(), HasSubstr(" stopped\n"));
}

}  // namespace
}  // namespace maskd::service
