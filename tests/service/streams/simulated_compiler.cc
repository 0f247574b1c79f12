#include "tests/service/streams/simulated_compiler.h"

#include <chrono>
#include <utility>

#include "grammar_core/base/error.h"
#include "grammar_core/compile/compiler.h"

namespace maskd::service {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// How long the store keeps an error.
constexpr seconds kErrorTime{60};

// The caller's own deadline of each compile.
constexpr seconds kDeadline{2};

}  // namespace

cache::CompileResult SimulatedCompiler::Compile(ParsedSource parsed, const std::string& id,
                                                std::shared_ptr<TokenizerSpace> tokenizer,
                                                const Limits& limits, Budget& budget) {
  if (absl::Status cancelled = budget.Spend(); !cancelled.ok()) return cancelled;
  const Clock::TimePoint now = world_->time->Now();
  Past& past = past_[id];
  CheckNeeded(past);
  past.end = now;
  if (now - begin_ > kDeadline) {
    past.cut_off = now;
    return CutOff();
  }
  cache::CompileResult result =
      CompileParsed(std::move(parsed), id, std::move(tokenizer), limits, budget);
  past.succeeded |= result.ok();
  if (!result.ok()) past.error_kept_until = now + kErrorTime;
  const bool forgets = world_->fault == Fault::kErrorNotKept && !result.ok();
  return forgets ? absl::UnavailableError(result.status().message()) : std::move(result);
}

void SimulatedCompiler::BeginWaiting() {
  while (running_.size() < at_once_) {
    std::function<void()> compile = world_->grammars->TakeCompile();
    if (compile == nullptr) return;
    const int number = next_++;
    running_.emplace(number, std::move(compile));
    world_->time->After(AnyDuration(),
                        [this, number, begin = world_->time->Now()] { End(number, begin); });
  }
}

bool SimulatedCompiler::IsIdle() {
  BeginWaiting();
  return running_.empty();
}

bool SimulatedCompiler::WasCutOffSince(const std::string& id, Clock::TimePoint since) const {
  const auto past = past_.find(id);
  return past != past_.end() && past->second.cut_off >= since;
}

// Most take less than steps wait, some more, a few longer than they may.
Clock::Duration SimulatedCompiler::AnyDuration() {
  if (world_->Chance(100)) return seconds(15);
  if (world_->Chance(40)) return milliseconds(2'500);
  return microseconds(world_->random() % (world_->Chance(2) ? 1'000 : 100'000));
}

void SimulatedCompiler::End(int number, Clock::TimePoint begin) {
  const auto compile = running_.extract(number);
  if (compile.empty()) return;
  begin_ = begin;
  last_end_ = world_->time->Now();
  compile.mapped()();
}

void SimulatedCompiler::CheckNeeded(const Past& past) {
  if (begin_ < past.end) wrong_ = "two compiles of a grammar at a time";
  if (begin_ < past.error_kept_until) wrong_ = "an error that is known is compiled again";
  if (past.succeeded && keeps_all_) wrong_ = "a grammar that is kept is compiled again";
}

absl::Status SimulatedCompiler::CutOff() const {
  absl::Status error =
      ErrorAt(absl::StatusCode::kDeadlineExceeded, "", "DEADLINE", "the deadline passed");
  const bool lasts = world_->fault == Fault::kTimeoutKept;
  return lasts ? absl::InvalidArgumentError(error.message()) : error;
}

}  // namespace maskd::service
