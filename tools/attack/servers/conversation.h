// One Decode call, message by message: what a client library keeps its users from saying, too.
//
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_SERVERS_CONVERSATION_H_
#define MASKD_TOOLS_ATTACK_SERVERS_CONVERSATION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include "maskd/v1/mask_service.grpc.pb.h"

namespace maskd::attack {

// Sends whatever message it is given, in any order. Each wait is without a deadline.
class Conversation {
 public:
  // On a new connection, or on one that conversations share.
  explicit Conversation(const std::string& address);
  explicit Conversation(const std::shared_ptr<grpc::Channel>& channel);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Sends a message and reads the next one. Errors: the stream's end.
  absl::StatusOr<v1::DecodeResponse> Ask(const v1::DecodeRequest& request);
  absl::StatusOr<v1::Welcome> Greet(const v1::Hello& hello);
  absl::StatusOr<v1::StepReply> Run(const v1::Step& step);

  // Half-closes: the server sees the end of what this side says.
  void EndSending();
  // Reads to the end and gives the stream's status.
  absl::Status ReadToEnd();
  // Ends it from this side.
  void Reset();

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::MaskService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::DecodeRequest, v1::DecodeResponse>> stream_;
  bool sending_ = true;
  bool ended_ = false;
  absl::Status end_;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_SERVERS_CONVERSATION_H_
