// gRPC names every peer inside the process "unknown", which is no proof of anything; so the calls
// say who they are, by 128 random bits of each start.
#include "service/ports/inside_calls.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include <grpcpp/client_context.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_interceptor.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "grammar_core/base/mutex.h"
#include "service/ports/cancel_inside_calls.h"

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

// The calls that run, for CancelInsideCalls().
class RunningCalls {
 public:
  static RunningCalls& Get() {
    static auto* const calls = new RunningCalls();
    return *calls;
  }

  void Add(grpc::ClientContext* call) {
    const MutexLock lock(&mutex_);
    calls_.insert(call);
  }
  void Remove(grpc::ClientContext* call) {
    const MutexLock lock(&mutex_);
    calls_.erase(call);
  }
  void CancelAll() {
    const MutexLock lock(&mutex_);
    for (grpc::ClientContext* const call : calls_) call->TryCancel();
  }

 private:
  Mutex mutex_;
  absl::flat_hash_set<grpc::ClientContext*> calls_ ABSL_GUARDED_BY(mutex_);
};

// Signs a call, and has it listed from its begin until its status is here, which is before its
// context goes.
class Signer final : public Interceptor {
 public:
  Signer(std::string secret, grpc::ClientContext* call) : secret_(std::move(secret)), call_(call) {
    RunningCalls::Get().Add(call_);
  }
  ~Signer() override { RunningCalls::Get().Remove(call_); }

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA))
      methods->GetSendInitialMetadata()->insert({kKey, secret_});
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_STATUS))
      RunningCalls::Get().Remove(call_);
    methods->Proceed();
  }

 private:
  const std::string secret_;
  grpc::ClientContext* const call_;
};

class SignerFactory final : public ClientInterceptorFactoryInterface {
 public:
  explicit SignerFactory(std::string secret) : secret_(std::move(secret)) {}
  Interceptor* CreateClientInterceptor(ClientRpcInfo* info) override {
    return new Signer(secret_, info->client_context());
  }

 private:
  const std::string secret_;
};

}  // namespace

void CancelInsideCalls() { RunningCalls::Get().CancelAll(); }

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
