#include "grammar_core/tokenizer/formats/scored_pieces.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"

#include "grammar_core/base/sort_unique.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/tokenizer/formats/piece_bytes.h"
#include "grammar_core/tokenizer/merging.h"

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

// The rank of each piece that merges make, unused or not, by its spelling; of equal scores one.
absl::flat_hash_map<absl::string_view, int> RanksOf(const ScoredPieces& model,
                                                    const RawVocabulary& raw) {
  std::vector<float> scores;
  for (const ScoredPieces::Piece& piece : model.pieces) scores.push_back(piece.score);
  SortUnique(&scores);
  absl::flat_hash_map<absl::string_view, int> ranks;
  for (const auto& [piece, id] : raw.id_by_piece) {
    const ScoredPieces::Piece& scored = model.pieces[static_cast<std::size_t>(id)];
    if (scored.kind != Kind::kNormal && scored.kind != Kind::kUnused) continue;
    const auto better = scores.end() - std::ranges::upper_bound(scores, scored.score);
    ranks[piece] = static_cast<int>(better);
  }
  return ranks;
}

// Whether a text can become an unused piece. If any can, that piece's own text does.
bool MakesUnused(const ScoredPieces& model, const RawVocabulary& raw) {
  const auto is_unused = [](const ScoredPieces::Piece& piece) {
    return piece.kind == Kind::kUnused;
  };
  if (std::ranges::none_of(model.pieces, is_unused)) return false;
  const absl::flat_hash_map<absl::string_view, int> ranks = RanksOf(model, raw);
  for (const auto& [piece, id] : raw.id_by_piece) {
    if (!is_unused(model.pieces[static_cast<std::size_t>(id)])) continue;
    if (IsOneCharacter(piece)) return true;
    const auto rank_of = [&, size = piece.size()](absl::string_view part) {
      const auto found = part.size() == size ? ranks.end() : ranks.find(part);
      return found == ranks.end() ? OrdinaryTokens::kNoRank : found->second;
    };
    // The last merge, which is left out, would be of two.
    if (Merging(piece, Merging::Symbols::kCharacters, rank_of).Parts().size() == 2) return true;
  }
  return false;
}

// False for a model of characters with other pieces.
bool IsUnderstood(const ScoredPieces& model, const RawVocabulary& raw) {
  const bool is_known = model.model == Model::kUnigram || model.model == Model::kMerges ||
                        model.model == Model::kCharacters;
  if (!is_known || !model.marks_spaces || model.marks_ends) return false;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const ScoredPieces::Piece& piece = model.pieces[id];
    if (!std::isfinite(piece.score)) return false;
    const bool is_wrong = model.model == Model::kCharacters &&
                          (piece.kind == Kind::kUnused ||
                           (piece.kind == Kind::kNormal && !IsOneCharacter(raw.tokens[id].bytes)));
    if (is_wrong) return false;
  }
  return model.model != Model::kMerges || !MakesUnused(model, raw);
}

void PutKinds(const ScoredPieces& model, const RawVocabulary& raw, EncodingRules* rules) {
  std::vector<TokenId> byte_tokens(kByteCount, kNoToken);
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const std::string& bytes = raw.tokens[i].bytes;
    const Kind kind = bytes.empty() ? Kind::kOther : model.pieces[i].kind;
    if (kind == Kind::kByte) byte_tokens[static_cast<unsigned char>(bytes[0])] = id;
    if (kind != Kind::kNormal && kind != Kind::kUserDefined) rules->unused.push_back(id);
    if (kind != Kind::kUserDefined) continue;
    (rules->method == EncodingRules::Method::kBestSum ? rules->user_defined : rules->atoms)
        .push_back(id);
  }
  const bool has_all = std::ranges::find(byte_tokens, kNoToken) == byte_tokens.end();
  if (model.has_byte_fallback && has_all) rules->byte_tokens = std::move(byte_tokens);
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
    case PieceType::kUnknown:
    case PieceType::kControl:
      return Kind::kOther;
    default:
      return Kind::kUnused;
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
  // A space in a piece as the file spells it is in no text: it would be marked.
  const std::vector<TokenId> spaced =
      PiecesWhere(raw, [](absl::string_view piece) { return absl::StrContains(piece, ' '); });
  rules.unused.insert(rules.unused.end(), spaced.begin(), spaced.end());
  return rules;
}

}  // namespace maskd
