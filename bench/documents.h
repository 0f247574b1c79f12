// Real documents for benchmarks: schemas of MaskBench, compiled, each with its first valid instance
// in tokens of the vocabulary at hand.
#ifndef MASKD_BENCH_DOCUMENTS_H_
#define MASKD_BENCH_DOCUMENTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/compile/tokenizer_space.h"

namespace maskd::bench {

struct Document {
  std::string id;
  GrammarSource source;
  std::shared_ptr<const CompiledGrammar> grammar;
  std::vector<TokenId> tokens;  // the longest that fit, see TextSplitter
};

// The first `count` documents of the file at `path`, by the digest of their schema's id, whose
// schema compiles and takes all of a valid instance. Every state and mask on their way is then
// known. Errors: those of ReadCases(); NOT_FOUND when there are not so many.
absl::StatusOr<std::vector<Document>> LoadDocuments(const std::string& path,
                                                    const std::shared_ptr<TokenizerSpace>& space,
                                                    int count);

// Compiles `source` with the default limits.
absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileForBench(
    const GrammarSource& source, const std::shared_ptr<TokenizerSpace>& space);

// Takes a whole text through its masks; false where one does not allow its token.
bool TakeDocument(const std::shared_ptr<const CompiledGrammar>& grammar,
                  const std::vector<TokenId>& tokens);

}  // namespace maskd::bench

#endif  // MASKD_BENCH_DOCUMENTS_H_
