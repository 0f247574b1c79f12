// Merging by ids does what a list says if the list is in the order of ids and has, for each token
// that merging by ids makes of the token's own text, the last pair of that.
//
// Why        Take a text, and merge it by the list and by ids side by side. Within what becomes a
//            token, merges are those of the token's own text: none goes over its borders. So by
//            ids the next pair is the last one of some token, and the list has it. By the list it
//            is of the same token, as both take the lowest; and then the same pair, or that token
//            would have two last pairs.
// Cost       each token's text is merged once, 2 us a token; at most kMaxWork, beyond which nothing
//            is known.
#include "grammar_core/tokenizer/formats/merge_order.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/tokenizer/merging.h"

namespace maskd {
namespace {

using Symbols = EncodingRules::Symbols;

using Pairs = absl::flat_hash_set<std::pair<TokenId, TokenId>>;
using IdsByBytes = absl::flat_hash_map<absl::string_view, TokenId>;

// The sum of the squares of the tokens' bytes: some 10 million in the models of today.
constexpr std::int64_t kMaxWork = std::int64_t{1} << 30;

TokenId FindIn(const absl::flat_hash_map<std::string, TokenId>& ids, absl::string_view piece) {
  const auto found = ids.find(piece);
  return found == ids.end() ? OrdinaryTokens::kNone : found->second;
}

// Nothing where they are not in the order of ids, or not of pieces.
std::optional<Pairs> PairsInOrder(const std::vector<Merge>& merges, const RawVocabulary& raw) {
  Pairs pairs;
  pairs.reserve(merges.size());
  TokenId last = 0;
  for (const Merge& merge : merges) {
    if (!merge.is_pair()) return std::nullopt;
    const TokenId made = FindIn(raw.id_by_piece, merge.made);
    const TokenId left = FindIn(raw.id_by_piece, merge.left());
    const TokenId right = FindIn(raw.id_by_piece, merge.right());
    if (made < last || left < 0 || right < 0) return std::nullopt;
    last = made;
    pairs.emplace(left, right);
  }
  return pairs;
}

// The tokens that texts are merged to, as OrdinaryTokens has them.
IdsByBytes OrdinaryIds(const RawVocabulary& raw, const EncodingRules& rules) {
  std::vector<bool> left_out(raw.tokens.size());
  for (const std::vector<TokenId>* ids : {&rules.atoms, &rules.unused})
    for (const TokenId id : *ids) left_out[static_cast<std::size_t>(id)] = true;
  IdsByBytes ids;
  ids.reserve(raw.tokens.size());
  for (std::size_t id = 0; id < raw.tokens.size(); ++id) {
    const Vocabulary::Token& token = raw.tokens[id];
    if (!token.special && !left_out[id] && !token.bytes.empty())
      ids[token.bytes] = static_cast<TokenId>(id);
  }
  return ids;
}

bool IsOneSymbol(absl::string_view text, Merging::Symbols symbols) {
  std::size_t at = 0;
  return text.size() == 1 || (symbols == Merging::Symbols::kKnownCharacters &&
                              DecodeUtf8(text, &at).has_value() && at == text.size());
}

// Whether `pairs` has the last pair that becomes `text`, or there is none.
bool HasLastPair(absl::string_view text, Merging::Symbols symbols, const IdsByBytes& ids,
                 const Pairs& pairs) {
  if (IsOneSymbol(text, symbols)) return true;
  const auto id_of = [&](absl::string_view bytes) {
    const auto found = ids.find(bytes);
    return found == ids.end() ? OrdinaryTokens::kNone : found->second;
  };
  const auto rank_of = [&](absl::string_view bytes) {
    const TokenId id = bytes.size() == text.size() ? OrdinaryTokens::kNone : id_of(bytes);
    return id == OrdinaryTokens::kNone ? OrdinaryTokens::kNoRank : id;
  };
  const std::vector<absl::string_view> parts = Merging(text, symbols, rank_of).Parts();
  return parts.size() != 2 || pairs.contains({id_of(parts[0]), id_of(parts[1])});
}

}  // namespace

Merge Merge::FromLine(std::string line) {
  const std::size_t space = line.find(' ', 1);
  if (space == std::string::npos) return {std::move(line), 0};
  line.erase(space, 1);
  return {std::move(line), space};
}

bool MergesAreByIds(const std::vector<Merge>& merges, const RawVocabulary& raw,
                    const EncodingRules& rules) {
  const std::optional<Pairs> pairs = PairsInOrder(merges, raw);
  if (!pairs.has_value()) return false;
  const IdsByBytes ids = OrdinaryIds(raw, rules);
  const Merging::Symbols symbols = rules.symbols == Symbols::kBytes
                                       ? Merging::Symbols::kBytes
                                       : Merging::Symbols::kKnownCharacters;
  std::int64_t work = 0;
  for (const auto& [text, id] : ids) {
    const auto bytes = static_cast<std::int64_t>(text.size());
    work += bytes * bytes;
    if (work > kMaxWork || !HasLastPair(text, symbols, ids, *pairs)) return false;
  }
  return true;
}

}  // namespace maskd
