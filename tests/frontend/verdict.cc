#include "tests/frontend/verdict.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {
namespace {

constexpr TokenId kEnd = 256;

// As the embedded vocabulary, but that no text spells its end: formats spell "<|end|>".
std::shared_ptr<TokenizerSpace> MakeSpace(const std::vector<absl::string_view>& pieces) {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  tokens.push_back({"\x01 the end", true});
  for (const absl::string_view piece : pieces) tokens.push_back({std::string(piece)});
  return TokenizerSpace::Create(*Vocabulary::Create("bytes", std::move(tokens), {kEnd}));
}

const std::shared_ptr<TokenizerSpace>& ByteSpace() {
  static const auto* const space = new std::shared_ptr<TokenizerSpace>(MakeSpace({}));
  return *space;
}

const std::shared_ptr<TokenizerSpace>& PieceSpace() {
  static const auto* const space = new std::shared_ptr<TokenizerSpace>(MakeSpace(JsonPieces()));
  return *space;
}

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileOver(
    absl::string_view kind, absl::string_view text, const GrammarOptions& options,
    const std::shared_ptr<TokenizerSpace>& space) {
  const Limits limits;
  Budget budget({.work = limits.compile_work});
  return CompileGrammar({std::string(kind), std::string(text), options}, space, limits, budget);
}

// Which pieces the masks allowed at the places of a text.
class PieceLog {
 public:
  PieceLog(const CompiledGrammar& grammar, absl::string_view text)
      : text_(text), count_(grammar.tokenizer().vocabulary().size() - kEnd - 1) {}

  void Add(std::size_t place, const TokenMask& mask) {
    for (int piece = 0; piece < count_; ++piece) {
      if (!absl::StartsWith(text_.substr(place), JsonPieces()[piece])) continue;
      seen_.push_back({place, piece, mask.Allows(kEnd + 1 + piece)});
    }
  }

  // OK if they are those that end within the `taken` bytes which were allowed one by one.
  absl::Status Check(std::size_t taken) const {
    for (const auto& [place, piece, allowed] : seen_) {
      const absl::string_view bytes = JsonPieces()[piece];
      if (allowed == (place + bytes.size() <= taken)) continue;
      return absl::InternalError(absl::StrCat("byte ", place, ": the piece ", bytes, " is ",
                                              allowed ? "allowed" : "refused", ", its bytes not"));
    }
    return absl::OkStatus();
  }

 private:
  struct Seen {
    std::size_t place;
    int piece;
    bool allowed;
  };

  absl::string_view text_;
  int count_;
  std::vector<Seen> seen_;
};

}  // namespace

const std::vector<absl::string_view>& JsonPieces() {
  static const auto* const pieces = new std::vector<absl::string_view>{
      "\"a",   "\"b\"", "\":", "\": ", "\"}",  "{\"", "{\"a\": ", ", \"", ", ",   "[1",    ", 1",
      "1]",    "]}",    "}}",  "[[",   "}, {", "nu",  "null",     "true", "als",  "\\u00", "061",
      "u0062", ".0",    ".5",  "e0",   "0E-1", "1.",  "ab",       "\"\"", "\n\t", " \"",   "2,"};
  return *pieces;
}

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileOverBytes(
    absl::string_view kind, absl::string_view text, const GrammarOptions& options) {
  return CompileOver(kind, text, options, ByteSpace());
}

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileOverPieces(
    absl::string_view kind, absl::string_view text, const GrammarOptions& options) {
  return CompileOver(kind, text, options, PieceSpace());
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
  PieceLog pieces(*grammar, text);
  for (std::size_t place = 0; place <= text.size(); ++place) {
    const absl::StatusOr<MaskRef> mask = matcher.Mask();
    if (!mask.ok()) return mask.status();
    pieces.Add(place, **mask);
    const TokenId token =
        place == text.size() ? kEnd : static_cast<TokenId>(static_cast<unsigned char>(text[place]));
    if (place < text.size() && (*mask)->Allows(token)) {
      if (absl::Status status = matcher.Accept(token); !status.ok()) return status;
      continue;
    }
    if (absl::Status status = pieces.Check(place); !status.ok()) return status;
    return place == text.size() && (*mask)->Allows(token);
  }
  return false;
}

}  // namespace maskd
