// What the fuzz targets share. A broken promise ends the process, so that the fuzzer keeps the
// input.
#ifndef MASKD_TESTS_FUZZ_FUZZ_CHECKS_H_
#define MASKD_TESTS_FUZZ_FUZZ_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/limits.h"

namespace maskd::fuzz {

inline void Require(bool holds, const char* promise, const std::string& more = "") {
  if (holds) return;
  std::fprintf(stderr, "broken: %s %s\n", promise, more.c_str());
  std::abort();
}

// Bounds that let one input take a fraction of a second.
inline Limits SmallLimits() {
  Limits limits;
  limits.source_bytes = 1 << 16;
  limits.ir_nodes = 50'000;
  limits.terms = 100'000;
  limits.grammar_bytes = 64 << 20;
  limits.schema_sets = 1'000;
  limits.compile_work = 1'000'000;
  limits.step_work = 250'000;
  return limits;
}

// A refusal has one of the codes that are a caller's, says why, and stays short.
inline void RequireClear(const absl::Status& refusal) {
  constexpr std::size_t kLongestMessage = 4096;
  const std::string text(refusal.ToString());
  Require(absl::IsInvalidArgument(refusal) || absl::IsUnimplemented(refusal) ||
              absl::IsResourceExhausted(refusal),
          "a refusal has a caller's code", text);
  Require(!refusal.message().empty() && !ErrorReason(refusal).empty(), "a refusal says why", text);
  Require(refusal.message().size() <= kLongestMessage, "a refusal is short", text);
}

}  // namespace maskd::fuzz

#endif  // MASKD_TESTS_FUZZ_FUZZ_CHECKS_H_
