// gRPC names every peer inside the process "unknown", which is no proof of anything; so the calls
// say who they are, by 128 random bits of each start.
#include "service/inside_calls.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_interceptor.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

namespace maskd::service {
namespace {

using grpc::experimental::ClientInterceptorFactoryInterface;
using grpc::experimental::ClientRpcInfo;
using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;

constexpr char kKey[] = "maskd-inside";
constexpr std::size_t kSecretBytes = 16;

// Empty where the system gives no randomness: then no call is known.
std::string DrawSecret() {
  std::array<unsigned char, kSecretBytes> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return "";
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

class Signer final : public Interceptor {
 public:
  explicit Signer(std::string secret) : secret_(std::move(secret)) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA))
      methods->GetSendInitialMetadata()->insert({kKey, secret_});
    methods->Proceed();
  }

 private:
  const std::string secret_;
};

class SignerFactory final : public ClientInterceptorFactoryInterface {
 public:
  explicit SignerFactory(std::string secret) : secret_(std::move(secret)) {}
  Interceptor* CreateClientInterceptor(ClientRpcInfo* /*info*/) override {
    return new Signer(secret_);
  }

 private:
  const std::string secret_;
};

}  // namespace

InsideCalls::InsideCalls() : secret_(DrawSecret()) {}

std::shared_ptr<grpc::Channel> InsideCalls::Connect(grpc::Server* server) const {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // replies are bounded by max_reply_bytes
  std::vector<std::unique_ptr<ClientInterceptorFactoryInterface>> signers;
  signers.push_back(std::make_unique<SignerFactory>(secret_));
  return server->experimental().InProcessChannelWithInterceptors(arguments, std::move(signers));
}

bool InsideCalls::Has(const grpc::ServerContextBase& context) const {
  const auto& all = context.client_metadata();
  const auto said = all.find(kKey);
  return said != all.end() && !secret_.empty() && said->second.size() == secret_.size() &&
         CRYPTO_memcmp(said->second.data(), secret_.data(), secret_.size()) == 0;
}

}  // namespace maskd::service
