#include "grammar_core/tokenizer/formats/format.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/source_file.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

absl::Status PutToken(absl::string_view place, std::int64_t id, Vocabulary::Token token,
                      RawVocabulary* raw) {
  if (id < 0 || id >= Vocabulary::kMaxTokens) {
    return InvalidTokenizer(
        place, absl::StrCat("id ", id, " is not in 0 to ", Vocabulary::kMaxTokens - 1));
  }
  const auto index = static_cast<std::size_t>(id);
  if (index >= raw->tokens.size()) raw->tokens.resize(index + 1);
  Vocabulary::Token& slot = raw->tokens[index];
  if (slot.special || !slot.bytes.empty())
    return InvalidTokenizer(place, absl::StrCat("id ", id, " is another token's"));
  slot = std::move(token);
  return absl::OkStatus();
}

std::vector<TokenId> PiecesWhere(const RawVocabulary& raw,
                                 absl::FunctionRef<bool(absl::string_view)> is_one) {
  std::vector<TokenId> ids;
  for (const auto& [piece, id] : raw.id_by_piece)
    if (is_one(piece)) ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

EncodingRules RankRules(absl::string_view pattern) {
  EncodingRules rules;
  if (pattern.empty()) return rules;
  rules.symbols = EncodingRules::Symbols::kBytes;
  rules.whole_pieces = true;
  rules.patterns = {std::string(pattern)};
  return rules;
}

TokenId FindListed(absl::string_view text, const RawVocabulary& raw) {
  for (std::size_t id = 0; id < raw.tokens.size(); ++id)
    if (raw.tokens[id].special && raw.tokens[id].bytes == text) return static_cast<TokenId>(id);
  const auto piece = raw.id_by_piece.find(text);
  const bool is_added =
      piece != raw.id_by_piece.end() &&
      std::find(raw.added_ids.begin(), raw.added_ids.end(), piece->second) != raw.added_ids.end();
  return is_added ? piece->second : -1;
}

TokenId FindNamed(absl::string_view text, const RawVocabulary& raw) {
  if (const TokenId listed = FindListed(text, raw); listed >= 0) return listed;
  const auto piece = raw.id_by_piece.find(text);
  return piece == raw.id_by_piece.end() ? -1 : piece->second;
}

}  // namespace maskd
