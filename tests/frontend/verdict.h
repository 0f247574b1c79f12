// What the engine says about a text, for grammars compiled against a vocabulary of bytes, whose
// tokens 0 to 255 are the single bytes; 256 ends a text.
#ifndef MASKD_TESTS_FRONTEND_VERDICT_H_
#define MASKD_TESTS_FRONTEND_VERDICT_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/compile/compiled_grammar.h"

namespace maskd {

// Both with the default limits; the second of kind "regex".
absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileOverBytes(
    absl::string_view kind, absl::string_view text, const GrammarOptions& options = {});
absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompilePattern(absl::string_view pattern);

// The same over the single bytes and JsonPieces().
absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileOverPieces(
    absl::string_view kind, absl::string_view text, const GrammarOptions& options = {});

// Tokens of several bytes of JSON, such as `": ` and `\u00`; their ids begin behind the end's.
const std::vector<absl::string_view>& JsonPieces();

// Whether `text` is a whole text of the grammar, by stepping alone.
absl::StatusOr<bool> AcceptsByText(const std::shared_ptr<const CompiledGrammar>& grammar,
                                   absl::string_view text);

// The same, each byte a token that the mask of its step must allow, then the end token. Over
// pieces, a mask must allow a piece that the text goes on with exactly if its bytes are allowed one
// by one. INTERNAL with the piece where it does not.
absl::StatusOr<bool> AcceptsByMasks(const std::shared_ptr<const CompiledGrammar>& grammar,
                                    absl::string_view text);

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_VERDICT_H_
