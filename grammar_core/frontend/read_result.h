// What a front end makes of a source, before the passes (compile/pipeline.h).
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_READ_RESULT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_READ_RESULT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "grammar_core/frontend/front_end.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/ir/passes/productive.h"

namespace maskd {

// Moved on to the passes, which change `ir` and take the rest along.
struct ReadResult {
  GrammarIr ir;
  std::vector<Diagnostic> warnings;
  // What was bounded or left out by rule, so that it is no warning: an option, or a place in the
  // source.
  std::vector<Diagnostic> bounds = {};
  // Why a rule is Nothing, for the error in case no text satisfies the grammar.
  RuleFaults faults = {};
  // Whether a schema within it may have no value: none was looked for where it is not plain JSON.
  bool has_empty_parts = false;
  // To sample the text with; nothing where the source says none.
  std::optional<float> temperature = {};
  // Ordinary and special tokens that are taken where the grammar names them, and never as text;
  // ascending.
  std::vector<std::int32_t> markers = {};
};

// Warnings that are kept; one more says that there were more.
inline constexpr std::size_t kMaxWarnings = 1000;

// Appends `warning`, up to the bound above.
void AddWarning(Diagnostic warning, std::vector<Diagnostic>* warnings);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_READ_RESULT_H_
