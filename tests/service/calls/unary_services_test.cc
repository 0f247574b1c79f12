// The unary services on a server inside this process: who calls, what each call leaves behind, how
// calls that the process makes to itself are known and ended.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/async_unary_call.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "maskd/v1/compile_service.grpc.pb.h"
#include "maskd/v1/tokenizer_service.grpc.pb.h"
#include "memory/accountant.h"
#include "service/admin/admin_service.h"
#include "service/admin/server_plugins.h"
#include "service/base/log.h"
#include "service/calls/call_event.h"
#include "service/calls/compile_service.h"
#include "service/calls/gate.h"
#include "service/calls/tokenizer_service.h"
#include "service/calls/unary_call.h"
#include "service/calls/unary_calls.h"
#include "service/ports/cancel_inside_calls.h"
#include "service/ports/inside_calls.h"
#include "service/ports/metrics_port.h"
#include "tests/base/test_folder.h"
#include "tests/service/config/nothing_ahead.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;

Config FewUnreadBytes() {
  Config config = NothingAhead();
  config.max_unread_reply_bytes = 1 << 20;
  return config;
}

memory::Accountant::Options SomeMemory() {
  memory::Accountant::Options options;
  options.limit_bytes = std::int64_t{1} << 40;
  return options;
}

// What `channel` says to an empty message at `method`.
grpc::Status CallEmpty(const std::shared_ptr<grpc::Channel>& channel, const std::string& method) {
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  grpc::Slice nothing;
  const grpc::ByteBuffer request(&nothing, 1);
  const auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

class UnaryServicesTest : public testing::Test {
 protected:
  UnaryServicesTest()
      : shelf_(*TokenizerStore::Load({}, 1 << 20)),
        grammars_(FewUnreadBytes(), nullptr, {.compiles = StoreMachinery::Compiles::kWhenTaken}),
        calls_(
            FewUnreadBytes(), [this](const auto& context) { return admit_(context); }, &metrics_),
        compiles_(&shelf_, &grammars_),
        tokenizers_(&shelf_),
        admin_(
            AdminView({.streams = &streams_,
                       .grammars = &grammars_,
                       .tokenizers = &shelf_,
                       .accountant = &accountant_,
                       .limits = [] { return std::vector<LimitInUse>{{"some", 1, 2}}; }}),
            "1.2.3", [](const auto& /*context*/) { return absl::OkStatus(); }, /*max_calls=*/8) {
    SilenceLog();
    const auto builder = BuilderWithoutPlugins();
    compiles_.AddTo(&calls_);
    tokenizers_.AddTo(&calls_);
    calls_.Listen(builder.get());
    builder->RegisterService(&admin_);
    queue_ = builder->AddCompletionQueue();
    server_ = builder->BuildAndStart();
    EXPECT_TRUE(calls_.Start().ok());
    calls_.Accept(queue_.get(), &live_);
    thread_ = std::thread([this] { ServeQueue(); });
    inside_channel_ = inside_.Connect(server_.get());
    channel_ = server_->InProcessChannel({});
  }
  ~UnaryServicesTest() override {
    inside_channel_ = nullptr;
    channel_ = nullptr;
    server_->Shutdown();
    thread_.join();
    calls_.Join();
    queue_->Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_->Next(&tag, &ok)) {
    }
  }

  // As a stream's thread does.
  void ServeQueue() {
    void* tag = nullptr;
    bool ok = false;
    while (live_ > 0 && queue_->Next(&tag, &ok)) static_cast<CallEvent*>(tag)->Complete(ok);
  }

  absl::StatusOr<Caller> Admit(const grpc::ServerContextBase& context) {
    absl::StatusOr<Caller> caller = gate_.Admit(context);
    if (caller.ok()) seen_ = *caller;
    return caller;
  }

  // Asks for a page of no tokens over `channel`, with these pairs of metadata.
  grpc::Status Ask(const std::shared_ptr<grpc::Channel>& channel,
                   const std::vector<std::pair<std::string, std::string>>& metadata = {}) {
    grpc::ClientContext context;
    for (const auto& [key, value] : metadata) context.AddMetadata(key, value);
    v1::ListTokenizersResponse response;
    return v1::TokenizerService::NewStub(channel)->ListTokenizers(&context, {}, &response);
  }

  // A call of Compile that nobody compiles for.
  grpc::Status Compile(grpc::ClientContext* context,
                       const std::shared_ptr<grpc::Channel>& channel) {
    v1::CompileRequest request;
    request.mutable_grammar()->set_kind("choice");
    request.mutable_grammar()->set_source(R"(["yes"])");
    v1::CompileResponse response;
    return v1::CompileService::NewStub(channel)->Compile(context, request, &response);
  }

  metrics::Metrics metrics_{"1"};
  TokenizerShelf shelf_;
  StreamRegistry streams_{{.in_all = 1, .of_a_peer = 1}};
  memory::Accountant accountant_{SomeMemory()};
  GrammarStore grammars_;
  Connections connections_;
  Admission admission_;
  const InsideCalls inside_;
  const Gate gate_{&connections_, &admission_, &inside_};
  std::function<absl::StatusOr<Caller>(const grpc::ServerContextBase&)> admit_ =
      [this](const auto& context) { return Admit(context); };
  UnaryCalls calls_;
  CompileService compiles_;
  TokenizerService tokenizers_;
  AdminService admin_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;  // that the calls come by
  int live_ = 0;                                        // of it
  std::thread thread_;                                  // of it
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> inside_channel_;
  std::shared_ptr<grpc::Channel> channel_;
  Caller seen_;  // of the last call
};

