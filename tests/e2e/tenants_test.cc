// What a tenant at its limits costs the others: nothing. Counted, not timed.

#include <chrono>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "tests/e2e/running_server.h"
#include "tests/e2e/server_program.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kRed[] = "red-token-0123456789";
constexpr char kBlue[] = "blue-token-0123456789";

class TenantsTest : public testing::Test {
 protected:
  TenantsTest() {
    const std::string path = SocketPath("tokens");
    std::ofstream(path) << "red " << kRed << "\nblue " << kBlue << "\n";
    config_.tokens = path;
    config_.tenants = {{"red", {"token:red"}, {}}, {"blue", {"token:blue"}, {}}};
  }

  TenantLimits& red() { return config_.tenants[0].limits; }

  static grpc::Status Compile(const RunningServer& running, const std::string& token,
                              const v1::Grammar& grammar, v1::CompileResponse* response) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
    v1::CompileRequest request;
    *request.mutable_grammar() = grammar;
    return running.compiler()->Compile(&context, request, response);
  }

  static grpc::Status CompileChoice(const RunningServer& running, const std::string& token,
                                    const std::string& word, v1::CompileResponse* response) {
    return Compile(running, token, GrammarOf("choice", absl::StrCat(R"([")", word, R"("])")),
                   response);
  }

  Config config_;
};

TEST_F(TenantsTest, WhoIsNoTenantHasNoCall) {
  const RunningServer running(config_);
  v1::CompileResponse response;
  grpc::ClientContext context;
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("choice", R"(["x"])");
  const grpc::Status refused = running.compiler()->Compile(&context, request, &response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED) << refused.error_message();
  EXPECT_TRUE(CompileChoice(running, kRed, "x", &response).ok());
}

TEST_F(TenantsTest, OneHasSpentItsMinuteAndTheOtherCompilesOn) {
  red().compiles_per_minute = 2;
  const RunningServer running(config_);
  const auto begin = std::chrono::steady_clock::now();
  int red_ok = 0;
  int blue_ok = 0;
  constexpr int kMany = 100;
  for (int i = 0; i < kMany; ++i) {
    v1::CompileResponse response;
    const grpc::Status status = CompileChoice(running, kRed, absl::StrCat("red", i), &response);
    red_ok += status.ok() ? 1 : 0;
    if (!status.ok()) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
      EXPECT_THAT(status.error_message(), HasSubstr("compiles_per_minute of tenant red is 2"));
    }
    blue_ok += CompileChoice(running, kBlue, absl::StrCat("blue", i), &response).ok() ? 1 : 0;
  }
  EXPECT_EQ(blue_ok, kMany);
  EXPECT_GE(red_ok, 2);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(red_ok, 2 + static_cast<int>(taken.count() / 30));
  v1::CompileResponse known;
  EXPECT_TRUE(CompileChoice(running, kRed, "blue0", &known).ok()) << "no compile of its own";
  EXPECT_TRUE(known.from_cache());
}

TEST_F(TenantsTest, OneFillsItsShareOfTheCacheAndTheOthersGrammarsStay) {
  red().cache_bytes = 1;
  const RunningServer running(config_);
  v1::CompileResponse response;
  constexpr int kMany = 50;
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(CompileChoice(running, kBlue, absl::StrCat("blue", i), &response).ok());
    ASSERT_TRUE(CompileChoice(running, kRed, absl::StrCat("red", i), &response).ok());
  }
  int blue_known = 0;
  int red_known = 0;
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(CompileChoice(running, kBlue, absl::StrCat("blue", i), &response).ok());
    blue_known += response.from_cache() ? 1 : 0;
  }
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(CompileChoice(running, kRed, absl::StrCat("red", i), &response).ok());
    red_known += response.from_cache() ? 1 : 0;
  }
  EXPECT_EQ(blue_known, kMany);
  EXPECT_LE(red_known, 1);
}

TEST_F(TenantsTest, RowsAreCountedInAllStreamsOfATenant) {
  config_.tenants = {{"us", {"*"}, {}}};
  config_.tenants[0].limits.max_rows = 3;
  const RunningServer running(config_);
  TestStream first(running.channel());
  TestStream second(running.channel());
  first.Greet();
  second.Greet();
  const auto open = [](TestStream* stream, std::uint64_t row) {
    const v1::StepReply reply = stream->Run(OpeningStep(OpenOf(row, "choice", R"(["a"])")));
    return reply.rows(0).state();
  };
  EXPECT_EQ(open(&first, 1), v1::ROW_STATE_ACTIVE);
  EXPECT_EQ(open(&first, 2), v1::ROW_STATE_ACTIVE);
  EXPECT_EQ(open(&second, 1), v1::ROW_STATE_ACTIVE);
  EXPECT_NE(open(&second, 2), v1::ROW_STATE_ACTIVE);
  v1::Step fork;
  fork.add_fork()->set_parent(1);
  fork.mutable_fork(0)->set_child(9);
  EXPECT_THAT(second.Run(fork).rows(0).error().message(), HasSubstr("max_rows of tenant us is 3"));
  v1::Step close;
  close.add_close(1);
  first.Run(close);
  EXPECT_EQ(open(&second, 2), v1::ROW_STATE_ACTIVE);
  EXPECT_TRUE(first.Finish().ok());  // its row comes free with it
  EXPECT_EQ(open(&second, 3), v1::ROW_STATE_ACTIVE);
  EXPECT_TRUE(second.Finish().ok());
}

TEST_F(TenantsTest, AListOfGrammarsAndNoTexts) {
  const RunningServer running(config_);
  v1::CompileResponse known;
  v1::CompileResponse other;
  ASSERT_TRUE(CompileChoice(running, kBlue, "known", &known).ok());
  ASSERT_TRUE(CompileChoice(running, kBlue, "other", &other).ok());
  Config strict = config_;
  strict.tenants[0].limits.inline_grammars = false;
  strict.tenants[0].limits.grammars = {known.grammar_id()};
  const RunningServer second(strict);
  ASSERT_TRUE(CompileChoice(second, kBlue, "known", &known).ok());
  ASSERT_TRUE(CompileChoice(second, kBlue, "other", &other).ok());
  v1::CompileResponse response;
  EXPECT_EQ(CompileChoice(second, kRed, "known", &response).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(TenantsTest, TheMetricsSayWhatEachHas) {
  red().compiles_per_minute = 1;
  const RunningServer running(config_, RunningServer::Metrics::kOn);
  v1::CompileResponse response;
  EXPECT_TRUE(CompileChoice(running, kRed, "a", &response).ok());
  EXPECT_FALSE(CompileChoice(running, kRed, "b", &response).ok());
  EXPECT_FALSE(CompileChoice(running, "wrong-token-0123456789", "b", &response).ok());
  const std::string page = Scrape(running.server().metrics_port());
  EXPECT_THAT(page, HasSubstr("maskd_tenant_compiles_total{tenant=\"red\"} 1"));
  EXPECT_THAT(page, HasSubstr("maskd_tenant_refused_total{tenant=\"red\"} 1"));
  EXPECT_THAT(page, HasSubstr("maskd_tenant_compiles_total{tenant=\"blue\"} 0"));
  EXPECT_THAT(page, HasSubstr("maskd_callers_refused_total{reason=\"unauthenticated\"} 1"));
}

}  // namespace
}  // namespace maskd::service
