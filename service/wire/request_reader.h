// Requests of the wire as the service's own values; all validation of requests is here.
//
// Errors   INVALID_ARGUMENT at a field, UNIMPLEMENTED at a field that this server does not act on
//          or does not know. What is wrong with one row becomes that row's `refusal`.
// Threads  no state.
#ifndef MASKD_SERVICE_WIRE_REQUEST_READER_H_
#define MASKD_SERVICE_WIRE_REQUEST_READER_H_

#include "absl/status/statusor.h"

#include "grammar_core/frontend/grammar_source.h"
#include "maskd/v1/compile_service.pb.h"
#include "maskd/v1/grammar.pb.h"
#include "maskd/v1/mask_service.pb.h"
#include "service/sequences/stream_types.h"

namespace maskd::service {

// `spelling`: that of JSON where the options do not say.
absl::StatusOr<GrammarSource> ReadGrammarMessage(const v1::Grammar& grammar,
                                                 JsonSpelling spelling = JsonSpelling::kCanonical);

// The grammar that a request names.
absl::StatusOr<GrammarTarget> ReadTarget(const v1::CompileRequest& request);
absl::StatusOr<GrammarTarget> ReadTarget(const v1::CheckRequest& request);
absl::StatusOr<GrammarTarget> ReadTarget(const v1::ExplainRequest& request);

// The first message of a stream.
absl::StatusOr<Hello> ReadHello(const v1::DecodeRequest& request);

// A later one, into `step`, whose memory is used again.
absl::Status ReadStep(const v1::DecodeRequest& request, StepRequest* step);

// Its parts, into values whose memory is used again.
void ReadMove(const v1::RowUpdate& wire, RowToMove* move);
void ReadOpen(const v1::OpenRow& wire, RowToOpen* open);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_WIRE_REQUEST_READER_H_
