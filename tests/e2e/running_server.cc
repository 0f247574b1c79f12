#include "tests/e2e/running_server.h"

#include <chrono>
#include <cstdlib>
#include <deque>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "grammar_core/base/mutex.h"
#include "ring/channel.h"
#include "ring/handover.h"
#include "ring/shared_memory.h"

namespace maskd::service {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::uint32_t kWaitMs = 10'000;
constexpr int kEmbeddedTokens = 257;

std::chrono::system_clock::time_point Deadline() {
  return std::chrono::system_clock::now() + kPatience;
}

}  // namespace

// The ring, and what the stream beside it says.
struct TestStream::Memory {
  explicit Memory(ring::SharedMemory memory)
      : channel(std::move(memory), ring::Side::kClient, 64 << 20) {}

  void Watch(grpc::ClientReaderWriter<v1::DecodeRequest, v1::DecodeResponse>* stream) {
    v1::DecodeResponse notice;
    while (stream->Read(&notice)) {
      const MutexLock lock(&mutex);
      notices.push_back(notice);
      channel.Wake();
    }
    const MutexLock lock(&mutex);
    ended = true;
    channel.Wake();
  }

  bool HasEnded() {
    const MutexLock lock(&mutex);
    return ended;
  }

  bool TakeNotice(v1::DecodeResponse* notice) {
    const MutexLock lock(&mutex);
    if (notices.empty()) return false;
    *notice = std::move(notices.front());
    notices.pop_front();
    return true;
  }

  bool Send(const std::string& message) {
    channel.StartWrite(message);
    for (;;) {
      const auto sent = channel.ContinueWrite();
      EXPECT_TRUE(sent.ok()) << sent.status();
      if (!sent.ok() || *sent) return sent.ok();
      if (HasEnded()) return false;
      EXPECT_TRUE(channel.Sleep(ring::kRoom, absl::Seconds(1)).ok());
    }
  }

  bool Read(v1::DecodeResponse* response) {
    for (;;) {
      if (TakeNotice(response)) return true;
      const bool is_over = HasEnded();  // what came before the end is there
      const auto message = channel.TryRead();
      EXPECT_TRUE(message.ok()) << message.status();
      if (!message.ok()) return false;
      if (message->has_value()) {
        EXPECT_TRUE(
            response->ParseFromArray((*message)->data(), static_cast<int>((*message)->size())));
        return true;
      }
      if (is_over) return TakeNotice(response);
      EXPECT_TRUE(channel.Sleep(ring::kBytes, absl::Seconds(1)).ok());
    }
  }

  ring::Channel channel;
  Mutex mutex;
  std::deque<v1::DecodeResponse> notices;
  bool ended = false;
  std::thread watcher;
};

TestStream::TestStream(const std::shared_ptr<grpc::Channel>& channel, std::string memory_at,
                       std::chrono::seconds patience)
    : memory_at_(std::move(memory_at)), stub_(v1::MaskService::NewStub(channel)) {
  context_.set_deadline(std::chrono::system_clock::now() + patience);
  stream_ = stub_->Decode(&context_);
}

TestStream::~TestStream() {
  if (memory_ == nullptr || !memory_->watcher.joinable()) return;
  context_.TryCancel();
  memory_->watcher.join();
}

void TestStream::Fetch(const v1::SharedMemory& offer) {
  auto fd = ring::Fetch(memory_at_ + offer.socket_suffix(), offer.token(), absl::Seconds(10));
  ASSERT_TRUE(fd.ok()) << fd.status();
  auto memory = ring::SharedMemory::Map(
      *std::move(fd), {.to_server = offer.to_server_bytes(), .to_client = offer.to_client_bytes()});
  ASSERT_TRUE(memory.ok()) << memory.status();
  memory_ = std::make_unique<Memory>(*std::move(memory));
  memory_->watcher = std::thread([this] { memory_->Watch(stream_.get()); });
}

bool TestStream::Send(v1::DecodeRequest request) {
  if (memory_ != nullptr) return memory_->Send(request.SerializeAsString());
  if (!memory_at_.empty() && request.has_hello()) request.mutable_hello()->set_shared_memory(true);
  return stream_->Write(request);
}

bool TestStream::Read(v1::DecodeResponse* response) {
  if (memory_ != nullptr) return memory_->Read(response);
  if (!stream_->Read(response)) return false;
  if (!memory_at_.empty() && response->has_welcome()) {
    EXPECT_TRUE(response->welcome().has_shared_memory());
    Fetch(response->welcome().shared_memory());
  }
  return true;
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
  if (!std::exchange(half_closed_, true)) stream_->WritesDone();
}

grpc::Status TestStream::Finish() {
  EndSending();
  v1::DecodeResponse response;
  while (Read(&response)) {
  }
  if (memory_ != nullptr) memory_->watcher.join();
  return stream_->Finish();
}

RunningServer::RunningServer(Config config, Metrics metrics) : socket_(SocketPath("maskd.sock")) {
  config.listen = {absl::StrCat("unix:", socket_)};
  if (config.tls_cert.empty())
    config.insecure_listen = {"127.0.0.1:0"};
  else
    config.listen.emplace_back("127.0.0.1:0");
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

void RunningServer::ExpectServes() const { service::ExpectServes(channel_); }

void ExpectServes(const std::shared_ptr<grpc::Channel>& channel) {
  TestStream stream(channel);
  EXPECT_EQ(stream.Greet().mask_words(), 9U);
  const v1::StepReply reply = stream.Run(OpeningStep(OpenOf(1, "choice", R"(["yes","no"])")));
  ASSERT_EQ(reply.rows_size(), 1) << reply.ShortDebugString();
  EXPECT_EQ(reply.rows(0).state(), v1::ROW_STATE_ACTIVE) << reply.ShortDebugString();
  EXPECT_TRUE(stream.Finish().ok());
}

std::string Scrape(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const std::string get = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  EXPECT_GT(send(fd, get.data(), get.size(), 0), 0);
  std::string answer;
  char buffer[4096];
  for (ssize_t n = 0; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(n));
  close(fd);
  EXPECT_TRUE(absl::StrContains(answer, "200 OK")) << answer;
  const std::vector<std::string> parts = absl::StrSplit(answer, absl::MaxSplits("\r\n\r\n", 1));
  return parts.back();
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
  if (status.ok() && received.Dump(&slices).ok())
    for (const grpc::Slice& part : slices)
      answer->append(reinterpret_cast<const char*>(part.begin()), part.size());
  return status;
}

}  // namespace maskd::service
