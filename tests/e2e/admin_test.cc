// The address of --admin_listen: what it says, to whom, and what it costs the others.

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "maskd/v1/admin_service.grpc.pb.h"
#include "service/admin/admin_server.h"
#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kReflection[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
// Field 7 of its request, list_services.
constexpr char kListServices[] = "\x3A\x01*";
constexpr char kChannelz[] = "/grpc.channelz.v1.Channelz/GetServers";

class AdminTest : public testing::Test {
 protected:
  AdminTest() : address_(absl::StrCat("unix:", SocketPath("admin.sock"))) {
    config_.admin_listen = {address_};
  }

  void Start() {
    running_ = std::make_unique<RunningServer>(config_);
    admins_ = ConnectTo(address_);
    stub_ = v1::AdminService::NewStub(admins_);
  }

  static std::unique_ptr<grpc::ClientContext> Context() {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    return context;
  }

  v1::GetServerResponse GetServer() {
    v1::GetServerResponse response;
    const grpc::Status status = stub_->GetServer(Context().get(), {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  v1::ListStreamsResponse ListStreams() {
    v1::ListStreamsResponse response;
    const grpc::Status status = stub_->ListStreams(Context().get(), {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  v1::ListGrammarsResponse ListGrammars(const v1::ListGrammarsRequest& request) {
    v1::ListGrammarsResponse response;
    const grpc::Status status = stub_->ListGrammars(Context().get(), request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  std::string Compile(const std::string& word) const {
    v1::CompileRequest request;
    *request.mutable_grammar() = GrammarOf("choice", absl::StrCat(R"([")", word, R"("])"));
    v1::CompileResponse response;
    const grpc::Status status = running_->compiler()->Compile(Context().get(), request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.grammar_id();
  }

  std::int64_t Used(const std::string& limit) {
    const v1::GetServerResponse server = GetServer();
    for (const v1::ServerLimit& each : server.limits())
      if (each.name() == limit) return each.used();
    ADD_FAILURE() << limit;
    return -1;
  }

  Config config_;
  const std::string address_;
  std::unique_ptr<RunningServer> running_;
  std::shared_ptr<grpc::Channel> admins_;
  std::unique_ptr<v1::AdminService::Stub> stub_;
};

TEST_F(AdminTest, SaysWhatTheServerIsAndWhatOfItIsInUse) {
  config_.max_streams = 7;
  Start();
  TestStream stream(running_->channel());
  stream.Greet();
  const v1::GetServerResponse server = GetServer();
  EXPECT_THAT(server.version(), HasSubstr("."));
  EXPECT_EQ(server.process_id(), getpid());
  EXPECT_GT(server.start_time_ms(), 0);
  EXPECT_EQ(server.limits(0).name(), "max_streams");
  EXPECT_EQ(server.limits(0).used(), 1);
  EXPECT_EQ(server.limits(0).most(), 7);
  EXPECT_GT(server.memory().limit_bytes(), 0);
  EXPECT_EQ(server.memory().mark(), v1::MEMORY_MARK_UNSPECIFIED);
  ASSERT_EQ(server.vocabularies_size(), 1);
  EXPECT_EQ(server.vocabularies(0).name(), "bytes");
  EXPECT_EQ(server.vocabularies(0).vocab_size(), 257);
  EXPECT_EQ(server.vocabularies(0).hash().size(), 64U);
  EXPECT_GT(server.vocabularies(0).held_bytes(), 0);
  EXPECT_GE(Used("max_connections"), 1);
}

class AdminStreamsTest : public AdminTest, public testing::WithParamInterface<Via> {};

TEST_P(AdminStreamsTest, TwoStreamsAndThreeGrammarsAreSeen) {
  Start();
  Compile("alone");
  const auto stream =
      std::make_unique<TestStream>(running_->channel(), running_->memory_at(GetParam()));
  TestStream silent(running_->channel());
  stream->Greet();
  silent.Greet();
  stream->Run(OpeningStep(OpenOf(1, "choice", R"(["yes","no"])")));
  v1::Step more = OpeningStep(OpenOf(2, "choice", R"(["one"])"));
  *more.add_open() = OpenOf(3, "choice", R"(["one"])");
  *more.add_open() = OpenOf(4, "no_such_kind", "x");
  more.add_rows()->set_row(1);
  for (const char c : {'y', 'e'}) more.mutable_rows(0)->add_tokens(c);
  stream->Run(more);
  const v1::ListStreamsResponse streams = ListStreams();
  ASSERT_EQ(streams.streams_size(), 2);
  EXPECT_EQ(streams.total(), 2);
  const v1::OpenStream& seen = streams.streams(0);
  EXPECT_EQ(seen.peer(), absl::StrCat("uid:", getuid()));
  EXPECT_EQ(seen.identity(), absl::StrCat("uid:", getuid()));
  EXPECT_EQ(seen.tenant(), "all");
  EXPECT_EQ(seen.transport(), GetParam() == Via::kGrpc ? v1::STREAM_TRANSPORT_GRPC
                                                       : v1::STREAM_TRANSPORT_SHARED_MEMORY);
  EXPECT_TRUE(seen.greeted());
  EXPECT_GT(seen.age_us(), 0);
  EXPECT_FALSE(seen.has_in_step_us());
  EXPECT_EQ(seen.rows().active(), 3);
  EXPECT_EQ(seen.rows().failed(), 1);
  EXPECT_EQ(seen.tokens(), 2);
  EXPECT_EQ(seen.steps(), 2);
  EXPECT_GT(seen.step_us(), 0);
  EXPECT_GT(seen.received_bytes(), 0);
  EXPECT_GT(seen.sent_bytes(), 0);
  EXPECT_EQ(streams.streams(1).steps(), 0);
  EXPECT_EQ(streams.streams(1).transport(), v1::STREAM_TRANSPORT_UNSPECIFIED);
  EXPECT_EQ(Used("rows"), 4);
  v1::ListGrammarsRequest by_rows;
  by_rows.set_order(v1::GRAMMAR_ORDER_ROWS);
  const v1::ListGrammarsResponse grammars = ListGrammars(by_rows);
  ASSERT_EQ(grammars.grammars_size(), 3);
  EXPECT_EQ(grammars.grammars(0).rows(), 2);
  EXPECT_EQ(grammars.grammars(0).kind(), "choice");
  EXPECT_EQ(grammars.grammars(0).source_bytes(), 7);
  EXPECT_EQ(grammars.grammars(1).rows(), 1);
  EXPECT_EQ(grammars.grammars(2).rows(), 0);
  for (const v1::HeldGrammar& each : grammars.grammars()) {
    EXPECT_GT(each.held_bytes(), 0);
    EXPECT_GT(each.compile_us(), 0);
  }
  v1::Step close;
  for (const int row : {1, 2, 4}) close.add_close(row);
  stream->Run(close);
  EXPECT_EQ(ListStreams().streams(0).rows().active(), 1);
  EXPECT_EQ(ListStreams().streams(0).rows().failed(), 0);
  EXPECT_EQ(ListGrammars(by_rows).grammars(0).rows(), 1);
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(silent.Finish().ok());
  EXPECT_EQ(ListStreams().total(), 0);
  EXPECT_EQ(ListGrammars(by_rows).grammars(0).rows(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, AdminStreamsTest, testing::Values(Via::kGrpc, Via::kMemory),
                         [](const auto& info) { return NameOf(info.param); });

TEST_F(AdminTest, AStreamIsSeenWithItsTenant) {
  config_.tenants = {{"engines", {absl::StrCat("uid:", getuid())}, {}}};
  Start();
  TestStream stream(running_->channel());
  stream.Greet();
  EXPECT_EQ(ListStreams().streams(0).tenant(), "engines");
}

TEST_F(AdminTest, WhoIsNoTenantMayBeAnAdmin) {
  config_.tenants = {{"engines", {"token:engine"}, {}}};
  Start();
  EXPECT_EQ(ListStreams().total(), 0);
}

TEST_F(AdminTest, WhoIsNoneOfTheAdminCallersIsRefused) {
  config_.admin_callers = {"token:operator"};
  Start();
  v1::GetServerResponse response;
  const grpc::Status status = stub_->GetServer(Context().get(), {}, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("--admin_callers"));
}

TEST_F(AdminTest, TheOtherAddressHasNoneOfIt) {
  Start();
  v1::GetServerResponse response;
  const auto main = v1::AdminService::NewStub(running_->channel());
  EXPECT_EQ(main->GetServer(Context().get(), {}, &response).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  std::string answer;
  EXPECT_EQ(CallRaw(running_->channel(), kReflection, kListServices, &answer).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(CallRaw(running_->channel(), kChannelz, "", &answer).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(AdminTest, ItsOwnAddressHasReflectionAndChannelzAndNoMasks) {
  Start();
  std::string services;
  ASSERT_TRUE(CallRaw(admins_, kReflection, kListServices, &services).ok());
  EXPECT_THAT(services, HasSubstr("maskd.v1.AdminService"));
  EXPECT_THAT(services, Not(HasSubstr("maskd.v1.MaskService")));
  // Field 4 of its request, file_containing_symbol: it describes what the other address serves.
  std::string described;
  ASSERT_TRUE(CallRaw(admins_, kReflection, "\x22\x14maskd.v1.MaskService", &described).ok());
  EXPECT_THAT(described, HasSubstr("maskd/v1/mask_service.proto"));
  std::string servers;
  EXPECT_TRUE(CallRaw(admins_, kChannelz, "", &servers).ok());
  v1::CompileResponse response;
  EXPECT_EQ(
      v1::CompileService::NewStub(admins_)->Compile(Context().get(), {}, &response).error_code(),
      grpc::StatusCode::UNIMPLEMENTED);
}

// Nothing is made ahead: pages are by size, and one that grew in between would be on two of them.
TEST_F(AdminTest, AThousandGrammarsComeInPages) {
  config_.warm_up_ms = 0;
  Start();
  constexpr int kMany = 1000;
  std::set<std::string> compiled;
  for (int i = 0; i < kMany; ++i) compiled.insert(Compile(absl::StrCat("word", i)));
  ASSERT_EQ(compiled.size(), static_cast<std::size_t>(kMany));
  std::set<std::string> seen;
  std::vector<int> sizes;
  v1::ListGrammarsRequest request;
  request.set_page_size(1 << 20);
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  do {
    const v1::ListGrammarsResponse page = ListGrammars(request);
    EXPECT_EQ(page.total(), kMany);
    sizes.push_back(page.grammars_size());
    for (const v1::HeldGrammar& each : page.grammars()) {
      EXPECT_TRUE(seen.insert(each.grammar_id()).second) << each.grammar_id();
      EXPECT_LE(each.held_bytes() + each.mask_bytes(), before);
      before = each.held_bytes() + each.mask_bytes();
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(seen, compiled);
  EXPECT_THAT(sizes, testing::ElementsAre(500, 500));
}

TEST_F(AdminTest, RefusesWhatIsNoRequest) {
  Start();
  v1::ListGrammarsResponse response;
  v1::ListGrammarsRequest request;
  request.set_page_token("nothing");
  EXPECT_EQ(stub_->ListGrammars(Context().get(), request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  request.Clear();
  request.set_order(static_cast<v1::GrammarOrder>(99));
  EXPECT_EQ(stub_->ListGrammars(Context().get(), request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

// Calls that are begun and never go on: of reflection, each of which keeps a thread of the server,
// as many as a connection may have, and of several connections.
TEST_F(AdminTest, CallersWhoNeverReadHurtNobody) {
  Start();
  struct Silent {
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<grpc::GenericStub> stub;
    std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
    std::vector<std::unique_ptr<grpc::GenericClientAsyncReaderWriter>> calls;
  };
  grpc::CompletionQueue queue;
  std::vector<Silent> all;
  int begun = 0;
  for (int i = 0; i < 10; ++i) {
    Silent silent;
    silent.channel = ConnectTo(address_);
    silent.stub = std::make_unique<grpc::GenericStub>(silent.channel);
    for (int call = 0; call < 4; ++call, ++begun) {
      silent.contexts.push_back(Context());
      silent.calls.push_back(
          silent.stub->PrepareCall(silent.contexts.back().get(), kReflection, &queue));
      silent.calls.back()->StartCall(nullptr);
    }
    all.push_back(std::move(silent));
  }
  void* tag = nullptr;
  bool ok = false;
  for (int i = 0; i < begun; ++i) ASSERT_TRUE(queue.Next(&tag, &ok) && ok);
  EXPECT_EQ(GetServer().vocabularies_size(), 1);
  running_->ExpectServes();
  for (Silent& silent : all) {
    for (std::size_t i = 0; i < silent.calls.size(); ++i) {
      silent.contexts[i]->TryCancel();
      grpc::Status status;
      silent.calls[i]->Finish(&status, nullptr);
      ASSERT_TRUE(queue.Next(&tag, &ok));
    }
  }
  queue.Shutdown();
}

TEST_F(AdminTest, TheEndDoesNotWaitForAnAdmin) {
  Start();
  grpc::GenericStub stub(admins_);
  grpc::CompletionQueue queue;
  const auto context = Context();
  const auto call = stub.PrepareCall(context.get(), kReflection, &queue);
  call->StartCall(nullptr);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok) && ok);
  running_ = nullptr;
  grpc::Status status;
  call->Finish(&status, nullptr);
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_FALSE(status.ok());
  queue.Shutdown();
}

// No stream's thread is there to look at the sockets, as if all of them hung; nor has the client a
// thread of gRPC's, which would look at all sockets of the process.
TEST(AdminServerTest, AnswersWhereNoThreadOfStreamsDoes) {
  const std::string path = SocketPath("admin.sock");
  Config config;
  config.admin_listen = {absl::StrCat("unix:", path)};
  config.warm_up_ms = 0;
  const StreamRegistry streams{StreamRegistry::Limits()};
  const GrammarStore grammars(config, nullptr);
  const TokenizerShelf tokenizers(*TokenizerStore::Load({}, 1 << 20));
  const memory::Accountant accountant{memory::Accountant::Options()};
  Admission admission;
  const auto server = AdminServer::Start(config,
                                         {.streams = &streams,
                                          .grammars = &grammars,
                                          .tokenizers = &tokenizers,
                                          .accountant = &accountant,
                                          .limits = [] { return std::vector<LimitInUse>(); }},
                                         "1.2.3", &admission);
  ASSERT_TRUE(server.ok()) << server.status();
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  // HTTP/2: the preface, no settings, and a PING, whose answer is sent once it was read.
  const std::string ping("\0\0\x08\x06\0\0\0\0\0pingpong", 17);
  const std::string pong("\0\0\x08\x06\x01\0\0\0\0pingpong", 17);
  const std::string sent = absl::StrCat("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                        std::string("\0\0\0\x04\0\0\0\0\0", 9), ping);
  ASSERT_EQ(send(fd, sent.data(), sent.size(), MSG_NOSIGNAL), std::ssize(sent));
  timeval patience{.tv_sec = 60, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  std::string received;
  std::array<char, 1024> buffer{};
  while (!absl::StrContains(received, pong)) {
    const ssize_t count = recv(fd, buffer.data(), buffer.size(), 0);
    ASSERT_GT(count, 0) << "no answer came";
    received.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(fd);
}

}  // namespace
}  // namespace maskd::service
