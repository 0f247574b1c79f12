// A grammar compiled against one tokenizer: shared by any number of matchers, streams and threads.
//
// It learns while it is used: states and masks are made when first met and kept in an automaton,
// which gives way to a new one as it outgrows Limits::generation_bytes (rows/generations.h).
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

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/compile/tokenizer_space.h"
#include "grammar_core/frontend/front_end.h"
#include "grammar_core/ir/facts/measure.h"

namespace maskd {

class MaskedAutomaton;
class Generations;

// What a grammar costs, for Explain and metrics. Sizes are as of the call.
struct GrammarCosts {
  std::int64_t rules = 0;
  std::int64_t ir_nodes = 0;
  std::int64_t terms = 0;          // automaton states and their parts that are held now
  std::int64_t held_bytes = 0;     // all but the masks: terms, transitions, tables, IR and source
  std::int64_t mask_bytes = 0;     // masks that it keeps alive; other grammars may be owners too
  std::int64_t automatons = 0;     // the current one and those that rows still hold
  std::int64_t renewals = 0;       // automatons that were full and gave way
  std::int64_t compile_us = 0;     // source text to ready grammar, first mask included
  std::int64_t reduce_us = 0;      // of which from what was read to the IR
  std::int64_t first_mask_us = 0;  // of which the first mask
};

// A grammar ready for use. It is made by CompileGrammar() alone.
class CompiledGrammar {
 public:
  // Masks that others hold live on; the states go.
  ~CompiledGrammar();

  // 64 lower-case hexadecimal digits; see GrammarId().
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const GrammarSource& source() const { return source_; }
  [[nodiscard]] const TokenizerSpace& tokenizer() const { return *tokenizer_; }
  [[nodiscard]] const std::vector<Diagnostic>& warnings() const { return warnings_; }
  // To sample its text with; nothing where the source says none.
  [[nodiscard]] std::optional<float> temperature() const { return temperature_; }
  // See ReducedGrammar.
  [[nodiscard]] const std::vector<Diagnostic>& bounds() const { return bounds_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] GrammarCosts costs() const;
  // Lets go of states and masks: memory is needed elsewhere. Rows go on; what they meet again is
  // made again.
  void Forget() const;
  // How often a grammar of this process has begun a new automaton because one was full.
  static std::int64_t TotalRenewals();
  // What the lower bounds of its states count.
  [[nodiscard]] Measure measure() const {
    return source_.options.max_characters.has_value() ? Measure::kCharacters : Measure::kBytes;
  }
  // The IR, printed.
  [[nodiscard]] std::string Explain() const;

  // For Matcher. The automaton to begin and to go on in.
  [[nodiscard]] std::shared_ptr<MaskedAutomaton> automaton() const;
  [[nodiscard]] Generations& generations() const { return *generations_; }

 private:
  friend class Compiler;
  CompiledGrammar() = default;
  [[nodiscard]] std::int64_t FixedBytes() const;

  std::string id_;
  GrammarSource source_;
  Limits limits_;
  std::shared_ptr<TokenizerSpace> tokenizer_;
  std::vector<Diagnostic> warnings_;
  std::optional<float> temperature_;
  std::vector<Diagnostic> bounds_;
  GrammarIr ir_;
  std::unique_ptr<Generations> generations_;
  std::int64_t fixed_bytes_ = 0;  // of all but what is learnt
  std::int64_t compile_us_ = 0;
  std::int64_t reduce_us_ = 0;
  std::int64_t first_mask_us_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_COMPILED_GRAMMAR_H_
