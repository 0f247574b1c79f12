// From a source text and a tokenizer to a compiled grammar with its first mask ready.
//
// Errors   those of the front ends, and INVALID_ARGUMENT for a grammar that no text satisfies.
// Threads  any number of compiles at once, each with its own Budget.
#ifndef MASKD_GRAMMAR_CORE_COMPILE_COMPILER_H_
#define MASKD_GRAMMAR_CORE_COMPILE_COMPILER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/compile/tokenizer_space.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/parsed_source.h"

namespace maskd {

// SHA-256, in 64 lower-case hexadecimal digits, of the format version, the kind, the normalised
// source, the options and the tokenizer's hash.
std::string GrammarId(const ParsedSource& parsed, absl::string_view tokenizer_hash);
// The same of the source as it was sent. Sources of one key have one id, and nothing is read for
// it; those of one id may have keys that differ.
std::string SourceKey(const GrammarSource& source, absl::string_view tokenizer_hash);
// The id of a text. Errors: those of ParseSource().
absl::StatusOr<std::string> GrammarId(const GrammarSource& source, absl::string_view tokenizer_hash,
                                      const Limits& limits);

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileGrammar(
    const GrammarSource& source, std::shared_ptr<TokenizerSpace> tokenizer, const Limits& limits,
    Budget& budget);
// The same of a source that was parsed, and whose `id` is known, already.
absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileParsed(
    ParsedSource parsed, std::string id, std::shared_ptr<TokenizerSpace> tokenizer,
    const Limits& limits, Budget& budget);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_COMPILER_H_
