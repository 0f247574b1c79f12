#include "tests/frontend/verdict.h"

#include <string>
#include <utility>
#include <vector>

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

// As the embedded vocabulary, but that no text spells its end: formats spell "<|end|>".
std::shared_ptr<TokenizerSpace> MakeByteSpace() {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  tokens.push_back({"\x01 the end", true});
  return TokenizerSpace::Create(*Vocabulary::Create("bytes", std::move(tokens), {256}));
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
