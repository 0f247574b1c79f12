// CompileService of maskd/v1: Compile, Check, Explain.
//
// Threads  any number of calls at once.
#ifndef MASKD_SERVICE_CALLS_COMPILE_SERVICE_H_
#define MASKD_SERVICE_CALLS_COMPILE_SERVICE_H_

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include <grpcpp/server_context.h>

#include "maskd/v1/compile_service.grpc.pb.h"
#include "service/calls/unary_calls.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_shelf.h"
#include "service/wire/compile_calls.h"

namespace maskd::service {

// CompileService of maskd/v1 over gRPC.
class CompileService final : public v1::CompileService::StreamedUnaryService {
 public:
  // Nothing is owned.
  CompileService(const TokenizerShelf* tokenizers, GrammarStore* grammars, UnaryCalls* calls)
      : work_(tokenizers, grammars), calls_(calls) {}

  template <typename Request, typename Response>
  using Call = grpc::ServerUnaryStreamer<Request, Response>;

  // gRPC calls these, on its own threads.
  grpc::Status StreamedCompile(grpc::ServerContext* context,
                               Call<v1::CompileRequest, v1::CompileResponse>* call) override;
  grpc::Status StreamedCheck(grpc::ServerContext* context,
                             Call<v1::CheckRequest, v1::CheckResponse>* call) override;
  grpc::Status StreamedExplain(grpc::ServerContext* context,
                               Call<v1::ExplainRequest, v1::ExplainResponse>* call) override;

 private:
  // Ends a call with its reply, unless it does not fit among those that nobody has read.
  absl::Status End(absl::Status status, const grpc::ServerContext* context,
                   google::protobuf::Message* response) const;

  CompileCalls work_;
  UnaryCalls* const calls_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_COMPILE_SERVICE_H_
