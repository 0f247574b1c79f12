// MaskService of maskd/v1: reads a stream's messages, has its StreamSession answer them, writes.
//
// Threads  one thread of gRPC's for each open stream; the going-away notice is written by another.
#ifndef MASKD_SERVICE_MASK_SERVICE_H_
#define MASKD_SERVICE_MASK_SERVICE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include "maskd/v1/mask_service.grpc.pb.h"
#include "metrics/registry.h"
#include "service/config.h"
#include "service/grammar_store.h"
#include "service/stream_registry.h"
#include "service/stream_types.h"
#include "service/tokenizer_store.h"

namespace maskd::service {

class MaskService final : public v1::MaskService::Service {
 public:
  // Nothing is owned.
  MaskService(const Config& config, const TokenizerStore* tokenizers, GrammarStore* grammars,
              metrics::Metrics* metrics);

  grpc::Status Decode(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::DecodeResponse, v1::DecodeRequest>* stream) override;

  // Refuses new streams and tells the open ones to go away.
  void Drain() { streams_.Drain(); }

 private:
  class Writer;

  // The terms that a stream's Hello asked for.
  struct Terms {
    const LoadedTokenizer* tokenizer;
    int mask_words;
    FormTerms forms;
  };

  absl::Status Serve(grpc::ServerContext* context,
                     grpc::ServerReaderWriter<v1::DecodeResponse, v1::DecodeRequest>* stream);
  absl::StatusOr<Terms> Greet(const v1::DecodeRequest& request) const;
  absl::Status ServeSteps(const Terms& terms, grpc::ServerContext* context,
                          grpc::ServerReaderWriter<v1::DecodeResponse, v1::DecodeRequest>* stream,
                          Writer* writer);

  const StreamLimits limits_;
  const std::int64_t drain_ms_;
  const TokenizerStore* const tokenizers_;
  GrammarStore* const grammars_;
  metrics::Metrics* const metrics_;
  StreamRegistry streams_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_MASK_SERVICE_H_
