#include "client/cpp/connect/channel.h"

#include "grpcpp/create_channel.h"
#include "grpcpp/support/channel_arguments.h"

#include "client/cpp/connect/resolve.h"
#include "client/cpp/connect/security.h"

namespace maskd::client {
namespace {

constexpr int kReadChunkBytes = 4 << 20;

}  // namespace

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, int max_message_bytes) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(max_message_bytes);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadChunkBytes);
  arguments.SetInt(GRPC_ARG_TCP_MIN_READ_CHUNK_SIZE, kReadChunkBytes);
  arguments.SetInt(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kReadChunkBytes);
  return grpc::CreateCustomChannel(SplitName(address).target, MakeCredentials(address, &arguments),
                                   arguments);
}

}  // namespace maskd::client
