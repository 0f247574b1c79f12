// Compile, Check and Explain are one walk with three ends: find the tokenizer, read the target,
// have it compiled or found, and then say what was asked of it.
//
// Waiting  on a thread of the program's own, where a call is made in one step. Who has left must
//          be found within 10 ms when it waits alone, since its compile goes on for nobody;
//          when hundreds wait they share a number of looks a second.
// Invariant  a target that could be read is audited once, whatever becomes of it.
#include "service/wire/compile_calls.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "grammar_core/matcher/matcher.h"
#include "service/base/errors.h"
#include "service/grammars/audit.h"
#include "service/sequences/checker.h"
#include "service/wire/request_reader.h"
#include "service/wire/response_writer.h"

namespace maskd::service {
namespace {

// How often a call that waits alone looks whether it was cancelled: the compile must stop within 10
// ms.
constexpr std::chrono::milliseconds kShortestLook{4};
// Bytes at most of Explain's forced prefix.
constexpr int kForcedPrefixBytes = 256;

const char* VerbOf(const v1::CompileRequest& /*request*/) { return "compile"; }
const char* VerbOf(const v1::CheckRequest& /*request*/) { return "check"; }
const char* VerbOf(const v1::ExplainRequest& /*request*/) { return "explain"; }

absl::StatusOr<CheckOutcome> RunCheck(const v1::CheckRequest& request,
                                      const cache::GrammarPtr& grammar,
                                      const LoadedTokenizer& tokenizer) {
  switch (request.input_case()) {
    case v1::CheckRequest::kText:
      return CheckText(grammar, tokenizer, request.text());
    case v1::CheckRequest::kRawText:
      return CheckText(grammar, tokenizer, request.raw_text());
    case v1::CheckRequest::kTokens: {
      const auto& ids = request.tokens().ids();
      return CheckTokens(grammar, std::vector<TokenId>(ids.begin(), ids.end()));
    }
    case v1::CheckRequest::INPUT_NOT_SET:
      break;
  }
  return BadField("input", "none of text, raw_text and tokens is set");
}

// Counts one more for as long as it lives: asking whether the caller has left may throw.
class OneMore {
 public:
  explicit OneMore(std::atomic<int>* count) : count_(count) { ++*count_; }
  OneMore(const OneMore&) = delete;
  OneMore& operator=(const OneMore&) = delete;
  ~OneMore() { --*count_; }

