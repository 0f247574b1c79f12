// The reader of one kind of grammar (MASKD_FUZZ_KIND), the compiler behind it, and the first steps.
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

void CheckSource(std::string text) {
  static const std::shared_ptr<TokenizerSpace> space =
      TokenizerSpace::Create(EmbeddedByteVocabulary());
  const Limits limits = SmallLimits();
  Budget::Bounds bounds;
  bounds.work = limits.compile_work;
  Budget budget(bounds);
  const GrammarSource source{MASKD_FUZZ_KIND, std::move(text), {}};
  const auto grammar = CompileGrammar(source, space, limits, budget);
  if (!grammar.ok()) return RequireClear(grammar.status());
  CheckStart(*grammar);
  Require(!(*grammar)->Explain().empty(), "a grammar can be explained");
}

}  // namespace
}  // namespace maskd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  maskd::fuzz::CheckSource(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
