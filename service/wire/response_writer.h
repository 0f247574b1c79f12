// The service's own values as messages of the wire.
//
// Layout   a dense mask is written as its words' bytes, least significant byte first, padded with
//          zero words up to the stream's width.
// Threads  no state.
#ifndef MASKD_SERVICE_WIRE_RESPONSE_WRITER_H_
#define MASKD_SERVICE_WIRE_RESPONSE_WRITER_H_

#include <string>

#include "grammar_core/compile/compiled_grammar.h"
#include "maskd/v1/compile_service.pb.h"
#include "maskd/v1/grammar.pb.h"
#include "maskd/v1/mask_service.pb.h"
#include "maskd/v1/tokenizer_service.pb.h"
#include "service/grammars/tokenizer_store.h"
#include "service/sequences/checker.h"
#include "service/sequences/stream_types.h"

namespace maskd::service {

inline constexpr int kProtocolVersion = 1;

// Each fills an empty message, or appends to one where it says so.
void WriteTokenizer(const LoadedTokenizer& tokenizer, v1::Tokenizer* out);
// The tokens [begin, end), and where the next page begins if there is one.
void WriteTokens(const Vocabulary& vocabulary, TokenId begin, TokenId end,
                 v1::ListTokensResponse* response);
void WriteCosts(const GrammarCosts& costs, v1::GrammarCosts* out);
void WriteWarning(const Diagnostic& warning, v1::Diagnostic* out);
void WriteCheck(const CheckOutcome& outcome, const Vocabulary& vocabulary, v1::CheckResponse* out);

// The parts of a Decode stream's messages.
void WriteWelcome(const LoadedTokenizer& tokenizer, int mask_words, const StreamLimits& limits,
                  const FormTerms& forms, v1::Welcome* out);
void WriteRow(const RowResult& row, int mask_words, v1::RowReply* out);
void WriteSnapshot(const RowSnapshot& snapshot, v1::OpenRow* out);
v1::RowState WireState(RowState state);

// `mask` in `mask_words` words, at least as many as it has.
void WriteDense(const TokenMask& mask, int mask_words, std::string* out);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_WIRE_RESPONSE_WRITER_H_
