#include "tests/frontend/verdict.h"

#include <string>

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/loader.h"

namespace maskd {
namespace {

std::shared_ptr<TokenizerSpace> MakeByteSpace() {
  VocabularySource source;
  source.name = "bytes";
  return TokenizerSpace::Create(*LoadVocabulary(source));
}

const std::shared_ptr<TokenizerSpace>& ByteSpace() {
  static const auto* const space = new std::shared_ptr<TokenizerSpace>(MakeByteSpace());
  return *space;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileOverBytes(
    absl::string_view kind, absl::string_view text, const GrammarOptions& options) {
  const Limits limits;
  Budget budget({.work = limits.compile_work});
  return CompileGrammar({std::string(kind), std::string(text), options}, ByteSpace(), limits,
                        budget);
}

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompilePattern(absl::string_view pattern) {
  return CompileOverBytes("regex", pattern);
}

absl::StatusOr<bool> AcceptsByText(const std::shared_ptr<const CompiledGrammar>& grammar,
                                   absl::string_view text) {
  Matcher matcher(grammar);
  const absl::StatusOr<Matcher::TextMatch> match = matcher.MatchText(text);
  if (!match.ok()) return match.status();
  return match->matched_bytes == static_cast<int>(text.size()) && match->may_end;
}

absl::StatusOr<bool> AcceptsByMasks(const std::shared_ptr<const CompiledGrammar>& grammar,
                                    absl::string_view text) {
  Matcher matcher(grammar);
  for (const char byte : text) {
    const auto token = static_cast<TokenId>(static_cast<unsigned char>(byte));
    const absl::StatusOr<MaskRef> mask = matcher.Mask();
    if (!mask.ok()) return mask.status();
    if (!(*mask)->Allows(token)) return false;
    if (absl::Status status = matcher.Accept(token); !status.ok()) return status;
  }
  const absl::StatusOr<MaskRef> mask = matcher.Mask();
  if (!mask.ok()) return mask.status();
  return (*mask)->Allows(grammar->tokenizer().vocabulary().stop_ids().front());
}

}  // namespace maskd
