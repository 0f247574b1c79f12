// TokenizerService of maskd/v1: what the server has loaded.
//
// Threads  any number of calls at once.
#ifndef MASKD_SERVICE_CALLS_TOKENIZER_SERVICE_H_
#define MASKD_SERVICE_CALLS_TOKENIZER_SERVICE_H_

#include "absl/status/status.h"

#include "maskd/v1/tokenizer_service.pb.h"
#include "service/calls/unary_calls.h"
#include "service/grammars/tokenizer_shelf.h"

namespace maskd::service {

// TokenizerService of maskd/v1 over gRPC.
class TokenizerService {
 public:
  // Nothing is owned.
  explicit TokenizerService(const TokenizerShelf* tokenizers) : tokenizers_(tokenizers) {}

  // Adds its methods. This must outlive their calls.
  void AddTo(UnaryCalls* calls);

 private:
  absl::Status GetTokenizer(const v1::GetTokenizerRequest& request,
                            v1::GetTokenizerResponse* response) const;
  absl::Status ListTokenizers(const v1::ListTokenizersRequest& request,
                              v1::ListTokenizersResponse* response) const;
  absl::Status ListTokens(const v1::ListTokensRequest& request, CallView& call,
                          v1::ListTokensResponse* response) const;

  const TokenizerShelf* const tokenizers_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_TOKENIZER_SERVICE_H_
