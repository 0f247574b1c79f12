// A list orders tokens by where it first makes them. Merged by that order, each token's own text
// has a last pair. To merge by the order does what the list says if the list has these pairs, and
// in the same order.
//
// Why        Take a text, and merge it by the list and by the order side by side. Within what
//            becomes a token, merges are those of the token's own text: none goes over its borders.
//            So each pair of neighbours that are a token is the last one of that token, and the
//            list has it. Both take the lowest, of equal ones the leftmost: the same.
// Cost       each token's text is merged once, 2 us a token; at most kMaxWork, beyond which nothing
//            is known.
#include "grammar_core/tokenizer/formats/merge_order.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/tokenizer/merging.h"

namespace maskd {
namespace {

using Symbols = EncodingRules::Symbols;

// The place of each pair in the list.
using Places = absl::flat_hash_map<std::pair<TokenId, TokenId>, int>;
using IdsByBytes = absl::flat_hash_map<absl::string_view, TokenId>;

// The sum of the squares of the tokens' bytes: some 10 million in the models of today.
constexpr std::int64_t kMaxWork = std::int64_t{1} << 30;

TokenId FindIn(const absl::flat_hash_map<std::string, TokenId>& ids, absl::string_view piece) {
  const auto found = ids.find(piece);
  return found == ids.end() ? OrdinaryTokens::kNone : found->second;
}

// What a list says.
struct Order {
  Places places;
  bool is_by_ids = true;
  // By id: where the list first makes it; those that it makes not come last.
  std::vector<int> firsts;
};

// Whether a pair makes what its pieces spell, as bytes.
bool SpellsWhatItMakes(TokenId left, TokenId right, TokenId made, const RawVocabulary& raw) {
  const auto bytes_of = [&](TokenId id) -> absl::string_view {
    return raw.tokens[static_cast<std::size_t>(id)].bytes;
  };
  return absl::StartsWith(bytes_of(made), bytes_of(left)) &&
         bytes_of(made).substr(bytes_of(left).size()) == bytes_of(right);
}

// Nothing where they are not of pieces.
std::optional<Order> ReadOrder(const std::vector<MergeRule>& merges, const RawVocabulary& raw) {
  Order order;
  order.places.reserve(merges.size());
  const auto never = static_cast<int>(merges.size());
  order.firsts.assign(raw.tokens.size(), never);
  TokenId last = OrdinaryTokens::kNone;
  int place = 0;
  for (const MergeRule& merge : merges) {
    if (!merge.is_pair()) return std::nullopt;
    const TokenId made = FindIn(raw.id_by_piece, merge.made);
    const TokenId left = FindIn(raw.id_by_piece, merge.left());
    const TokenId right = FindIn(raw.id_by_piece, merge.right());
    if (made < 0 || left < 0 || right < 0 || !SpellsWhatItMakes(left, right, made, raw))
      return std::nullopt;
    order.places[{left, right}] = place;  // of equal pairs the last one counts
    int& first = order.firsts[static_cast<std::size_t>(made)];
    if (first == never) {
      first = place;
      order.is_by_ids = order.is_by_ids && made > last;
      last = made;
    }
    ++place;
  }
  return order;
}

// The tokens that texts are merged to, as OrdinaryTokens has them.
IdsByBytes OrdinaryIds(const RawVocabulary& raw, const EncodingRules& rules) {
  std::vector<bool> left_out(raw.tokens.size());
  for (const std::vector<TokenId>* ids : {&rules.atoms, &rules.unused, &rules.byte_tokens})
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

// The place of the last pair that becomes `text`: kNoRank where there is none, nothing where the
// list has it not.
std::optional<int> PlaceOfLast(absl::string_view text, Merging::Symbols symbols,
                               const IdsByBytes& ids, const Order& order) {
  if (IsOneSymbol(text, symbols)) return OrdinaryTokens::kNoRank;
  const auto id_of = [&](absl::string_view bytes) {
    const auto found = ids.find(bytes);
    return found == ids.end() ? OrdinaryTokens::kNone : found->second;
  };
  const auto rank_of = [&](absl::string_view bytes) {
    const TokenId id = bytes.size() == text.size() ? OrdinaryTokens::kNone : id_of(bytes);
    if (id == OrdinaryTokens::kNone) return OrdinaryTokens::kNoRank;
    return order.is_by_ids ? id : order.firsts[static_cast<std::size_t>(id)];
  };
  const std::vector<absl::string_view> parts = Merging(text, symbols, rank_of).Parts();
  if (parts.size() != 2) return OrdinaryTokens::kNoRank;
  const auto place = order.places.find({id_of(parts[0]), id_of(parts[1])});
  return place == order.places.end() ? std::nullopt : std::optional<int>(place->second);
}

// The symbols of a text, as CanonicalEncoder has them of rules with or without scores.
Merging::Symbols SymbolsOf(const EncodingRules& rules, bool is_by_ids) {
  if (rules.symbols == Symbols::kBytes) return Merging::Symbols::kBytes;
  return is_by_ids ? Merging::Symbols::kKnownCharacters : Merging::Symbols::kCharacters;
}

// Sets the tokens "<0x00>" to "<0xFF>"; false where one is missing.
bool PutByteTokens(const RawVocabulary& raw, EncodingRules* rules) {
  for (int byte = 0; byte < 256; ++byte) {
    rules->byte_tokens.push_back(FindIn(raw.id_by_piece, absl::StrFormat("<0x%02X>", byte)));
    if (rules->byte_tokens.back() == OrdinaryTokens::kNone) return false;
  }
  return true;
}

}  // namespace

MergeRule MergeRule::FromLine(std::string line) {
  const std::size_t space = line.find(' ', 1);
  if (space == std::string::npos) return {std::move(line), 0};
  line.erase(space, 1);
  return {std::move(line), space};
}

bool ReadMergeOrder(const std::vector<MergeRule>& merges, const RawVocabulary& raw,
                    EncodingRules* rules) {
  std::optional<Order> order = ReadOrder(merges, raw);
  if (!order.has_value()) return false;
  const bool needs_bytes = !order->is_by_ids && rules->symbols == Symbols::kCharacters;
  if (needs_bytes && !PutByteTokens(raw, rules)) return false;
  const IdsByBytes ids = OrdinaryIds(raw, *rules);
  const Merging::Symbols symbols = SymbolsOf(*rules, order->is_by_ids);
  std::int64_t work = 0;
  std::vector<std::pair<int, int>> places;  // where a token is first made, and its last pair
  for (const auto& [text, id] : ids) {
    const auto bytes = static_cast<std::int64_t>(text.size());
    work += bytes * bytes;
    if (work > kMaxWork) return false;
    const std::optional<int> place = PlaceOfLast(text, symbols, ids, *order);
    if (!place.has_value()) return false;
    if (*place != OrdinaryTokens::kNoRank)
      places.emplace_back(order->firsts[static_cast<std::size_t>(id)], *place);
  }
  std::ranges::sort(places);
  const auto is_before = [](const auto& x, const auto& y) { return x.second >= y.second; };
  if (std::ranges::adjacent_find(places, is_before) != places.end()) return false;
  if (!order->is_by_ids)
    for (const int first : order->firsts) rules->scores.push_back(-static_cast<float>(first));
  return true;
}

}  // namespace maskd
