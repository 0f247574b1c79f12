// One schema of MaskBench through the engine: compiled, and every instance taken token by token
// through its masks, each mask and each acceptance timed.
//
// A step   the mask, copied into the caller's row as an engine needs it; the next token's bit; and,
//          if it is set, the acceptance. After the last token the mask must allow the stop id.
// Known    a mask that its state had already: what a step finds again. The others are looked up in
//          the store that grammars share, or made.
// Warm-up  between the first mask and the instances, as the service does while an engine reads its
//          prompt (compile/warm_up.h); timed apart.
// Ahead    between a mask and the next acceptance, once for each state, as the service does while
//          an engine chooses the token; timed apart.
// Threads  one.
#ifndef MASKD_BENCH_CASE_RUN_H_
#define MASKD_BENCH_CASE_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/cases.h"
#include "grammar_core/compile/tokenizer_space.h"

namespace maskd::bench {

struct InstanceResult {
  bool valid = false;
  std::string got;     // accept, reject, no_eos or error
  std::string error;   // with got error
  std::size_t at = 0;  // tokens accepted
  std::size_t tokens = 0;
};

struct CaseResult {
  std::string id;
  std::string status = "ok";  // or compile_error, timeout, oom
  std::string error;
  std::size_t n_tests = 0;
  double compile_us = 0;
  double ttfm_us = 0;
  double warm_up_us = 0;
  std::vector<double> ahead_us;
  std::int64_t mem_bytes = 0;
  std::vector<double> mask_us;
  std::vector<double> accept_us;
  std::vector<bool> mask_known;  // one for each of mask_us
  std::vector<InstanceResult> tests;
};

struct RunOptions {
  TokenId stop = 0;     // ends a text
  double seconds = 60;  // at the first step after them it gives up (status timeout)
  int warm_up_ms = 0;   // at most; 0: none
  bool look_ahead = false;
  int indent = -1;  // the grammar's option; -1: none
};

CaseResult RunCase(const Case& one, const std::shared_ptr<TokenizerSpace>& space,
                   const RunOptions& options);

// Takes the smaller of each time. `other` is of the same case with the same stores, so it has the
// same steps; a result that has not is left out.
void KeepMinima(const CaseResult& other, CaseResult* into);

// Mask plus acceptance of each step, the mask alone where the token was refused.
std::vector<double> StepTimes(const CaseResult& result);

// The result line of MaskBench, with `mask_known` besides: a character for each mask, 1 or 0.
std::string ResultLine(const CaseResult& result, const std::string& split);

}  // namespace maskd::bench

#endif  // MASKD_BENCH_CASE_RUN_H_
