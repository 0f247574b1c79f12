// The end of the real program is a bound: --drain_ms and a second, whatever runs in it.

#include <csignal>
#include <string>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/exit_guard.h"
#include "tests/e2e/running_server.h"
#include "tests/e2e/server_program.h"

namespace maskd::service {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// Far above --drain_ms and a second, for a busy machine; far below what the work takes.
constexpr int kPatience = 10;

const ServerProgram::Options kShortDrain = {.flags = {"--drain_ms=200"}};

// A step of a megabyte: rows of distinct strings, each with drafts to look at.
v1::Step LongStep() {
  constexpr int kRows = 1'000;
  constexpr int kDrafts = 400;
  v1::Step step;
  step.set_wait_for_compile_ms(10'000);
  for (int row = 0; row < kRows; ++row) {
    *step.add_open() =
        OpenOf(static_cast<std::uint64_t>(row), "json_schema",
               R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})");
    v1::RowUpdate& update = *step.add_rows();
    update.set_row(static_cast<std::uint64_t>(row));
    for (int draft = 0; draft < kDrafts; ++draft) {
      update.mutable_drafts()->add_ids(draft == 0 ? '[' : draft == 1 ? '"' : 'a' + (row + draft) % 26);
    }
  }
  return step;
}

void ExpectEndsInTime(ServerProgram* program) {
  program->Signal(SIGTERM);
  EXPECT_THAT(program->Wait(kPatience), AnyOf(0, ExitGuard::kOverrun)) << program->Log();
}

TEST(EndTest, ALongStepDoesNotOutliveTheDrain) {
  ServerProgram program(kShortDrain);
  const auto channel = ConnectTo(program.address());
  ASSERT_TRUE(IsLive(channel));
  TestStream stream(channel);
  stream.Greet();
  for (int i = 0; i < 40; ++i) {
    v1::DecodeRequest request;
    *request.mutable_step() = LongStep();
    request.mutable_step()->set_step(static_cast<std::uint64_t>(i) + 1);
    ASSERT_TRUE(stream.Send(request));
  }
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
  ServerProgram program({.flags = {"--drain_ms=200", "--max_compile_work=1000000000000",
                                   "--max_grammar_bytes=100GiB"}});
  const auto channel = ConnectTo(program.address());
  ASSERT_TRUE(IsLive(channel));
  const auto stub = v1::CompileService::NewStub(channel);
  std::string product = R"({"allOf":[)";
  for (int i = 0; i < 14; ++i) {
    absl::StrAppend(&product, i == 0 ? "" : ",", R"({"oneOf":[)");
    for (int j = 0; j < 14; ++j) {
      absl::StrAppend(&product, j == 0 ? "" : ",", R"({"properties":{"p)", i, R"(":{"const":)", j,
                      "}}}");
    }
    product += "]}";
  }
  product += "]}";
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("json_schema", product);
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

TEST(EndTest, AHangUpIsNoEnd) {
  ServerProgram program(kShortDrain);
  const auto channel = ConnectTo(program.address());
  ASSERT_TRUE(IsLive(channel));
  program.Signal(SIGHUP);
  while (program.Log().find("hangup_ignored") == std::string::npos) {
    ASSERT_TRUE(IsLive(channel));
  }
  ExpectServes(channel);
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0);
  EXPECT_THAT(program.Log(), HasSubstr(" stopped\n"));
}

}  // namespace
}  // namespace maskd::service
