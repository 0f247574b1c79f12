#include "tests/e2e/running_server.h"

#include <chrono>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace maskd::service {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::uint32_t kWaitMs = 10'000;
constexpr int kEmbeddedTokens = 257;

std::chrono::system_clock::time_point Deadline() {
  return std::chrono::system_clock::now() + kPatience;
}

}  // namespace

TestStream::TestStream(const std::shared_ptr<grpc::Channel>& channel)
    : stub_(v1::MaskService::NewStub(channel)) {
  context_.set_deadline(Deadline());
  stream_ = stub_->Decode(&context_);
}

v1::Welcome TestStream::Greet() {
  v1::DecodeRequest request;
  request.mutable_hello()->set_logits_width(kEmbeddedTokens);
  EXPECT_TRUE(Send(request));
  v1::DecodeResponse response;
  EXPECT_TRUE(Read(&response));
  EXPECT_TRUE(response.has_welcome());
  return response.welcome();
}

v1::StepReply TestStream::Run(v1::Step step) {
  step.set_step(++step_);
  v1::DecodeRequest request;
  *request.mutable_step() = std::move(step);
  EXPECT_TRUE(Send(request));
  v1::DecodeResponse response;
  EXPECT_TRUE(Read(&response));
  EXPECT_TRUE(response.has_step()) << response.ShortDebugString();
  EXPECT_EQ(response.step().step(), step_);
  return response.step();
}

void TestStream::EndSending() {
  if (!std::exchange(half_closed_, true)) {
    stream_->WritesDone();
  }
}

grpc::Status TestStream::Finish() {
  EndSending();
  v1::DecodeResponse response;
  while (stream_->Read(&response)) {
  }
  return stream_->Finish();
}

RunningServer::RunningServer(Config config, Metrics metrics) : socket_(SocketPath("maskd.sock")) {
  config.listen = {absl::StrCat("unix:", socket_), "127.0.0.1:0"};
  config.metrics_listen = metrics == Metrics::kOn ? "127.0.0.1:0" : "";
  auto server = Server::Start(config);
  EXPECT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  channel_ = ConnectTo(address());
}

std::string RunningServer::address() const { return absl::StrCat("unix:", socket_); }

RunningServer::~RunningServer() {
  channel_ = nullptr;
  server_->Drain();
  unlink(socket_.c_str());
}

void RunningServer::ExpectServes() const {
  TestStream stream(channel_);
  EXPECT_EQ(stream.Greet().mask_words(), 9U);
  const v1::StepReply reply = stream.Run(OpeningStep(OpenOf(1, "choice", R"(["yes","no"])")));
  ASSERT_EQ(reply.rows_size(), 1) << reply.ShortDebugString();
  EXPECT_EQ(reply.rows(0).state(), v1::ROW_STATE_ACTIVE) << reply.ShortDebugString();
  EXPECT_TRUE(stream.Finish().ok());
}

std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

std::string SocketPath(const std::string& name) {
  std::string folder = "/tmp/maskd-test-XXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return absl::StrCat(folder, "/", name);
}

v1::Grammar GrammarOf(const std::string& kind, const std::string& source) {
  v1::Grammar grammar;
  grammar.set_kind(kind);
  grammar.set_source(source);
  return grammar;
}

v1::OpenRow OpenOf(std::uint64_t row, const std::string& kind, const std::string& source) {
  v1::OpenRow open;
  open.set_row(row);
  *open.mutable_grammar() = GrammarOf(kind, source);
  return open;
}

v1::Step OpeningStep(const v1::OpenRow& open) {
  v1::Step step;
  step.set_wait_for_compile_ms(kWaitMs);
  *step.add_open() = open;
  return step;
}

google::rpc::Status DetailsOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), status.error_code()) << status.error_message();
  return details;
}

bool Allows(const v1::Position& position, int token) {
  const auto byte =
      static_cast<unsigned char>(position.dense()[static_cast<std::size_t>(token) / 8]);
  return ((byte >> (token % 8)) & 1U) != 0;
}

grpc::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                     const std::string& request, std::string* answer) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(Deadline());
  grpc::CompletionQueue queue;
  const grpc::Slice slice(request);
  const grpc::ByteBuffer sent(&slice, 1);
  grpc::ByteBuffer received;
  grpc::Status status;
  const auto call = stub.PrepareUnaryCall(&context, method, sent, &queue);
  call->StartCall();
  call->Finish(&received, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue.Next(&tag, &ok));
  std::vector<grpc::Slice> slices;
  if (status.ok() && received.Dump(&slices).ok()) {
    for (const grpc::Slice& part : slices) {
      answer->append(reinterpret_cast<const char*>(part.begin()), part.size());
    }
  }
  return status;
}

}  // namespace maskd::service
