// A grammar compiled against one tokenizer: shared by any number of matchers, streams and threads.
//
// It grows while it is used: states and masks are made when first met and kept. That growth is
// bounded by Limits::terms and Limits::grammar_bytes.
//
// Threads  internally synchronised; known transitions and masks are read without a lock.
// Ownership  held by shared_ptr; keeps its TokenizerSpace alive.
#ifndef MASKD_GRAMMAR_CORE_COMPILE_COMPILED_GRAMMAR_H_
#define MASKD_GRAMMAR_CORE_COMPILE_COMPILED_GRAMMAR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/automaton/measure.h"
#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/compile/tokenizer_space.h"
#include "grammar_core/frontend/front_end.h"

namespace maskd {

class Automaton;

// What a grammar costs, for Explain and metrics. Sizes are as of the call.
struct GrammarCosts {
  std::int64_t rules = 0;
  std::int64_t ir_nodes = 0;
  std::int64_t terms = 0;          // automaton states and their parts, so far
  std::int64_t held_bytes = 0;     // terms, transitions and the IR, so far
  std::int64_t compile_us = 0;     // source text to ready grammar, first mask included
  std::int64_t first_mask_us = 0;  // of which the first mask
};

class CompiledGrammar {
 public:
  ~CompiledGrammar();

  // 64 lower-case hexadecimal digits; see GrammarId().
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const GrammarSource& source() const { return source_; }
  [[nodiscard]] const TokenizerSpace& tokenizer() const { return *tokenizer_; }
  [[nodiscard]] const std::vector<Diagnostic>& warnings() const { return warnings_; }
  // To sample its text with; nothing where the source says none.
  [[nodiscard]] std::optional<float> temperature() const { return temperature_; }
  // See FrontEndResult.
  [[nodiscard]] const std::vector<Diagnostic>& bounds() const { return bounds_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] GrammarCosts costs() const;
  // What the lower bounds of its states count.
  [[nodiscard]] Measure measure() const {
    return source_.options.max_characters.has_value() ? Measure::kCharacters : Measure::kBytes;
  }
  // The IR, printed.
  [[nodiscard]] std::string Explain() const;

  // For Matcher.
  [[nodiscard]] Automaton& automaton() const { return *automaton_; }

 private:
  friend class Compiler;
  CompiledGrammar() = default;

  std::string id_;
  GrammarSource source_;
  Limits limits_;
  std::shared_ptr<TokenizerSpace> tokenizer_;
  std::vector<Diagnostic> warnings_;
  std::optional<float> temperature_;
  std::vector<Diagnostic> bounds_;
  GrammarIr ir_;
  std::unique_ptr<Automaton> automaton_;
  std::int64_t compile_us_ = 0;
  std::int64_t first_mask_us_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_COMPILED_GRAMMAR_H_
