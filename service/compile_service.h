// CompileService of maskd/v1: Compile, Check, Explain.
//
// Waiting  a call sleeps on its own thread until its compile is there. gRPC tells such a call of
//          its caller's leaving when it asks: all that wait ask kLooksPerSecond times together, so
//          that they take no processor from what they wait for. Leaving cancels the compile when
//          nobody else waits for it.
// Threads  any number of calls at once.
#ifndef MASKD_SERVICE_COMPILE_SERVICE_H_
#define MASKD_SERVICE_COMPILE_SERVICE_H_

#include <atomic>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include <grpcpp/server_context.h>

#include "maskd/v1/compile_service.grpc.pb.h"
#include "metrics/registry.h"
#include "service/caller.h"
#include "service/grammar_store.h"
#include "service/tokenizer_shelf.h"
#include "service/unary_calls.h"

namespace maskd::service {

class CompileService final : public v1::CompileService::StreamedUnaryService {
 public:
  // Nothing is owned.
  CompileService(const TokenizerShelf* tokenizers, GrammarStore* grammars, UnaryCalls* calls,
                 metrics::Metrics* metrics)
      : tokenizers_(tokenizers), grammars_(grammars), calls_(calls), metrics_(metrics) {}

  static constexpr int kLooksPerSecond = 1'000;

  template <typename Request, typename Response>
  using Call = grpc::ServerUnaryStreamer<Request, Response>;

  grpc::Status StreamedCompile(grpc::ServerContext* context,
                               Call<v1::CompileRequest, v1::CompileResponse>* call) override;
  grpc::Status StreamedCheck(grpc::ServerContext* context,
                             Call<v1::CheckRequest, v1::CheckResponse>* call) override;
  grpc::Status StreamedExplain(grpc::ServerContext* context,
                               Call<v1::ExplainRequest, v1::ExplainResponse>* call) override;

 private:
  // A compiled grammar and how it came.
  struct Compiled {
    TokenizerStorePtr tokenizers;
    const LoadedTokenizer* tokenizer;  // of those
    cache::GrammarPtr grammar;
    bool from_cache;
  };

  cache::CompileResult Await(const cache::Ticket& ticket, const grpc::ServerContext& context);
  template <typename Request>
  absl::StatusOr<Compiled> Get(const Request& request, const Caller& caller,
                               grpc::ServerContext* context);
  absl::Status DoCompile(const v1::CompileRequest& request, const Caller& caller,
                         grpc::ServerContext* context, v1::CompileResponse* response);
  absl::Status DoCheck(const v1::CheckRequest& request, const Caller& caller,
                       grpc::ServerContext* context, v1::CheckResponse* response);
  absl::Status DoExplain(const v1::ExplainRequest& request, const Caller& caller,
                         grpc::ServerContext* context, v1::ExplainResponse* response);
  // Ends a call with its reply, unless it does not fit among those that nobody has read.
  grpc::Status End(absl::Status status, const grpc::ServerContext* context,
                   google::protobuf::Message* response) const;

  const TokenizerShelf* const tokenizers_;
  GrammarStore* const grammars_;
  UnaryCalls* const calls_;
  metrics::Metrics* const metrics_;
  std::atomic<int> waiting_ = 0;  // calls, for their compiles
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_COMPILE_SERVICE_H_
