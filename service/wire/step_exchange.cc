// Between the bytes and the session: reads, times, counts, writes. Every part that allocates for a
// client is run under OrOutOfMemory(), so that what one step asks for ends its own stream and not
// the process.
//
// Order    Begin(), AnswerSome() as often as wanted, Finish(), LookAhead(). A step that brings a
//          grammar's text is only read by Begin(): parsing it may take long, and Finish() is called
//          on a thread that may.
// Invariant  an error of memory in AnswerSome() is kept and said by Finish(), so that the stream
//            ends from one place.
#include "service/wire/step_exchange.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "grammar_core/base/memory_reserve.h"
#include "service/wire/step_reader.h"

namespace maskd::service {
namespace {

// Whether reading the step's grammars may take long.
bool BringsText(const StepRequest& step) {
  return std::ranges::any_of(step.opens,
                             [](const RowToOpen& open) { return open.target.source.has_value(); });
}

}  // namespace

StepExchange::StepExchange(const StreamHost& host, const StreamTerms& terms)
    : tokenizers_(terms.tokenizers),
      metrics_(host.metrics),
      figures_(terms.figures),
      clock_(&host.grammars->clock()),
      mask_words_(terms.mask_words),
      max_named_rows_(static_cast<std::size_t>(host.limits.max_named_rows)),
      session_(terms.tokenizer, host.grammars, host.limits, terms.forms, host.metrics,
               terms.caller) {
  session_.ReportTo(figures_.get());
  session_.HelpedBy(host.mask_makers, host.streams);
}

absl::Status StepExchange::Begin(absl::string_view bytes, std::optional<Clock::Duration> turn) {
  return OrOutOfMemory([&] { return DoBegin(bytes, turn); });
}

bool StepExchange::AnswerSome(NewMasks new_masks) {
  bool are_all = true;
  out_of_memory_ = OrOutOfMemory([&] {
    are_all = session_.AnswerSome(step_, new_masks, turn_end_);
    return absl::OkStatus();
  });
  return are_all;
}

absl::StatusOr<absl::string_view> StepExchange::Finish(const std::function<bool()>& is_cancelled) {
  if (!out_of_memory_.ok()) return out_of_memory_;
  return OrOutOfMemory([&] { return DoFinish(is_cancelled); });
}

void StepExchange::LookAhead() {
  // First the reply's memory, then the look ahead: a large reply should not outlive its sending.
  writer_.Release();
  (void)OrOutOfMemory([&] {
    session_.LookAhead();
    return absl::OkStatus();
  });
}

absl::Status StepExchange::DoBegin(absl::string_view bytes, std::optional<Clock::Duration> turn) {
  begin_ = clock_->Now();
  turn_end_ = turn.has_value() ? begin_ + *turn : StreamSession::kNoEnd;
  received_ = bytes.size();
  if (figures_ != nullptr) figures_->StepBegan(transport_, begin_);
  if (!std::exchange(has_begun_, true) && metrics_ != nullptr) metrics_->StreamBegan(transport_);
  if (absl::Status read = ReadStep(bytes, max_named_rows_, &step_); !read.ok()) return read;
  read_end_ = apply_end_ = clock_->Now();
  brings_text_ = BringsText(step_);
  if (brings_text_) return absl::OkStatus();
  absl::Status begun = session_.Begin(step_, turn_end_);
  apply_end_ = clock_->Now();
  return begun;
}

absl::StatusOr<absl::string_view> StepExchange::DoFinish(
    const std::function<bool()>& is_cancelled) {
  if (std::exchange(brings_text_, false)) {
    if (absl::Status begun = session_.Begin(step_); !begun.ok()) return begun;
    apply_end_ = clock_->Now();
  }
  const absl::StatusOr<const StepResult*> result = session_.Finish(step_, is_cancelled);
  if (!result.ok()) return result.status();
  const Clock::TimePoint masks_end = clock_->Now();
  const absl::string_view reply = writer_.Write(**result, mask_words_);
  // A stream opens its rows once, and may open many at a time; `= {}` would keep their memory.
  step_.opens = std::vector<RowToOpen>();
  const Clock::TimePoint end = clock_->Now();
  // What a row waited for its compile is the compile's time, not the step's.
  const std::chrono::duration<double> waited((*result)->waited_seconds);
  const Clock::Duration taken = end - begin_ - std::chrono::duration_cast<Clock::Duration>(waited);
  if (figures_ != nullptr) figures_->StepDone(end, taken, received_, reply.size());
  if (metrics_ != nullptr) Count(**result, reply.size(), masks_end, end);
  return reply;
}

void StepExchange::Count(const StepResult& result, std::size_t sent, Clock::TimePoint masks_end,
                         Clock::TimePoint end) {
  const auto seconds = [](Clock::Duration time) {
    return std::chrono::duration<double>(time).count();
  };
  metrics_->StepDone(seconds(end - begin_) - result.waited_seconds);
  metrics_->StepSpent({.read = seconds(read_end_ - begin_),
                       .apply = seconds(apply_end_ - read_end_),
                       .masks = seconds(masks_end - apply_end_) - result.waited_seconds,
                       .write = seconds(end - masks_end)});
  metrics_->StepBytes(transport_, received_, sent);
}

}  // namespace maskd::service