TEST(UnaryCallsTest, ABoundOfExabytesLeavesSlots) {
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{1} << 56, std::int64_t{1} << 60,
                                   std::numeric_limits<std::int64_t>::max()}) {
    Config config;
    config.max_receiving_bytes = bytes;
    const UnaryCalls calls(config, {});
    EXPECT_GE(calls.slots().count(), 1) << bytes;
  }
}

TEST_F(UnaryServicesTest, ACallThatThrowsIsServedNoMore) {
  admit_ = [](const auto& /*context*/) -> absl::StatusOr<Caller> {
    throw std::runtime_error("not foreseen");
  };
  EXPECT_FALSE(Ask(channel_).ok());
  EXPECT_EQ(calls_.running(), 0);
}

TEST_F(UnaryServicesTest, ACallThatRunsOutOfMemoryIsToldSo) {
  admit_ = [](const auto& /*context*/) -> absl::StatusOr<Caller> { throw std::bad_alloc(); };
  EXPECT_EQ(Ask(channel_).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(calls_.running(), 0);
  EXPECT_THAT(MetricsText(metrics_), HasSubstr("OUT_OF_MEMORY"));
}

// A caller whose deadline passes hears which, and its compile is not begun.
TEST_F(UnaryServicesTest, ACallerThatLeavesTakesItsCompileWithIt) {
  grpc::ClientContext late;
  late.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(20));
  EXPECT_EQ(Compile(&late, channel_).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  while (calls_.running() > 0) std::this_thread::yield();
  EXPECT_EQ(grammars_.compiles().waiting, 0);
  EXPECT_THAT(MetricsText(metrics_), HasSubstr("DEADLINE"));
}

// Each waits for the one compile, and none of them holds a thread. Whoever else calls has a place.
TEST_F(UnaryServicesTest, AsManyCallsOfACallerWaitAsMayAndTheNextIsRefused) {
  constexpr int kMostOfOne = UnaryHost::kMostOpen * 8 / 9 + 1;
  std::atomic<bool> is_other = false;
  admit_ = [&](const auto& called) {
    absl::StatusOr<Caller> caller = Admit(called);
    if (caller.ok() && is_other) caller->identity = "uid:another";
    return caller;
  };
  struct Waiting {
    grpc::ClientContext context;
    v1::CompileResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::CompileResponse>> reader;
  };
  v1::CompileRequest request;
  request.mutable_grammar()->set_kind("choice");
  request.mutable_grammar()->set_source(R"(["yes"])");
  grpc::CompletionQueue queue;
  const auto stub = v1::CompileService::NewStub(channel_);
  std::vector<std::unique_ptr<Waiting>> calls;
  for (int i = 0; i < kMostOfOne; ++i) {
    Waiting& call = *calls.emplace_back(std::make_unique<Waiting>());
    call.reader = stub->AsyncCompile(&call.context, request, &queue);
    call.reader->Finish(&call.response, &call.status, &call);
    // Else more than may would wait for a slot.
    while (calls_.running() <= i || calls_.slots().held() > 0) std::this_thread::yield();
  }
  grpc::ClientContext context;
  const grpc::Status refused = Compile(&context, channel_);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("1138 calls of this caller"));
  is_other = true;
  EXPECT_TRUE(Ask(channel_).ok());
  const std::function<void()> compile = grammars_.TakeCompile();
  ASSERT_NE(compile, nullptr);
  compile();
  for (int i = 0; i < kMostOfOne; ++i) {
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok));
    EXPECT_TRUE(static_cast<Waiting*>(tag)->status.ok());
  }
  EXPECT_EQ(grammars_.TakeCompile(), nullptr) << "one was enough";
}

