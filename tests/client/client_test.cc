#include "client/cpp/client.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/cpp/base/errors.h"
#include "tests/client/scripted_server.h"

namespace maskd::client {
namespace {

using testing::HasSubstr;

std::unique_ptr<Client> ConnectTo(const ScriptedServer& server,
                                  absl::Duration timeout = absl::Seconds(10)) {
  auto client = Client::Connect({.address = server.address(), .call_timeout = timeout});
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

TEST(Client, AnEmptyAddressIsRefused) {
  EXPECT_EQ(Client::Connect({}).status(), absl::InvalidArgumentError("address: is empty"));
}

TEST(Client, NoServerIsUnavailableAndNamesTheAddress) {
  const auto client = Client::Connect(
      {.address = "unix:/nonexistent/maskd.sock", .connect_timeout = absl::Milliseconds(100)});
  EXPECT_TRUE(absl::IsUnavailable(client.status()));
  EXPECT_THAT(std::string(client.status().message()), HasSubstr("/nonexistent/maskd.sock"));
}

TEST(Client, CompileSendsTheGrammarAndGivesTheAnswer) {
  const ScriptedServer server({.compile = [](const auto& request, auto& response) {
    response.set_grammar_id(request.tokenizer() + "/" + request.grammar().source());
    return grpc::Status::OK;
  }});
  v1::CompileRequest request;
  request.set_tokenizer("bytes");
  request.mutable_grammar()->set_source("{}");
  const auto response = ConnectTo(server)->Compile(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->grammar_id(), "bytes/{}");
}

TEST(Client, ErrorsKeepPlaceAndReason) {
  const ScriptedServer server({.compile = [](const auto&, auto&) {
    google::rpc::Status details;
    google::rpc::ErrorInfo info;
    info.set_reason("INVALID_GRAMMAR");
    details.add_details()->PackFrom(info);
    google::rpc::BadRequest bad;
    bad.add_field_violations()->set_field("/properties/a");
    details.add_details()->PackFrom(bad);
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "/properties/a: is wrong",
                        details.SerializeAsString());
  }});
  const absl::Status status = ConnectTo(server)->Compile({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "/properties/a: is wrong");
  EXPECT_EQ(ErrorPlace(status), "/properties/a");
  EXPECT_EQ(ErrorReason(status), "INVALID_GRAMMAR");
  EXPECT_EQ(ErrorRetryAfter(status), std::nullopt);
}

TEST(Client, ErrorsWithoutDetailsHaveNone) {
  const ScriptedServer server({.compile = [](const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "gone", "not a status message");
  }});
  const absl::Status status = ConnectTo(server)->Compile({}).status();
  EXPECT_EQ(status, absl::NotFoundError("gone"));
  EXPECT_EQ(ErrorPlace(status), "");
  EXPECT_EQ(ErrorReason(status), "");
}

TEST(Client, ARefusalForLoadIsTriedAgainAfterTheServersDelay) {
  int calls = 0;
  const ScriptedServer server({.compile = [&calls](const auto&, auto& response) {
    response.set_grammar_id("done");
    if (++calls == 3) return grpc::Status::OK;
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_nanos(15'000'000);
    return ErrorWith(grpc::StatusCode::RESOURCE_EXHAUSTED, "queue is full", retry);
  }});
  const auto response = ConnectTo(server)->Compile({});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(calls, 3);
}

// So it is the server's delay that is waited for: the client's own would end before the deadline.
TEST(Client, ADelayBeyondTheDeadlineIsNotWaitedFor) {
  int calls = 0;
  const ScriptedServer server({.compile = [&calls](const auto&, auto&) {
    ++calls;
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_seconds(3600);
    return ErrorWith(grpc::StatusCode::RESOURCE_EXHAUSTED, "queue is full", retry);
  }});
  const absl::Status refused = ConnectTo(server)->Compile({}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(ErrorRetryAfter(refused), absl::Hours(1));
  EXPECT_EQ(calls, 1);
}

TEST(Client, AWrongGrammarIsNotTriedAgain) {
  int calls = 0;
  const ScriptedServer server({.compile = [&calls](const auto&, auto&) {
    ++calls;
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no");
  }});
  EXPECT_FALSE(ConnectTo(server)->Compile({}).ok());
  EXPECT_EQ(calls, 1);
}

TEST(Client, ASlowServerMeetsTheDeadline) {
  absl::Notification given_up;
  const ScriptedServer server({.compile = [&given_up](const auto&, auto&) {
    given_up.WaitForNotification();
    return grpc::Status::OK;
  }});
  const auto client = ConnectTo(server, absl::Milliseconds(100));
  EXPECT_TRUE(absl::IsDeadlineExceeded(client->Compile({}).status()));
  given_up.Notify();
}

TEST(Client, TokenizersComePageByPage) {
  const ScriptedServer server({.list_tokenizers = [](const auto& request, auto& response) {
    response.add_tokenizers()->set_name(request.page_token().empty() ? "first" : "second");
    if (request.page_token().empty()) response.set_next_page_token("more");
    return grpc::Status::OK;
  }});
  const auto tokenizers = ConnectTo(server)->ListTokenizers();
  ASSERT_TRUE(tokenizers.ok()) << tokenizers.status();
  ASSERT_EQ(tokenizers->size(), 2U);
  EXPECT_EQ((*tokenizers)[0].name(), "first");
  EXPECT_EQ((*tokenizers)[1].name(), "second");
}

TEST(Client, TokensComePageByPage) {
  const ScriptedServer server({.list_tokens = [](const auto& request, auto& response) {
    for (int id = request.first_id(); id < request.first_id() + 2; ++id)
      response.add_tokens()->set_text(std::to_string(id));
    if (request.first_id() < 4) response.set_next_id(request.first_id() + 2);
    return grpc::Status::OK;
  }});
  const auto tokens = ConnectTo(server)->ListTokens("");
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  ASSERT_EQ(tokens->size(), 6U);
  EXPECT_EQ((*tokens)[5].text(), "5");
}

TEST(Client, PagesOfTokensThatSkipAreAnError) {
  const ScriptedServer server({.list_tokens = [](const auto&, auto& response) {
    response.add_tokens();
    response.set_next_id(7);
    return grpc::Status::OK;
  }});
  EXPECT_EQ(ConnectTo(server)->ListTokens("").status().code(), absl::StatusCode::kInternal);
}

// Such a server answers each call, so only the time of all of them together ends it.
TEST(Client, PagesWithoutEndAreAnError) {
  const ScriptedServer server({.list_tokenizers =
                                   [](const auto&, auto& response) {
                                     response.add_tokenizers()->set_name("again");
                                     response.set_next_page_token("more");
                                     return grpc::Status::OK;
                                   },
                               .list_tokens =
                                   [](const auto& request, auto& response) {
                                     response.set_next_id(request.first_id());  // where it was
                                     return grpc::Status::OK;
                                   }});
  const auto client = ConnectTo(server, absl::Milliseconds(200));
  EXPECT_TRUE(absl::IsDeadlineExceeded(client->ListTokenizers().status()));
  EXPECT_TRUE(absl::IsInternal(client->ListTokens("").status()));
}

}  // namespace
}  // namespace maskd::client
