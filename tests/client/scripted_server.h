// A server that answers as a test tells it to, on its own Unix socket. It shows the client
// what a real one seldom does: broken replies, refusals for load, silence.
#ifndef MASKD_TESTS_CLIENT_SCRIPTED_SERVER_H_
#define MASKD_TESTS_CLIENT_SCRIPTED_SERVER_H_

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include <unistd.h>

#include "maskd/v1/compile_service.grpc.pb.h"
#include "maskd/v1/mask_service.grpc.pb.h"
#include "maskd/v1/tokenizer_service.grpc.pb.h"

namespace maskd::client {

using ServerStream = grpc::ServerReaderWriter<v1::DecodeResponse, v1::DecodeRequest>;

// A wire error with one detail.
template <typename Detail>
grpc::Status ErrorWith(grpc::StatusCode code, const std::string& message, const Detail& detail) {
  google::rpc::Status details;
  details.set_code(code);
  details.set_message(message);
  details.add_details()->PackFrom(detail);
  return {code, message, details.SerializeAsString()};
}

struct Script {
  std::function<grpc::Status(const v1::CompileRequest&, v1::CompileResponse&)> compile = {};
  std::function<grpc::Status(const v1::ListTokenizersRequest&, v1::ListTokenizersResponse&)>
      list_tokenizers = {};
  std::function<grpc::Status(const v1::ListTokensRequest&, v1::ListTokensResponse&)> list_tokens =
      {};
  std::function<grpc::Status(ServerStream&)> decode = {};
  std::function<grpc::Status(const v1::GetLoadRequest&, v1::GetLoadResponse&)> get_load = {};
  std::function<grpc::Status(const v1::GetTokenizerRequest&, v1::GetTokenizerResponse&)>
      get_tokenizer = {};
  std::function<grpc::Status(const v1::CheckRequest&, v1::CheckResponse&)> check = {};
};

class ScriptedServer : v1::CompileService::Service,
                       v1::TokenizerService::Service,
                       v1::MaskService::Service {
 public:
  // `name` tells the servers of this process apart.
  explicit ScriptedServer(Script script, const std::string& name = "")
      : script_(std::move(script)),
        socket_(std::filesystem::temp_directory_path() /
                absl::StrCat("maskd_client_test.", getpid(), name, ".sock")) {
    std::filesystem::remove(socket_);
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address(), grpc::InsecureServerCredentials());
    builder.RegisterService(static_cast<v1::CompileService::Service*>(this));
    builder.RegisterService(static_cast<v1::TokenizerService::Service*>(this));
    builder.RegisterService(static_cast<v1::MaskService::Service*>(this));
    server_ = builder.BuildAndStart();
  }
  ~ScriptedServer() override {
    server_->Shutdown(std::chrono::system_clock::now());
    std::filesystem::remove(socket_);
  }

  [[nodiscard]] std::string address() const { return absl::StrCat("unix:", socket_.string()); }

 private:
  grpc::Status Compile(grpc::ServerContext* /*context*/, const v1::CompileRequest* request,
                       v1::CompileResponse* response) override {
    return script_.compile(*request, *response);
  }
  grpc::Status Check(grpc::ServerContext* /*context*/, const v1::CheckRequest* request,
                     v1::CheckResponse* response) override {
    return script_.check(*request, *response);
  }
  grpc::Status ListTokenizers(grpc::ServerContext* /*context*/,
                              const v1::ListTokenizersRequest* request,
                              v1::ListTokenizersResponse* response) override {
    return script_.list_tokenizers(*request, *response);
  }
  grpc::Status ListTokens(grpc::ServerContext* /*context*/, const v1::ListTokensRequest* request,
                          v1::ListTokensResponse* response) override {
    return script_.list_tokens(*request, *response);
  }
  grpc::Status GetTokenizer(grpc::ServerContext* /*context*/,
                            const v1::GetTokenizerRequest* request,
                            v1::GetTokenizerResponse* response) override {
    return script_.get_tokenizer(*request, *response);
  }
  grpc::Status Decode(grpc::ServerContext* /*context*/, ServerStream* stream) override {
    return script_.decode(*stream);
  }

  grpc::Status GetLoad(grpc::ServerContext* context, const v1::GetLoadRequest* request,
                       v1::GetLoadResponse* response) override {
    if (script_.get_load) return script_.get_load(*request, *response);
    return v1::MaskService::Service::GetLoad(context, request, response);
  }

  Script script_;
  std::filesystem::path socket_;
  std::unique_ptr<grpc::Server> server_;
};

// Reads the hello and answers it with masks of `mask_words` words.
inline v1::Hello Welcome(ServerStream& stream, std::uint32_t mask_words,
                         std::uint64_t max_step_bytes = 0) {
  v1::DecodeRequest request;
  stream.Read(&request);
  v1::DecodeResponse response;
  response.mutable_welcome()->set_protocol_version(1);
  response.mutable_welcome()->set_mask_words(mask_words);
  response.mutable_welcome()->mutable_limits()->set_max_step_bytes(max_step_bytes);
  stream.Write(response);
  return request.hello();
}

}  // namespace maskd::client

#endif  // MASKD_TESTS_CLIENT_SCRIPTED_SERVER_H_
