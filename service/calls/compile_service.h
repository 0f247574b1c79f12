// CompileService of maskd/v1: Compile, Check, Explain.
//
// Threads  any number of calls at once.
#ifndef MASKD_SERVICE_CALLS_COMPILE_SERVICE_H_
#define MASKD_SERVICE_CALLS_COMPILE_SERVICE_H_

#include "service/calls/unary_calls.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_shelf.h"
#include "service/wire/compile_calls.h"

namespace maskd::service {

// CompileService of maskd/v1 over gRPC.
class CompileService {
 public:
  // Nothing is owned.
  CompileService(const TokenizerShelf* tokenizers, GrammarStore* grammars)
      : work_(tokenizers, grammars) {}

  // Adds its methods. This must outlive their calls.
  void AddTo(UnaryCalls* calls);

 private:
  CompileCalls work_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CALLS_COMPILE_SERVICE_H_
