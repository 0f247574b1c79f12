// The reader knows the whole message so far; a reply says what has come since the last one. kept_
// is the sizes of what was said, part by part, so what is unsaid are suffixes. A rollback below it
// makes a cut: the client takes its message back to kept_ and goes on from there.
//
// Invariant  kept_ is never more than the message has: it is lowered with every rollback.
#include "service/sequences/row_answer.h"

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"

namespace maskd::service {
namespace {

std::atomic<std::int64_t> live_answer_bytes = 0;

}  // namespace

absl::StatusOr<std::shared_ptr<const AnswerPlan>> AnswerPlanOf(const CompiledGrammar& grammar,
                                                               absl::string_view place) {
  if (grammar.source().kind != "chat") {
    return ErrorAt(absl::StatusCode::kFailedPrecondition, place, "NO_ANSWER",
                   absl::StrCat("a grammar of kind \"", grammar.source().kind,
                                "\" says nothing of answers, only \"chat\" does"));
  }
  Budget budget({.work = grammar.limits().compile_work});
  return AnswerPlan::Make(grammar.source(), &grammar.tokenizer().markers(), grammar.limits(),
                          budget);
}

absl::StatusOr<std::shared_ptr<const AnswerPlan>> AnswerPlans::Of(const CompiledGrammar& grammar,
                                                                  absl::string_view place) {
  const auto found = plans_.find(grammar.id());
  if (found != plans_.end()) {
    if (std::shared_ptr<const AnswerPlan> plan = found->second.lock(); plan != nullptr) return plan;
  }
  absl::StatusOr<std::shared_ptr<const AnswerPlan>> plan = AnswerPlanOf(grammar, place);
  if (!plan.ok()) return plan;
  // Plans are made seldom; those that no row has any more go with the next one that is made.
  absl::erase_if(plans_, [](const auto& entry) { return entry.second.expired(); });
  plans_[grammar.id()] = *plan;
  return plan;
}

std::int64_t RowAnswer::LiveBytes() { return live_answer_bytes.load(std::memory_order_relaxed); }

void RowAnswer::Held::Set(std::int64_t bytes) {
  const std::int64_t change = bytes - std::exchange(bytes_, bytes);
  if (change != 0) live_answer_bytes.fetch_add(change, std::memory_order_relaxed);
}

void RowAnswer::Measure() {
  held_.Set(static_cast<std::int64_t>(sizeof(*this)) + reader_.held_bytes());
}

void RowAnswer::Take(TokenId token, Role role) {
  switch (role) {
    case Role::kText:
      reader_.ReadToken(token);
      break;
    case Role::kEnd:
      reader_.End();
      break;
    case Role::kNone:
      reader_.ReadBytes("");  // an entry for the token, so that a rollback finds its place
      break;
  }
  Measure();
}

void RowAnswer::Rollback(std::size_t count) {
  reader_.Rollback(count);
  Measure();
  if (reader_.tokens() >= kept_tokens_) return;
  const MessageSize left = SizeOf(reader_.message());
  is_cut_ = is_cut_ || !(left == kept_);
  kept_ = left;
  kept_tokens_ = reader_.tokens();
}

AnswerDelta RowAnswer::Unsaid() const {
  const ChatMessage& message = reader_.message();
  AnswerDelta delta;
  if (is_cut_) delta.cut = kept_;
  delta.reasoning = message.reasoning.substr(kept_.reasoning);
  delta.content = message.content.substr(kept_.content);
  // The last call that was said may still be growing, so it is looked at again.
  const std::size_t first = kept_.calls == 0 ? 0 : kept_.calls - 1;
  for (std::size_t i = first; i < message.calls.size(); ++i) {
    const ChatCall& call = message.calls[i];
    const bool is_new = i >= kept_.calls;
    AnswerDelta::Call more = {.index = static_cast<int>(i),
                              .id = call.id.substr(is_new ? 0 : kept_.id),
                              .name = is_new ? call.name : "",
                              .arguments = call.arguments.substr(is_new ? 0 : kept_.arguments)};
    if (is_new || !more.id.empty() || !more.arguments.empty())
      delta.calls.push_back(std::move(more));
  }
  return delta;
}

std::int64_t RowAnswer::UnsaidBytes() const {
  constexpr std::size_t kCallBytes = 32;
  const ChatMessage& message = reader_.message();
  std::size_t bytes = message.reasoning.size() - kept_.reasoning + message.content.size() -
                      kept_.content + 2 * kCallBytes;
  for (std::size_t i = kept_.calls == 0 ? 0 : kept_.calls - 1; i < message.calls.size(); ++i) {
    const ChatCall& call = message.calls[i];
    bytes += call.id.size() + call.name.size() + call.arguments.size() + kCallBytes;
    if (i < kept_.calls) bytes -= kept_.arguments;
  }
  return static_cast<std::int64_t>(bytes);
}

void RowAnswer::SetSaid() {
  kept_ = SizeOf(reader_.message());
  kept_tokens_ = reader_.tokens();
  is_cut_ = false;
}

void RowAnswer::SetUnsaid() {
  kept_ = MessageSize();
  kept_tokens_ = 0;
  is_cut_ = true;
}

}  // namespace maskd::service
