// What Compile, Check and Explain of maskd/v1 do, whatever carries their messages.
//
// Waiting  in two steps a call needs no thread while it waits: Ask(), and Answer() when its ticket
//          is ready. In one it sleeps on its own thread until its compile is there. Whether its
//          caller has left it must ask then: all that wait ask kLooksPerSecond times together, so
//          that they take no processor from what they wait for. Leaving cancels the compile when
//          nobody else waits for it.
// Errors   those of the rpcs, as absl::Status.
// Threads  any number of calls at once.
#ifndef MASKD_SERVICE_WIRE_COMPILE_CALLS_H_
#define MASKD_SERVICE_WIRE_COMPILE_CALLS_H_

#include <atomic>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cache/grammar_cache.h"
#include "maskd/v1/compile_service.pb.h"
#include "service/callers/caller.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_shelf.h"

namespace maskd::service {

// The calls of one server or one engine within a program.
class CompileCalls {
 public:
  // OK while the caller waits, else the call's error. Asked on the call's thread: once when the
  // grammar is known or its compile has its place, and again and again while the call waits for it.
  using WhyLeft = std::function<absl::Status()>;

  // Nothing is owned.
  CompileCalls(const TokenizerShelf* tokenizers, GrammarStore* grammars)
      : tokenizers_(tokenizers), grammars_(grammars) {}

  static constexpr int kLooksPerSecond = 1'000;

  // What a call has asked for: a grammar that is known, or is being compiled.
  struct Asked {
    TokenizerStorePtr tokenizers;
    const LoadedTokenizer* tokenizer;  // of those
    GrammarTarget target;
    GrammarStore::Request grammar;
  };
  // Of any of the three requests. Once it has asked, a call must be answered.
  template <typename Request>
  absl::StatusOr<Asked> Ask(const Request& request, const Caller& caller);

  // Fills `response` or says why not. `left` says why the caller waits no more; OK: it does, and
  // the ticket of `asked` is ready.
  static absl::Status Answer(const v1::CompileRequest& request, const Caller& caller,
                             const Asked& asked, const absl::Status& left,
                             v1::CompileResponse* response);
  static absl::Status Answer(const v1::CheckRequest& request, const Caller& caller,
                             const Asked& asked, const absl::Status& left,
                             v1::CheckResponse* response);
  static absl::Status Answer(const v1::ExplainRequest& request, const Caller& caller,
                             const Asked& asked, const absl::Status& left,
                             v1::ExplainResponse* response);

  // Each fills `response` or says why not; none returns before its compile is done or its caller
  // has left.
  absl::Status Compile(const v1::CompileRequest& request, const Caller& caller,
                       const WhyLeft& why_left, v1::CompileResponse* response);
  absl::Status Check(const v1::CheckRequest& request, const Caller& caller, const WhyLeft& why_left,
                     v1::CheckResponse* response);
  absl::Status Explain(const v1::ExplainRequest& request, const Caller& caller,
                       const WhyLeft& why_left, v1::ExplainResponse* response);

  // Calls that wait for their compiles. Any thread.
  [[nodiscard]] int waiting() const { return waiting_; }

 private:
  // Until the ticket is ready; an error where the caller has left before.
  absl::Status Await(const cache::Ticket& ticket, const WhyLeft& why_left);
  template <typename Request, typename Response>
  absl::Status Run(const Request& request, const Caller& caller, const WhyLeft& why_left,
                   Response* response);

  const TokenizerShelf* const tokenizers_;
  GrammarStore* const grammars_;
  std::atomic<int> waiting_ = 0;  // calls, for their compiles
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_WIRE_COMPILE_CALLS_H_
