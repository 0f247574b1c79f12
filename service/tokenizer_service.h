// TokenizerService of maskd/v1: what the server has loaded.
//
// Threads  any number of calls at once; nothing changes.
#ifndef MASKD_SERVICE_TOKENIZER_SERVICE_H_
#define MASKD_SERVICE_TOKENIZER_SERVICE_H_

#include "absl/status/status.h"
#include <grpcpp/server_context.h>

#include "maskd/v1/tokenizer_service.grpc.pb.h"
#include "service/tokenizer_store.h"

namespace maskd::service {

class TokenizerService final : public v1::TokenizerService::Service {
 public:
  explicit TokenizerService(const TokenizerStore* tokenizers) : tokenizers_(tokenizers) {}

  grpc::Status ListTokenizers(grpc::ServerContext* context,
                              const v1::ListTokenizersRequest* request,
                              v1::ListTokenizersResponse* response) override;
  grpc::Status GetTokenizer(grpc::ServerContext* context, const v1::GetTokenizerRequest* request,
                            v1::GetTokenizerResponse* response) override;
  grpc::Status ListTokens(grpc::ServerContext* context, const v1::ListTokensRequest* request,
                          v1::ListTokensResponse* response) override;

 private:
  absl::Status DoListTokenizers(const v1::ListTokenizersRequest& request,
                                v1::ListTokenizersResponse* response) const;
  absl::Status DoListTokens(const v1::ListTokensRequest& request,
                            v1::ListTokensResponse* response) const;

  const TokenizerStore* const tokenizers_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_TOKENIZER_SERVICE_H_
