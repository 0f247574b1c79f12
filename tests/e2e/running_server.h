// A server in this process on its own Unix socket, and what tests ask of it.
#ifndef MASKD_TESTS_E2E_RUNNING_SERVER_H_
#define MASKD_TESTS_E2E_RUNNING_SERVER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "google/rpc/status.pb.h"
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include "maskd/v1/compile_service.grpc.pb.h"
#include "maskd/v1/mask_service.grpc.pb.h"
#include "maskd/v1/tokenizer_service.grpc.pb.h"
#include "service/config/config.h"
#include "service/process/server.h"

namespace maskd::service {

// How a stream's steps travel.
enum class Via { kGrpc, kMemory };
// For names of parametrised tests.
inline std::string NameOf(Via via) { return via == Via::kGrpc ? "Grpc" : "Memory"; }

// A Decode stream of a test. One thread at a time; two, a sender and a reader, over gRPC.
class TestStream {
 public:
  // With the path of the server's socket its steps go through shared memory.
  // The call ends after `patience`.
  explicit TestStream(const std::shared_ptr<grpc::Channel>& channel, std::string memory_at = "",
                      std::chrono::seconds patience = std::chrono::seconds(60));
  ~TestStream();
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;

  // Sends Hello and reads the answer. The width is that of the embedded vocabulary.
  v1::Welcome Greet();
  bool Send(v1::DecodeRequest request);
  // Sends a step with the next number and reads its reply, which is not to be a notice.
  v1::StepReply Run(v1::Step step);
  // The next message; false at the end.
  bool Read(v1::DecodeResponse* response);
  // Half-closes, once.
  void EndSending();
  // Half-closes, reads to the end, and gives the stream's status.
  grpc::Status Finish();

  [[nodiscard]] std::uint64_t last_step() const { return step_; }
  [[nodiscard]] bool uses_memory() const { return memory_ != nullptr; }

 private:
  struct Memory;
  void Fetch(const v1::SharedMemory& offer);

  const std::string memory_at_;
  grpc::ClientContext context_;
  std::unique_ptr<v1::MaskService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::DecodeRequest, v1::DecodeResponse>> stream_;
  std::uint64_t step_ = 0;
  bool half_closed_ = false;
  std::unique_ptr<Memory> memory_;  // once fetched
};

class RunningServer {
 public:
  // The metrics endpoint takes two seconds to stop, so only a test that needs it has one.
  enum class Metrics { kOff, kOn };

  // `config` says everything but the addresses.
  explicit RunningServer(Config config = Config(), Metrics metrics = Metrics::kOff);
  ~RunningServer();

  [[nodiscard]] const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  // Of its Unix socket.
  [[nodiscard]] std::string address() const;
  // The socket's path for a TestStream through shared memory; empty for one over gRPC.
  [[nodiscard]] std::string memory_at(Via via) const {
    return via == Via::kMemory ? socket_ : std::string();
  }
  [[nodiscard]] Server& server() const { return *server_; }

  std::unique_ptr<v1::CompileService::Stub> compiler() const {
    return v1::CompileService::NewStub(channel_);
  }
  std::unique_ptr<v1::TokenizerService::Stub> tokenizers() const {
    return v1::TokenizerService::NewStub(channel_);
  }

  // As below.
  void ExpectServes() const;

 private:
  std::string socket_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

// Compiles and decodes something: fails the test when the server at `channel` does not serve.
void ExpectServes(const std::shared_ptr<grpc::Channel>& channel);

// The body of GET /metrics.
std::string Scrape(int port);

// A channel to `address`, not shared with other tests.
std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address);

// A path in the test's own temporary folder, short enough for a socket.
std::string SocketPath(const std::string& name);

v1::Grammar GrammarOf(const std::string& kind, const std::string& source);

// A row to open with a grammar by its text.
v1::OpenRow OpenOf(std::uint64_t row, const std::string& kind, const std::string& source);

// A step that opens `open` and waits for its compile.
v1::Step OpeningStep(const v1::OpenRow& open);

// The details of an error; fails the test when there are none.
google::rpc::Status DetailsOf(const grpc::Status& status);

// Whether a dense mask of the wire allows `token`.
bool Allows(const v1::Position& position, int token);

// The wire call `method` with a request and an answer as bytes, for services without a stub here.
grpc::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                     const std::string& request, std::string* answer);

}  // namespace maskd::service

#endif  // MASKD_TESTS_E2E_RUNNING_SERVER_H_