 private:
  std::atomic<int>* const count_;
};

// What became of a call's compile, once it is audited.
template <typename Request>
cache::CompileResult Take(const Request& request, const Caller& caller,
                          const CompileCalls::Asked& asked, const absl::Status& left) {
  cache::CompileResult grammar =
      left.ok() ? asked.grammar.ticket.result() : cache::CompileResult(left);
  Audit(caller, VerbOf(request), asked.target, asked.grammar.id, grammar.status());
  return grammar;
}

}  // namespace

absl::Status CompileCalls::Await(const cache::Ticket& ticket, const WhyLeft& why_left) {
  // The more wait, the longer each sleeps between two looks.
  const OneMore waits(&waiting_);
  absl::Status left = why_left();
  for (bool is_there = ticket.ready(); !is_there && left.ok();) {
    const auto look = std::max<std::chrono::microseconds>(
        kShortestLook, std::chrono::microseconds(1'000'000 / kLooksPerSecond) * waiting_.load());
    is_there = ticket.WaitUntil(Clock::Steady()->Now() + look);
    if (!is_there) left = why_left();
  }
  return left;
}

template <typename Request>
absl::StatusOr<CompileCalls::Asked> CompileCalls::Ask(const Request& request,
                                                      const Caller& caller) {
  TokenizerStorePtr tokenizers = tokenizers_->now();
  const absl::StatusOr<const LoadedTokenizer*> tokenizer = tokenizers->Find(request.tokenizer());
  if (!tokenizer.ok()) return tokenizer.status();
  absl::StatusOr<GrammarTarget> target = ReadTarget(request);
  if (!target.ok()) return target.status();
  absl::StatusOr<GrammarStore::Request> grammar = grammars_->Get(*target, **tokenizer, caller);
  if (!grammar.ok()) {
    Audit(caller, VerbOf(request), *target, target->id, grammar.status());
    return grammar.status();
  }
  return Asked{std::move(tokenizers), *tokenizer, *std::move(target), *std::move(grammar)};
}

template absl::StatusOr<CompileCalls::Asked> CompileCalls::Ask(const v1::CompileRequest& request,
                                                               const Caller& caller);
template absl::StatusOr<CompileCalls::Asked> CompileCalls::Ask(const v1::CheckRequest& request,
                                                               const Caller& caller);
template absl::StatusOr<CompileCalls::Asked> CompileCalls::Ask(const v1::ExplainRequest& request,
                                                               const Caller& caller);

absl::Status CompileCalls::Answer(const v1::CompileRequest& request, const Caller& caller,
                                  const Asked& asked, const absl::Status& left,
                                  v1::CompileResponse* response) {
  const cache::CompileResult grammar = Take(request, caller, asked, left);
  if (!grammar.ok()) return grammar.status();
  response->set_grammar_id((*grammar)->id());
  response->set_from_cache(asked.grammar.ticket.origin() == cache::Ticket::Origin::kKnown);
  for (const Diagnostic& warning : (*grammar)->warnings())
    WriteWarning(warning, response->add_warnings());
  WriteCosts((*grammar)->costs(), response->mutable_costs());
  response->set_tokenizer_hash(asked.tokenizer->vocabulary().hash());
  return absl::OkStatus();
}

absl::Status CompileCalls::Answer(const v1::CheckRequest& request, const Caller& caller,
                                  const Asked& asked, const absl::Status& left,
                                  v1::CheckResponse* response) {
  const cache::CompileResult grammar = Take(request, caller, asked, left);
  if (!grammar.ok()) return grammar.status();
  const absl::StatusOr<CheckOutcome> outcome = RunCheck(request, *grammar, *asked.tokenizer);
  if (!outcome.ok()) return outcome.status();
  response->set_grammar_id((*grammar)->id());
  WriteCheck(*outcome, asked.tokenizer->vocabulary(), response);
  return absl::OkStatus();
}

absl::Status CompileCalls::Answer(const v1::ExplainRequest& request, const Caller& caller,
                                  const Asked& asked, const absl::Status& left,
                                  v1::ExplainResponse* response) {
  const cache::CompileResult result = Take(request, caller, asked, left);
  if (!result.ok()) return result.status();
  const CompiledGrammar& grammar = **result;
  absl::StatusOr<std::string> forced = Matcher(*result).ForcedBytes(kForcedPrefixBytes);
  if (!forced.ok()) return forced.status();
  response->set_grammar_id(grammar.id());
  response->set_kind(grammar.source().kind);
  response->set_rules_text(ValidUtf8(grammar.Explain()));
  WriteCosts(grammar.costs(), response->mutable_costs());
  for (const Diagnostic& warning : grammar.warnings())
    WriteWarning(warning, response->add_warnings());
  for (const Diagnostic& bound : grammar.bounds()) WriteWarning(bound, response->add_bounds());
  response->set_forced_prefix(*std::move(forced));
  return absl::OkStatus();
}

template <typename Request, typename Response>
absl::Status CompileCalls::Run(const Request& request, const Caller& caller,
                               const WhyLeft& why_left, Response* response) {
  const absl::StatusOr<Asked> asked = Ask(request, caller);
  if (!asked.ok()) return asked.status();
  const absl::Status left = Await(asked->grammar.ticket, why_left);
  return Answer(request, caller, *asked, left, response);
}

absl::Status CompileCalls::Compile(const v1::CompileRequest& request, const Caller& caller,
                                   const WhyLeft& why_left, v1::CompileResponse* response) {
  return Run(request, caller, why_left, response);
}

absl::Status CompileCalls::Check(const v1::CheckRequest& request, const Caller& caller,
                                 const WhyLeft& why_left, v1::CheckResponse* response) {
  return Run(request, caller, why_left, response);
}

absl::Status CompileCalls::Explain(const v1::ExplainRequest& request, const Caller& caller,
                                   const WhyLeft& why_left, v1::ExplainResponse* response) {
  return Run(request, caller, why_left, response);
}

}  // namespace maskd::service
