#include "grammar_core/tokenizer/formats/merge_order.h"

#include <cstddef>

#include "absl/strings/string_view.h"

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

using Symbols = EncodingRules::Symbols;

// Pieces that no merge makes, and bytes of one, beyond which they are not looked at.
constexpr int kMaxUnmade = 5000;
constexpr std::size_t kMaxUnmadeBytes = 256;

bool IsOneSymbol(const std::string& bytes, Symbols symbols) {
  std::size_t at = 0;
  return bytes.size() <= 1 ||
         (symbols == Symbols::kCharacters && DecodeUtf8(bytes, &at) && at == bytes.size());
}

// Whether two pieces together spell `piece`.
bool IsTwoPieces(absl::string_view piece, const RawVocabulary& raw) {
  for (std::size_t cut = 1; cut < piece.size(); ++cut) {
    if (raw.id_by_piece.contains(piece.substr(0, cut)) &&
        raw.id_by_piece.contains(piece.substr(cut))) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool MergesAreByIds(const std::vector<std::string>& made, const RawVocabulary& raw,
                    EncodingRules::Symbols symbols) {
  std::vector<bool> is_made(raw.tokens.size());
  TokenId last = 0;
  for (const std::string& merged : made) {
    const auto found = raw.id_by_piece.find(merged);
    if (found == raw.id_by_piece.end() || found->second < last) return false;
    last = found->second;
    is_made[static_cast<std::size_t>(last)] = true;
  }
  for (const TokenId id : raw.added_ids) is_made[static_cast<std::size_t>(id)] = true;
  int unmade = 0;
  for (const auto& [piece, id] : raw.id_by_piece) {
    const Vocabulary::Token& token = raw.tokens[static_cast<std::size_t>(id)];
    const bool is_base = token.special || IsOneSymbol(token.bytes, symbols);
    if (is_base || is_made[static_cast<std::size_t>(id)]) continue;
    if (++unmade > kMaxUnmade || piece.size() > kMaxUnmadeBytes || IsTwoPieces(piece, raw))
      return false;
  }
  return true;
}

}  // namespace maskd
