#include "grammar_core/tokenizer/formats/scored_pieces.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "grammar_core/base/utf8.h"
#include "grammar_core/tokenizer/formats/piece_bytes.h"

namespace maskd {
namespace {

using Kind = ScoredPieces::Kind;
using Model = ScoredPieces::Model;

constexpr std::size_t kByteCount = 256;
constexpr TokenId kNoToken = -1;

bool IsOneCharacter(absl::string_view bytes) {
  std::size_t at = 0;
  return DecodeUtf8(bytes, &at).has_value() && at == bytes.size();
}

// False for a model of characters with other pieces.
bool IsUnderstood(const ScoredPieces& model, const RawVocabulary& raw) {
  const bool is_known = model.model == Model::kUnigram || model.model == Model::kMerges ||
                        model.model == Model::kCharacters;
  if (!is_known || !model.marks_spaces || model.marks_ends) return false;
  if (model.has_unused && model.model != Model::kUnigram) return false;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const ScoredPieces::Piece& piece = model.pieces[id];
    if (!std::isfinite(piece.score)) return false;
    const bool is_wrong = model.model == Model::kCharacters && piece.kind == Kind::kNormal &&
                          !IsOneCharacter(raw.tokens[id].bytes);
    if (is_wrong) return false;
  }
  return true;
}

void PutKinds(const ScoredPieces& model, const RawVocabulary& raw, EncodingRules* rules) {
  std::vector<TokenId> byte_tokens(kByteCount, kNoToken);
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const std::string& bytes = raw.tokens[i].bytes;
    const Kind kind = bytes.empty() ? Kind::kOther : model.pieces[i].kind;
    if (kind == Kind::kByte) byte_tokens[static_cast<unsigned char>(bytes[0])] = id;
    if (kind == Kind::kByte || kind == Kind::kOther) rules->unused.push_back(id);
    if (kind != Kind::kUserDefined) continue;
    (rules->method == EncodingRules::Method::kBestSum ? rules->user_defined : rules->atoms)
        .push_back(id);
  }
  const bool has_all = std::ranges::find(byte_tokens, kNoToken) == byte_tokens.end();
  if (model.has_byte_fallback && has_all) rules->byte_tokens = std::move(byte_tokens);
}

// A space in a piece as the file spells it is in no text: it would be marked.
void PutSpacedPieces(const RawVocabulary& raw, EncodingRules* rules) {
  for (const auto& [piece, id] : raw.id_by_piece)
    if (piece.find(' ') != std::string::npos) rules->unused.push_back(id);
}

}  // namespace

ScoredPieces::Kind ScoredPieces::KindOf(std::uint64_t type) {
  switch (type) {
    case PieceType::kNormal:
      return Kind::kNormal;
    case PieceType::kUserDefined:
      return Kind::kUserDefined;
    case PieceType::kByte:
      return Kind::kByte;
    default:
      return Kind::kOther;
  }
}

EncodingRules RulesOf(const ScoredPieces& model, const RawVocabulary& raw) {
  if (!IsUnderstood(model, raw)) return {};
  EncodingRules rules;
  rules.symbols = EncodingRules::Symbols::kCharacters;
  rules.method = model.model == Model::kUnigram ? EncodingRules::Method::kBestSum
                                                : EncodingRules::Method::kMerges;
  rules.joins_spaces = model.joins_spaces;
  rules.marks_spaces = true;
  if (!model.character_map.empty()) {
    rules.character_map = CharacterMap::Create(model.character_map);
    if (rules.character_map == nullptr) return {};
  }
  for (const ScoredPieces::Piece& piece : model.pieces) rules.scores.push_back(piece.score);
  PutKinds(model, raw, &rules);
  PutSpacedPieces(raw, &rules);
  return rules;
}

}  // namespace maskd