TEST_F(UnaryServicesTest, PagesOfTokensAreTheVocabulary) {
  const auto tokenizers = v1::TokenizerService::NewStub(channel_);
  const Vocabulary& vocabulary = shelf_.now()->all()[0].vocabulary();
  for (const int size : {1, 100, 257, 1000, 0}) {
    int id = 0;
    while (id < vocabulary.size()) {
      grpc::ClientContext context;
      v1::ListTokensRequest request;
      request.set_first_id(id);
      request.set_page_size(size);
      v1::ListTokensResponse response;
      ASSERT_TRUE(tokenizers->ListTokens(&context, request, &response).ok());
      ASSERT_GT(response.tokens_size(), 0);
      for (const v1::Token& token : response.tokens())
        ASSERT_EQ(token.text(), vocabulary.TokenBytes(id++));
    }
    EXPECT_EQ(id, vocabulary.size());
  }
  EXPECT_EQ(calls_.unread().bytes(), 0);
}

TEST_F(UnaryServicesTest, TheAdminPageSaysWhatTheProcessIs) {
  const auto admin = v1::AdminService::NewStub(channel_);
  grpc::ClientContext context;
  v1::GetServerResponse server;
  ASSERT_TRUE(admin->GetServer(&context, {}, &server).ok());
  EXPECT_EQ(server.version(), "1.2.3");
  EXPECT_EQ(server.process_id(), getpid());
  ASSERT_EQ(server.limits_size(), 1);
  EXPECT_EQ(server.limits(0).most(), 2);
  ASSERT_EQ(server.vocabularies_size(), 1);
  EXPECT_EQ(server.vocabularies(0).hash(), shelf_.now()->all()[0].vocabulary().hash());
  grpc::ClientContext unknown;
  v1::ListGrammarsRequest request;
  request.set_order(static_cast<v1::GrammarOrder>(99));
  v1::ListGrammarsResponse grammars;
  const grpc::Status status = admin->ListGrammars(&unknown, request, &grammars);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("order: is not known to this server"));
}

TEST_F(UnaryServicesTest, ACallFromInsideIsKnownByItsSecretAlone) {
  Config config;
  config.playground_listen = "127.0.0.1:0";
  ASSERT_TRUE(admission_.Configure(config).ok());
  EXPECT_TRUE(Ask(inside_channel_).ok());
  EXPECT_EQ(seen_.identity, kPlayground);
  EXPECT_TRUE(Ask(channel_).ok());
  EXPECT_NE(seen_.identity, kPlayground);
  for (const char* guess : {"", "x", "00000000000000000000000000000000"}) {
    EXPECT_TRUE(Ask(channel_, {{"maskd-inside", guess}}).ok());
    EXPECT_NE(seen_.identity, kPlayground) << guess;
  }
  // Of another start.
  const InsideCalls other;
  EXPECT_TRUE(Ask(other.Connect(server_.get())).ok());
  EXPECT_NE(seen_.identity, kPlayground);
}

