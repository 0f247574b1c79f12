#include "service/mask_service.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/mutex.h"
#include "service/errors.h"
#include "service/log.h"
#include "service/request_reader.h"
#include "service/response_writer.h"
#include "service/status_map.h"
#include "service/stream_session.h"

namespace maskd::service {
namespace {

using Stream = grpc::ServerReaderWriter<v1::DecodeResponse, v1::DecodeRequest>;

StreamLimits LimitsOf(const Config& config) {
  StreamLimits limits;
  limits.max_rows = static_cast<int>(config.max_rows);
  limits.max_row_tokens = static_cast<int>(config.max_row_tokens);
  limits.max_step_bytes = config.max_message_bytes;
  limits.max_wait_ms = config.max_wait_for_compile_ms;
  return limits;
}

absl::Status CheckTokenizer(const Hello& hello, const Vocabulary& vocabulary) {
  if (!hello.tokenizer_hash.empty() && hello.tokenizer_hash != vocabulary.hash()) {
    return ErrorAt(absl::StatusCode::kFailedPrecondition, "hello.tokenizer_hash",
                   "TOKENIZER_DIFFERS",
                   absl::StrCat("the server's tokenizer has hash ", vocabulary.hash()));
  }
  if (hello.logits_width < vocabulary.size()) {
    return ErrorAt(
        absl::StatusCode::kInvalidArgument, "hello.logits_width", "WIDTH_BELOW_VOCABULARY",
        absl::StrCat(hello.logits_width, " is below the tokenizer's size, ", vocabulary.size()));
  }
  return absl::OkStatus();
}

// What is used of a client's offer.
FormTerms UsedForms(FormTerms offer, int mask_words, const StreamLimits& limits) {
  const std::int64_t mask_bytes = mask_words * std::int64_t{sizeof(std::int32_t)};
  const std::int64_t room = limits.max_dictionary_bytes / mask_bytes;
  offer.dictionary_size = static_cast<int>(std::min<std::int64_t>(offer.dictionary_size, room));
  if (offer.dictionary_size == 0) {
    offer.same_as = offer.delta = false;
  }
  if (!offer.same_as && !offer.delta) {
    offer.dictionary_size = 0;
  }
  return offer;
}

// Adds one to a gauge for its own lifetime.
class OpenStreamCount {
 public:
  explicit OpenStreamCount(metrics::Metrics* metrics) : metrics_(metrics) {
    metrics_->StreamsOpenChanged(1);
  }
  OpenStreamCount(const OpenStreamCount&) = delete;
  OpenStreamCount& operator=(const OpenStreamCount&) = delete;
  ~OpenStreamCount() { metrics_->StreamsOpenChanged(-1); }

 private:
  metrics::Metrics* const metrics_;
};

}  // namespace

// One message at a time: the stream's replies and the going-away notice come from two threads.
class MaskService::Writer {
 public:
  explicit Writer(Stream* stream) : stream_(stream) {}

  // False when the stream is broken.
  bool Write(const v1::DecodeResponse& response) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(&mutex_);
    return stream_->Write(response);
  }

  void TellGoingAway(std::int64_t deadline_ms) ABSL_LOCKS_EXCLUDED(mutex_) {
    v1::DecodeResponse response;
    response.mutable_go_away()->set_reason("draining");
    response.mutable_go_away()->set_deadline_ms(static_cast<std::uint32_t>(deadline_ms));
    Write(response);
  }

 private:
  Mutex mutex_;
  Stream* const stream_ ABSL_PT_GUARDED_BY(mutex_);
};

MaskService::MaskService(const Config& config, const TokenizerStore* tokenizers,
                         GrammarStore* grammars, metrics::Metrics* metrics)
    : limits_(LimitsOf(config)),
      drain_ms_(config.drain_ms),
      tokenizers_(tokenizers),
      grammars_(grammars),
      metrics_(metrics),
      streams_(static_cast<int>(config.max_streams)) {}

grpc::Status MaskService::Decode(grpc::ServerContext* context, Stream* stream) {
  const absl::Status status = Serve(context, stream);
  if (!status.ok()) {
    const std::string code = absl::StatusCodeToString(status.code());
    metrics_->Refused(code);
    LogEvent("stream_failed", {{"code", code}, {"reason", WireReason(status)}});
  }
  return ToGrpcStatus(status);
}

absl::Status MaskService::Serve(grpc::ServerContext* context, Stream* stream) {
  Writer writer(stream);
  const absl::StatusOr<StreamRegistry::Registration> registration =
      streams_.Add([this, &writer] { writer.TellGoingAway(drain_ms_); });
  if (!registration.ok()) {
    return registration.status();
  }
  const OpenStreamCount count(metrics_);
  v1::DecodeRequest request;
  if (!stream->Read(&request)) {
    return BadField("hello", "the stream ended before its Hello");
  }
  const absl::StatusOr<Terms> terms = Greet(request);
  if (!terms.ok()) {
    return terms.status();
  }
  v1::DecodeResponse welcome;
  WriteWelcome(*terms->tokenizer, terms->mask_words, limits_, terms->forms,
               welcome.mutable_welcome());
  if (!writer.Write(welcome)) {
    return absl::CancelledError("the stream broke");
  }
  return ServeSteps(*terms, context, stream, &writer);
}

absl::StatusOr<MaskService::Terms> MaskService::Greet(const v1::DecodeRequest& request) const {
  const absl::StatusOr<Hello> hello = ReadHello(request);
  if (!hello.ok()) {
    return hello.status();
  }
  const absl::StatusOr<const LoadedTokenizer*> tokenizer = tokenizers_->Find(hello->tokenizer);
  if (!tokenizer.ok()) {
    return tokenizer.status();
  }
  if (absl::Status checked = CheckTokenizer(*hello, (*tokenizer)->vocabulary()); !checked.ok()) {
    return checked;
  }
  const int mask_words = MaskWordCount(hello->logits_width);
  return Terms{*tokenizer, mask_words, UsedForms(hello->forms, mask_words, limits_)};
}

absl::Status MaskService::ServeSteps(const Terms& terms, grpc::ServerContext* context,
                                     Stream* stream, Writer* writer) {
  StreamSession session(terms.tokenizer, grammars_, limits_, terms.forms, metrics_);
  const auto is_cancelled = [context] { return context->IsCancelled(); };
  v1::DecodeRequest request;
  v1::DecodeResponse response;
  while (stream->Read(&request)) {
    const auto begin = std::chrono::steady_clock::now();
    const absl::StatusOr<StepRequest> step = ReadStep(request);
    if (!step.ok()) {
      return step.status();
    }
    const absl::StatusOr<const StepResult*> result = session.Step(*step, is_cancelled);
    if (!result.ok()) {
      return result.status();
    }
    response.mutable_step()->Clear();
    WriteStep(**result, terms.mask_words, response.mutable_step());
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    metrics_->StepDone(taken.count() - (*result)->waited_seconds);
    if (!writer->Write(response)) {
      break;
    }
  }
  return context->IsCancelled() ? absl::CancelledError("the stream was cancelled")
                                : absl::OkStatus();
}

}  // namespace maskd::service
