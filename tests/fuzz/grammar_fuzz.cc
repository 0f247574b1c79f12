// The reader of one kind of grammar, the compiler behind it, and the first steps.
//
// Promises   any text is a grammar or a clear refusal; a grammar has a first mask that allows a
//            token, its shortest completion is taken whole and may end, and every byte that is
//            allowed at the start can be taken.
#include <memory>
#include <string>

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/fuzz/fuzz_checks.h"
#include "tests/fuzz/fuzz_target.h"

namespace maskd::fuzz {
namespace {

constexpr int kCompletionBytes = 1 << 12;

void CheckCompletion(Matcher* matcher) {
  const absl::StatusOr<std::string> completion = matcher->ShortestCompletion(kCompletionBytes);
  if (!completion.ok()) return RequireClear(completion.status());
  const auto match = matcher->MatchText(*completion);
  if (!match.ok()) return RequireClear(match.status());
  Require(static_cast<std::size_t>(match->matched_bytes) == completion->size() && match->may_end,
          "the shortest completion completes the text", *completion);
}

void CheckStart(const std::shared_ptr<const CompiledGrammar>& grammar) {
  Matcher matcher(grammar);
  const auto mask = matcher.Mask();
  if (!mask.ok()) return RequireClear(mask.status());
  Require(!(*mask)->empty(), "the first mask allows a token");
  (*mask)->VisitAllowed([&](TokenId token) {
    Matcher ahead = matcher.Fork();
    const absl::Status taken = ahead.Accept(token);
    if (absl::IsResourceExhausted(taken)) return;
    Require(taken.ok(), "what the mask allows is taken", std::string(taken.ToString()));
  });
  CheckCompletion(&matcher);
}

void CheckSource(std::string kind, std::string text) {
  static const std::shared_ptr<TokenizerSpace> space =
      TokenizerSpace::Create(EmbeddedByteVocabulary());
  const Limits limits = SmallLimits();
  Budget::Bounds bounds;
  bounds.work = limits.compile_work;
  Budget budget(bounds);
  const GrammarSource source{std::move(kind), std::move(text), {}};
  const auto grammar = CompileGrammar(source, space, limits, budget);
  if (!grammar.ok()) return RequireClear(grammar.status());
  CheckStart(*grammar);
  Require(!(*grammar)->Explain().empty(), "a grammar can be explained");
}

void RunGrammar(absl::string_view kind, absl::string_view text) {
  CheckSource(std::string(kind), std::string(text));
}

}  // namespace

MASKD_FUZZ_TARGETS(RunGrammar, "json_schema", "regex", "choice", "gbnf", "ebnf", "lark",
                   "structural_tag");

}  // namespace maskd::fuzz
