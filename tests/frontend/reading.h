// Reads a grammar without limits of time, for tests.
#ifndef MASKD_TESTS_FRONTEND_READING_H_
#define MASKD_TESTS_FRONTEND_READING_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/pipeline.h"

namespace maskd {

inline absl::StatusOr<ReducedGrammar> ReadForTest(
    absl::string_view kind, absl::string_view text, const GrammarOptions& options = {},
    const Limits& limits = {}, std::vector<GrammarSource::Document> documents = {}) {
  Budget budget = Budget::Unlimited();
  const GrammarSource source = {std::string(kind), std::string(text), options,
                                std::move(documents)};
  return ReduceGrammar(source, limits, budget);
}

// What such a grammar becomes; it must be one.
inline GrammarIr IrForTest(absl::string_view kind, absl::string_view text) {
  auto grammar = ReadForTest(kind, text);
  EXPECT_TRUE(grammar.ok()) << grammar.status();
  return std::move(grammar->ir);
}

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_READING_H_