TEST_F(UnaryServicesTest, ATraceThatIsSaidTwiceIsNone) {
  const std::pair<std::string, std::string> trace = {
      "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
  EXPECT_TRUE(Ask(channel_, {trace}).ok());
  EXPECT_EQ(seen_.trace.trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_TRUE(Ask(channel_, {trace, trace}).ok());
  EXPECT_EQ(seen_.trace.trace_id, "");
  EXPECT_TRUE(Ask(channel_, {{"traceparent", "00-nonsense"}}).ok());
  EXPECT_EQ(seen_.trace.trace_id, "");
}

// The scheme's name is in any case; another one is a token that nobody has.
TEST_F(UnaryServicesTest, ATokenIsWhatStandsBehindBearer) {
  const TestFolder folder;
  Config config;
  config.tokens = folder.Write("tokens", "red red-token-0123456789\n");
  ASSERT_TRUE(admission_.Configure(config).ok());
  const std::string token = "red-token-0123456789";
  for (const char* bearer : {"Bearer ", "bearer ", "BEARER "}) {
    EXPECT_TRUE(Ask(channel_, {{"authorization", bearer + token}}).ok()) << bearer;
    EXPECT_EQ(seen_.identity, "token:red");
  }
  for (const std::string& said : {token, "Basic " + token, "Bearer" + token, "Bearer  " + token,
                                  "Bearer " + token + " ", std::string("Bearer "), std::string()}) {
    EXPECT_EQ(Ask(channel_, {{"authorization", said}}).error_code(),
              grpc::StatusCode::UNAUTHENTICATED)
        << said;
  }
  const std::pair<std::string, std::string> right = {"authorization", "Bearer " + token};
  EXPECT_EQ(Ask(channel_, {right, right}).error_code(), grpc::StatusCode::UNAUTHENTICATED)
      << "somebody between has added one";
}

TEST_F(UnaryServicesTest, CallsFromInsideAreEndedTogether) {
  std::vector<std::thread> callers;
  std::atomic<int> cancelled = 0;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      grpc::ClientContext context;
      const grpc::Status status = Compile(&context, inside_channel_);
      if (status.error_code() == grpc::StatusCode::CANCELLED) ++cancelled;
    });
  }
  grpc::ClientContext outside;
  std::thread other(
      [&] { EXPECT_EQ(Compile(&outside, channel_).error_code(), grpc::StatusCode::CANCELLED); });
  while (calls_.running() < 9) std::this_thread::yield();
  CancelInsideCalls();
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(cancelled, 8);
  while (calls_.running() > 1) std::this_thread::yield();
  EXPECT_EQ(grammars_.compiles().waiting, 1) << "the other caller waits still";
  CancelInsideCalls();  // of which there are none
  outside.TryCancel();
  other.join();
}

// Reflection and channelz describe the process, so they are for the admins' address alone, whoever
// else has asked for them before.
TEST(ServerPluginsTest, OneBuilderHasThemAndTheOtherHasNot) {
  constexpr char kChannels[] = "/grpc.channelz.v1.Channelz/GetTopChannels";
  grpc::health::v1::Health::Service any;  // a server has one service at least
  const auto said_by = [&](std::unique_ptr<grpc::ServerBuilder> builder) {
    const auto server = builder->RegisterService(&any).BuildAndStart();
    return CallEmpty(server->InProcessChannel({}), kChannels).error_code();
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(said_by(BuilderWithPlugins()), grpc::StatusCode::OK);
    EXPECT_EQ(said_by(BuilderWithoutPlugins()), grpc::StatusCode::UNIMPLEMENTED);
  }
}

}  // namespace
}  // namespace maskd::service
