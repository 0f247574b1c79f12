// CompileService of maskd/v1: Compile, Check, Explain.
//
// Waiting  a call waits for its compile on its own thread and looks for its cancellation every few
//          milliseconds; leaving cancels the compile when nobody else waits for it.
// Threads  any number of calls at once.
#ifndef MASKD_SERVICE_COMPILE_SERVICE_H_
#define MASKD_SERVICE_COMPILE_SERVICE_H_

#include "absl/status/status.h"
#include <grpcpp/server_context.h>

#include "maskd/v1/compile_service.grpc.pb.h"
#include "metrics/registry.h"
#include "service/grammar_store.h"
#include "service/tokenizer_store.h"

namespace maskd::service {

class CompileService final : public v1::CompileService::Service {
 public:
  // Nothing is owned.
  CompileService(const TokenizerStore* tokenizers, GrammarStore* grammars,
                 metrics::Metrics* metrics)
      : tokenizers_(tokenizers), grammars_(grammars), metrics_(metrics) {}

  grpc::Status Compile(grpc::ServerContext* context, const v1::CompileRequest* request,
                       v1::CompileResponse* response) override;
  grpc::Status Check(grpc::ServerContext* context, const v1::CheckRequest* request,
                     v1::CheckResponse* response) override;
  grpc::Status Explain(grpc::ServerContext* context, const v1::ExplainRequest* request,
                       v1::ExplainResponse* response) override;

 private:
  // A compiled grammar and how it came.
  struct Compiled {
    const LoadedTokenizer* tokenizer;
    cache::GrammarPtr grammar;
    bool from_cache;
  };

  template <typename Request>
  absl::StatusOr<Compiled> Get(const Request& request, grpc::ServerContext* context);
  absl::Status DoCompile(const v1::CompileRequest& request, grpc::ServerContext* context,
                         v1::CompileResponse* response);
  absl::Status DoCheck(const v1::CheckRequest& request, grpc::ServerContext* context,
                       v1::CheckResponse* response);
  absl::Status DoExplain(const v1::ExplainRequest& request, grpc::ServerContext* context,
                         v1::ExplainResponse* response);
  grpc::Status End(const absl::Status& status) const;

  const TokenizerStore* const tokenizers_;
  GrammarStore* const grammars_;
  metrics::Metrics* const metrics_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_COMPILE_SERVICE_H_
