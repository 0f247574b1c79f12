// How this library connects. For its own files.
#ifndef MASKD_CLIENT_CPP_CONNECT_CHANNEL_H_
#define MASKD_CLIENT_CPP_CONNECT_CHANNEL_H_

#include <memory>
#include <string>

#include "grpcpp/channel.h"

namespace maskd::client {

// A new connection to `address`, set up for large replies: the default receive limit of
// 4 MiB is less than 256 dense masks of a large vocabulary, and reading 4 MiB at a time halves the
// time of 64 of them.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, int max_message_bytes);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CONNECT_CHANNEL_H_
