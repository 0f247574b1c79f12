// A step's bytes in, its reply's bytes out: what a Decode stream does, whatever carries the bytes.
//
//   if (exchange.Begin(bytes).ok()) reply = exchange.Finish(is_cancelled);  // send it, and then
//   exchange.LookAhead();
//
// Errors   each ends the stream: those of step_reader.h and of stream_session.h, and
//          RESOURCE_EXHAUSTED where a step ran out of memory outside of a row's own work.
// Threads  one thread at a time.
#ifndef MASKD_SERVICE_WIRE_STEP_EXCHANGE_H_
#define MASKD_SERVICE_WIRE_STEP_EXCHANGE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/clock.h"
#include "metrics/registry.h"
#include "service/sequences/stream_types.h"
#include "service/streams/stream_figures.h"
#include "service/streams/stream_host.h"
#include "service/streams/stream_session.h"
#include "service/streams/stream_terms.h"
#include "service/wire/reply_writer.h"

namespace maskd::service {

// The steps of one stream, one at a time.
class StepExchange {
 public:
  // It takes the host's limits, grammars and metrics, which may be null.
  StepExchange(const StreamHost& host, const StreamTerms& terms);

  // Says what carries the bytes; counted with the first step. kGrpc until then.
  void TravelBy(metrics::Transport transport) { transport_ = transport; }

  // Reads the step and, unless takes_long(), applies it, as far as it gets within `turn`, if there
  // is one. Never waits.
  absl::Status Begin(absl::string_view bytes, std::optional<Clock::Duration> turn = std::nullopt);
  // Whether Finish() may wait for a compile or read grammars.
  [[nodiscard]] bool takes_long() const { return brings_text_ || session_.waits(); }
  // Whether the step was not done within its turn.
  [[nodiscard]] bool put_off() const { return session_.put_off(); }
  // Between the two, unless takes_long() or put_off(): see StreamSession. False: Finish() has
  // masks to make, or the turn is over.
  bool AnswerSome(NewMasks new_masks);
  // The reply's bytes, until the next call or LookAhead().
  absl::StatusOr<absl::string_view> Finish(const std::function<bool()>& is_cancelled);

  // See StreamSession. Ends the life of the reply's bytes.
  void LookAhead();

 private:
  absl::Status DoBegin(absl::string_view bytes, std::optional<Clock::Duration> turn);
  absl::StatusOr<absl::string_view> DoFinish(const std::function<bool()>& is_cancelled);
  // The reply is there; the masks were, at `masks_end`.
  void Count(const StepResult& result, std::size_t sent, Clock::TimePoint masks_end,
             Clock::TimePoint end);

  const TokenizerStorePtr tokenizers_;  // what the session uses is of those
  metrics::Metrics* const metrics_;
  const std::shared_ptr<StreamFigures> figures_;  // may be null
  Clock* const clock_;
  const int mask_words_;
  const std::size_t max_named_rows_;
  metrics::Transport transport_ = metrics::Transport::kGrpc;
  StreamSession session_;
  StepRequest step_;
  Clock::TimePoint begin_;
  Clock::TimePoint read_end_;   // of the message
  Clock::TimePoint apply_end_;  // of what Begin() does
  Clock::TimePoint turn_end_;
  std::size_t received_ = 0;  // bytes of the step
  bool brings_text_ = false;
  bool has_begun_ = false;      // the stream has had a step
  absl::Status out_of_memory_;  // of the step's first half
  ReplyWriter writer_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_WIRE_STEP_EXCHANGE_H_
