// What a stream's Hello asked for and the server agrees to.
//
// Threads  no state.
#ifndef MASKD_SERVICE_STREAMS_STREAM_TERMS_H_
#define MASKD_SERVICE_STREAMS_STREAM_TERMS_H_

#include <memory>

#include "absl/status/statusor.h"

#include "service/callers/caller.h"
#include "service/config/config.h"
#include "service/grammars/tokenizer_shelf.h"
#include "service/sequences/stream_types.h"
#include "service/streams/stream_figures.h"

namespace maskd::service {

// What client and server have agreed on for one stream.
struct StreamTerms {
  TokenizerStorePtr tokenizers;
  const LoadedTokenizer* tokenizer = nullptr;  // of those
  int mask_words = 0;
  FormTerms forms;  // those in use
  Caller caller;
  std::shared_ptr<StreamFigures> figures;  // null: nobody reads them
};

// Errors: NOT_FOUND (no such tokenizer), FAILED_PRECONDITION (another hash), INVALID_ARGUMENT (a
// width below the vocabulary, or far above it).
absl::StatusOr<StreamTerms> AgreeOnTerms(const Hello& hello, TokenizerStorePtr tokenizers,
                                         const StreamLimits& limits);

// The bounds of every stream.
StreamLimits LimitsOf(const Config& config);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_STREAMS_STREAM_TERMS_H_
