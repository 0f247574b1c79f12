// The trace that a caller says goes into the lines that his calls cause, and nothing else of it.

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/e2e/running_server.h"
#include "tests/e2e/server_program.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kTraceId[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kSpanId[] = "00f067aa0ba902b7";
constexpr char kLineEnd[] = " trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7\n";

class TraceTest : public testing::Test {
 protected:
  TraceTest() : program_({.flags = {"--audit=true"}}), channel_(ConnectTo(program_.address())) {
    EXPECT_TRUE(IsLive(channel_));
  }

  static std::string Parent() { return absl::StrCat("00-", kTraceId, "-", kSpanId, "-01"); }

  bool Compile(const std::string& source, const std::string& traceparent) const {
    grpc::ClientContext context;
    context.AddMetadata("traceparent", traceparent);
    v1::CompileRequest request;
    *request.mutable_grammar() = GrammarOf("regex", source);
    v1::CompileResponse response;
    return v1::CompileService::NewStub(channel_)->Compile(&context, request, &response).ok();
  }

  // The line that begins with these words, once it is there.
  [[nodiscard]] std::string Line(const std::string& words) const {
    const absl::Time patience = absl::Now() + absl::Seconds(60);
    while (absl::Now() < patience) {
      const std::string log = program_.Log();
      const std::size_t at = log.find(absl::StrCat(" ", words));
      if (at != log.npos && log.find('\n', at) != log.npos)
        return log.substr(at, log.find('\n', at) + 1 - at);
      absl::SleepFor(absl::Milliseconds(5));
    }
    ADD_FAILURE() << "no line " << words << " in\n" << program_.Log();
    return "";
  }

  ServerProgram program_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(TraceTest, ACompileAndItsAuditSayIt) {
  EXPECT_TRUE(Compile("a", Parent()));
  EXPECT_FALSE(Compile("(", Parent()));
  EXPECT_THAT(Line("compiled "), HasSubstr(kLineEnd));
  EXPECT_THAT(Line("compile_failed "), HasSubstr(kLineEnd));
  EXPECT_THAT(Line("audit "), HasSubstr(kLineEnd));
}

TEST_F(TraceTest, AStreamsRowsAndItsEndSayIt) {
  grpc::ClientContext context;
  context.AddMetadata("traceparent", Parent());
  const auto stub = v1::MaskService::NewStub(channel_);
  const auto stream = stub->Decode(&context);
  v1::DecodeRequest request;
  request.mutable_hello()->set_logits_width(257);
  ASSERT_TRUE(stream->Write(request));
  v1::DecodeResponse response;
  ASSERT_TRUE(stream->Read(&response));
  *request.mutable_step() = OpeningStep(OpenOf(1, "regex", "b"));
  request.mutable_step()->set_step(1);
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(&response));
  request.mutable_step()->set_step(3);
  ASSERT_TRUE(stream->Write(request));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(Line("audit "), HasSubstr(kLineEnd));
  EXPECT_THAT(Line("compiled "), HasSubstr(kLineEnd));
  EXPECT_THAT(Line("stream_failed code=ABORTED reason=STEP_OUT_OF_ORDER"), HasSubstr(kLineEnd));
}

TEST_F(TraceTest, WhatIsMalformedIsIgnoredAndTheCallIsServed) {
  const std::string malformed[] = {
      "", "nonsense", absl::StrCat(Parent(), "-more"),
      absl::StrCat("cc-", kTraceId, "-", kSpanId, "-01-", std::string(5'000, 'x'))};
  for (int i = 0; i < std::ssize(malformed); ++i)
    EXPECT_TRUE(Compile(absl::StrCat("word", i), malformed[i])) << malformed[i].substr(0, 80);
  grpc::ClientContext twice;
  twice.AddMetadata("traceparent", Parent());
  twice.AddMetadata("traceparent", Parent());
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("choice", R"(["last"])");
  v1::CompileResponse response;
  EXPECT_TRUE(v1::CompileService::NewStub(channel_)->Compile(&twice, request, &response).ok());
  EXPECT_THAT(Line(absl::StrCat("audit caller=uid:", getuid(),
                                " tenant=all what=compile grammar=", response.grammar_id())),
              HasSubstr("verdict=OK\n"));
  EXPECT_THAT(program_.Log(), Not(HasSubstr("trace_id")));
  EXPECT_THAT(program_.Log(), Not(HasSubstr("xxxx")));
}

}  // namespace
}  // namespace maskd::service
