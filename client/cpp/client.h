// A client of a maskd server, or of several that serve the same vocabularies, or of an engine
// inside the program.
//
//   auto client = Client::Connect({.address = "unix:/run/maskd.sock"});  // may fail: a StatusOr
//   v1::CompileRequest request;                                          // kind, source, tokenizer
//   absl::StatusOr<v1::CompileResponse> compiled = (*client)->Compile(request);
//   absl::StatusOr<std::unique_ptr<MaskStream>> stream =
//       (*client)->OpenStream({.tokenizer = "qwen3", .logits_width = 151'936});
//
// Errors   see errors.h; each call's codes are listed at its rpc in protos/maskd/v1.
// Retries  unary calls, within their timeout, as RetryPolicy says. Streams are not reopened here.
// Servers  with several a call goes to the one that answered last; where that is UNAVAILABLE, or
//          does not answer within its share of the timeout, to the next. A grammar's id is known to
//          the server that compiled it: what must survive that one gives the text.
// Threads  internally synchronised: any thread, any number of calls at once. A MaskStream belongs
//          to one thread at a time.
// Ownership  streams live on their own: the client may go first.
#ifndef MASKD_CLIENT_CPP_CLIENT_H_
#define MASKD_CLIENT_CPP_CLIENT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "client/cpp/base/retry.h"
#include "client/cpp/base/steady_time.h"
#include "client/cpp/streams/mask_stream.h"
#include "maskd/v1/compile_service.pb.h"
#include "maskd/v1/tokenizer_service.pb.h"

namespace maskd::client {

// Read once, when the client connects.
struct ClientOptions {
  // A gRPC target: "unix:/run/maskd.sock" (an absolute path), "127.0.0.1:7070",
  // "dns:///maskd:7070". Or "local:...", see local/local_engines.h.
  std::string address = {};
  // Further servers, asked in this order where the one before does not answer.
  std::vector<std::string> more_addresses = {};
  // Channels to a server of this very process, in place of addresses: each call makes one, which
  // is connected for good, and through which no pings come.
  std::function<std::shared_ptr<grpc::Channel>()> inside = nullptr;
  // How long Connect() waits for a server that is yet to come. Without it a server that is silent
  // has 5 s, and where the system says at once that nobody is there Connect() fails at once.
  std::optional<absl::Duration> connect_timeout = std::nullopt;
  // The time of one unary call, retries included.
  absl::Duration call_timeout = absl::Seconds(30);
  RetryPolicy retry = {};
  // The largest message that is received: 256 dense masks of a vocabulary of 262,144 need 8 MiB.
  int max_message_bytes = 64 << 20;
};

// Unary calls go over one connection; each stream has its own.
class Client {
 public:
  // Waits until the server, or one of them, is reachable. Errors: INVALID_ARGUMENT (no address),
  // UNAVAILABLE with the reason, those of a local engine.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(const ClientOptions& options);

  // Streams that it opened live on.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Each blocks until it is answered or call_timeout is over. Codes are listed at its rpc.
  [[nodiscard]] absl::StatusOr<v1::CompileResponse> Compile(
      const v1::CompileRequest& request) const;
  [[nodiscard]] absl::StatusOr<v1::CheckResponse> Check(const v1::CheckRequest& request) const;
  [[nodiscard]] absl::StatusOr<v1::ExplainResponse> Explain(
      const v1::ExplainRequest& request) const;

  // All of them, the default first.
  [[nodiscard]] absl::StatusOr<std::vector<v1::Tokenizer>> ListTokenizers() const;
  // An empty name is the server's default.
  [[nodiscard]] absl::StatusOr<v1::Tokenizer> GetTokenizer(absl::string_view name) const;
  // Every token in order of id.
  [[nodiscard]] absl::StatusOr<std::vector<v1::Token>> ListTokens(
      absl::string_view tokenizer) const;

  // Opens a decode stream at the first server that gives one, and says hello. The stream has its
  // own connection, so that no other call's bytes delay a step.
  [[nodiscard]] absl::StatusOr<std::unique_ptr<MaskStream>> OpenStream(
      const StreamOptions& options) const;

 private:
  struct Connection;
  explicit Client(ClientOptions options);

  // The one server of ClientOptions::inside.
  void ConnectInside();
  absl::Status AwaitServer() const;
  // The error that no server is reachable: `within` what time, and why.
  [[nodiscard]] absl::Status NoServer(absl::string_view within,
                                      const std::vector<std::string>& troubles) const;
  // Does `ask` at one server after the other, beginning with the one that answered last.
  absl::Status AskServers(
      SteadyTime deadline,
      absl::FunctionRef<absl::Status(const Connection& server, SteadyTime deadline)> ask) const;
  // When a call that begins now is over, all of its pages included.
  [[nodiscard]] SteadyTime Deadline() const;
  // A unary call with its retries: `local` of an engine, `remote` of a stub.
  template <typename Local, typename Stub, typename Remote, typename Request, typename Response>
  absl::Status Call(SteadyTime deadline, Local local, Stub stub, Remote remote,
                    const Request& request, Response* response) const;

  ClientOptions options_;
  std::vector<std::unique_ptr<const Connection>> servers_;
  mutable std::atomic<std::size_t> answered_last_ = 0;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CLIENT_H_
