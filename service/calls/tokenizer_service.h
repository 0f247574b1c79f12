// TokenizerService of maskd/v1: what the server has loaded.
//
// Threads  any number of calls at once.
#ifndef MASKD_SERVICE_CALLS_TOKENIZER_SERVICE_H_
#define MASKD_SERVICE_CALLS_TOKENIZER_SERVICE_H_

#include "absl/status/status.h"
#include <grpcpp/server_context.h>

#include "maskd/v1/tokenizer_service.grpc.pb.h"
#include "service/calls/unary_calls.h"
#include "service/grammars/tokenizer_shelf.h"

namespace maskd::service {

// TokenizerService of maskd/v1 over gRPC.
class TokenizerService final : public v1::TokenizerService::StreamedUnaryService {
 public:
  // Nothing is owned.
  TokenizerService(const TokenizerShelf* tokenizers, UnaryCalls* calls)
      : tokenizers_(tokenizers), calls_(calls) {}

  template <typename Request, typename Response>
  using Call = grpc::ServerUnaryStreamer<Request, Response>;

  // gRPC calls these, on its own threads.
  grpc::Status StreamedListTokenizers(
      grpc::ServerContext* context,
      Call<v1::ListTokenizersRequest, v1::ListTokenizersResponse>* call) override;
  grpc::Status StreamedGetTokenizer(
      grpc::ServerContext* context,
      Call<v1::GetTokenizerRequest, v1::GetTokenizerResponse>* call) override;
  grpc::Status StreamedListTokens(
      grpc::ServerContext* context,
      Call<v1::ListTokensRequest, v1::ListTokensResponse>* call) override;

 private:
  absl::Status DoGetTokenizer(const v1::GetTokenizerRequest& request,
                              v1::GetTokenizerResponse* response) const;
  absl::Status DoListTokenizers(const v1::ListTokenizersRequest& request,
                                v1::ListTokenizersResponse* response) const;
  absl::Status DoListTokens(const v1::ListTokensRequest& request,
                            const grpc::ServerContext* context,
                            v1::ListTokensResponse* response) const;

  const TokenizerShelf* const tokenizers_;
  UnaryCalls* const calls_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_TOKENIZER_SERVICE_H_
