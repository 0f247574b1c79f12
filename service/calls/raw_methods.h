// Methods of a server whose messages come and go as bytes, and are read when we say so. gRPC reads
// the message of a unary method before it tells of the call. So each method is a stream to it, also
// where a client sends one message and is sent one.
//
// Threads  Add() before the server is built, Request() from any thread behind that.
#ifndef MASKD_SERVICE_CALLS_RAW_METHODS_H_
#define MASKD_SERVICE_CALLS_RAW_METHODS_H_

#include <deque>
#include <string>
#include <utility>

#include <grpcpp/completion_queue.h>
#include <grpcpp/impl/codegen/rpc_service_method.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

namespace maskd::service {

using RawCall = grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

// Some methods of one or more services, by their names.
class RawMethods final : public grpc::Service {
 public:
  // `name` as on the wire: "/maskd.v1.MaskService/Decode". The method's number: 0 for the first.
  int Add(std::string name) {
    names_.push_back(std::move(name));
    const int number = static_cast<int>(names_.size()) - 1;
    AddMethod(new grpc::internal::RpcServiceMethod(
        names_.back().c_str(), grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodRaw(number);
    return number;
  }
  [[nodiscard]] int count() const { return static_cast<int>(names_.size()); }

  // Asks for a call of the method. `tag` comes by `queue` when there is one, what becomes of its
  // operations by `events`.
  void Request(int method, grpc::ServerContext* context, RawCall* call,
               grpc::CompletionQueue* events, grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncBidiStreaming(method, context, call, events, queue, tag);
  }

 private:
  std::deque<std::string> names_;  // gRPC has pointers to them
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_RAW_METHODS_H_
