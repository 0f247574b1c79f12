// Bitmaps of tokens: for each ASCII character those that hold it, for each length up to
// kIndexedChars those that are no longer. The tokens within a class of characters are what is left
// when those that hold another character are taken away.
//
// Invariant  bitmaps have the ordinary tokens alone; ill-formed ones are in no class.
// Cost       a class is one pass over a bitmap for each character that it leaves out.
#include "grammar_core/mask/token_index.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/base/sort_unique.h"
#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

// Whether `bytes` are a character's first ones, and not all of them. Two fillers are enough: the
// second bytes that a first byte allows include the least of all such bytes or the greatest.
bool BeginsCharacter(absl::string_view bytes) {
  const auto size =
      static_cast<std::size_t>(Utf8SequenceBytes(static_cast<unsigned char>(bytes.front())));
  if (bytes.size() >= size) return false;
  return std::ranges::any_of(std::array{'\x80', '\xBF'}, [&](char filler) {
    std::string whole(bytes);
    whole.resize(size, filler);
    std::size_t at = 0;
    return DecodeUtf8(whole, &at).has_value();
  });
}

}  // namespace

TokenIndex::TokenIndex(std::shared_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)),
      rank_(vocabulary_->size(), -1),
      contains_(128, TokenMask(vocabulary_->size())),
      shorter_(kIndexedChars + 1, TokenMask(vocabulary_->size())),
      well_formed_(vocabulary_->size()),
      ascii_(vocabulary_->size()),
      holds_spaces_beyond_ascii_(vocabulary_->size()),
      text_(vocabulary_->size()) {
  SortTokens();
  trie_ = std::make_shared<const TokenTrie>(EntriesOf(sorted_));
  for (const TokenId id : sorted_) IndexToken(id);
  for (int n = 1; n <= kIndexedChars; ++n) shorter_[n].Merge(shorter_[n - 1]);
  for (const absl::string_view bytes : {" \t\n\r", "0123456789"}) {
    std::bitset<256> set;
    for (const unsigned char byte : bytes) set.set(byte);
    common_runs_.push_back({set, std::make_shared<const RunIndex>(*vocabulary_, set)});
  }
  digits_are_alone_ = FindDigitsAlone();
  std::vector<TokenId> no_text;
  std::ranges::copy_if(sorted_, std::back_inserter(no_text),
                       [&](TokenId id) { return !text_.Allows(id); });
  no_text_ = std::make_unique<const TokenTrie>(EntriesOf(no_text));
  for (const unsigned char end : kEndBytes) texts_after_.push_back(MakeTextsAfter(end));
}

TokenTrie TokenIndex::MakeTextsAfter(unsigned char end) const {
  std::vector<absl::string_view> texts;
  for (const TokenId id : TokensHolding(end)) {
    const absl::string_view bytes = vocabulary_->TokenBytes(id);
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i)
      if (static_cast<unsigned char>(bytes[i]) == end) texts.push_back(bytes.substr(i + 1));
  }
  SortUnique(&texts);
  std::vector<TokenTrie::Entry> entries;
  for (const absl::string_view text : texts)
    entries.push_back({text, static_cast<TokenId>(entries.size())});
  return TokenTrie(entries);
}

const TokenTrie& TokenIndex::TextsAfter(unsigned char end) const {
  const std::size_t place = kEndBytes.find(static_cast<char>(end));
  assert(place != absl::string_view::npos && "one of kEndBytes");
  return texts_after_[place];
}

// Nodes of a trie are parts of tokens: only those that may be of a number are entered.
bool TokenIndex::FindDigitsAlone() const {
  const std::span<const TrieNode> nodes = trie_->nodes();
  std::array<bool, TokenTrie::kMaxDepth + 1> is_digit = {};  // the byte at each depth
  for (std::size_t i = 0; i < nodes.size();) {
    const TrieNode& node = nodes[i];
    const auto byte = static_cast<char>(node.byte);
    const bool is_of_number = absl::StrContains(kNumberBytes, byte);
    if (!is_of_number && is_digit[node.depth - 1]) return false;
    is_digit[node.depth] = absl::ascii_isdigit(static_cast<unsigned char>(byte));
    i += is_of_number ? 1 : node.skip;
  }
  return std::ranges::none_of(trie_->long_tokens(), [&](TokenId id) {
    const absl::string_view bytes = vocabulary_->TokenBytes(id);
    const std::size_t end = bytes.find_first_not_of(kNumberBytes);
    return end != absl::string_view::npos && end > 0 &&
           absl::ascii_isdigit(static_cast<unsigned char>(bytes[end - 1]));
  });
}

std::shared_ptr<const RunIndex> TokenIndex::CommonRuns(const std::bitset<256>& set) const {
  for (const Runs& common : common_runs_)
    if (common.set == set) return common.runs;
  return nullptr;
}

std::int64_t TokenIndex::held_bytes() const {
  const auto masks = static_cast<std::int64_t>(contains_.size() + shorter_.size() + 4);
  std::int64_t bytes = masks * ascii_.held_bytes() + trie_->held_bytes() + no_text_->held_bytes() +
                       static_cast<std::int64_t>(sorted_.capacity() * sizeof(TokenId) +
                                                 rank_.capacity() * sizeof(rank_[0]));
  for (const Runs& common : common_runs_) bytes += common.runs->held_bytes();
  for (const TokenTrie& texts : texts_after_) bytes += texts.held_bytes();
  return bytes;
}

void TokenIndex::SortTokens() {
  for (TokenId id = 0; id < vocabulary_->size(); ++id)
    if (!vocabulary_->IsSpecial(id) && !vocabulary_->TokenBytes(id).empty()) sorted_.push_back(id);
  std::sort(sorted_.begin(), sorted_.end(), [&](TokenId x, TokenId y) {
    const absl::string_view a = vocabulary_->TokenBytes(x);
    const absl::string_view b = vocabulary_->TokenBytes(y);
    return a != b ? a < b : x < y;
  });
  for (std::size_t i = 0; i < sorted_.size(); ++i) rank_[sorted_[i]] = static_cast<std::int32_t>(i);
}

void TokenIndex::IndexToken(TokenId id) {
  const absl::string_view bytes = vocabulary_->TokenBytes(id);
  bool is_ascii = true;
  for (const unsigned char byte : bytes)
    if (byte < 128)
      contains_[byte].Allow(id);
    else
      is_ascii = false;
  if (is_ascii) ascii_.Allow(id);
  int characters = 0;
  for (std::size_t at = 0; at < bytes.size(); ++characters) {
    const std::optional<std::uint32_t> character = DecodeUtf8(bytes, &at);
    if (!character.has_value()) {
      if (BeginsCharacter(bytes.substr(at))) text_.Allow(id);
      return;
    }
    if (SpacesBeyondAscii().Contains(*character)) holds_spaces_beyond_ascii_.Allow(id);
  }
  well_formed_.Allow(id);
  text_.Allow(id);
  if (characters <= kIndexedChars) shorter_[characters].Allow(id);
}

std::vector<TokenTrie::Entry> TokenIndex::EntriesOf(std::span<const TokenId> ids) const {
  std::vector<TokenTrie::Entry> entries;
  entries.reserve(ids.size());
  for (const TokenId id : ids) entries.push_back({vocabulary_->TokenBytes(id), id});
  return entries;
}

TokenId TokenIndex::Find(absl::string_view bytes) const {
  const auto at = std::lower_bound(
      sorted_.begin(), sorted_.end(), bytes,
      [&](TokenId id, absl::string_view b) { return vocabulary_->TokenBytes(id) < b; });
  return at != sorted_.end() && vocabulary_->TokenBytes(*at) == bytes ? *at : -1;
}

TokenId TokenIndex::FindLongest(absl::string_view bytes) const {
  TokenId longest = -1;
  std::span<const TrieNode> nodes = trie_->nodes();
  for (const unsigned char byte : bytes) {
    const TrieNode* child = TokenTrie::FindChild(nodes, byte);
    if (child == nullptr) break;
    if (child->token != TokenTrie::kNoToken)
      longest = static_cast<TokenId>(child->token & TokenTrie::kIdMask);
    nodes = TokenTrie::Below(*child);
  }
  return longest;
}

void TokenIndex::SortByBytes(std::vector<TokenId>* ids) const {
  std::sort(ids->begin(), ids->end(), [&](TokenId x, TokenId y) { return rank_[x] < rank_[y]; });
}

std::vector<TokenId> TokenIndex::TokensHolding(unsigned char ascii) const {
  std::vector<TokenId> ids;
  contains_[ascii].VisitAllowed([&](TokenId id) { ids.push_back(id); });
  return ids;
}

// The bitmaps of its ASCII characters tell most tokens; the few that are left are looked through.
std::vector<TokenId> TokenIndex::TokensHolding(absl::string_view text) const {
  assert(!text.empty() && absl::ascii_isascii(static_cast<unsigned char>(text.back())));
  TokenMask holders = contains_[static_cast<unsigned char>(text.back())];
  for (const unsigned char byte : text)
    if (absl::ascii_isascii(byte)) holders.Intersect(contains_[byte]);
  std::vector<TokenId> ids;
  holders.VisitAllowed([&](TokenId id) {
    if (absl::StrContains(vocabulary_->TokenBytes(id), text)) ids.push_back(id);
  });
  return ids;
}

TokenMask TokenIndex::TokensWithin(const CharacterClass& characters) const {
  TokenMask within = characters.beyond_ascii ? well_formed_ : ascii_;
  if (characters.max_chars <= kIndexedChars)
    within.Intersect(shorter_[characters.max_chars]);
  else if (characters.max_chars < CharacterClass::kAnyLength)
    within.Intersect(shorter_[kIndexedChars]);
  if (characters.beyond_ascii && !characters.spaces_beyond_ascii)
    within.Subtract(holds_spaces_beyond_ascii_);
  for (std::size_t c = 0; c < contains_.size(); ++c)
    if (!characters.ascii[c]) within.Subtract(contains_[c]);
  return within;
}

std::shared_ptr<const TokenTrie> TokenIndex::TrieOf(const CandidateClass& candidates) const {
  TokenMask wanted(vocabulary_->size());
  const auto add_all_but = [&](const TokenMask& tokens) {
    const std::span<std::int32_t> words = wanted.mutable_words();
    for (std::size_t i = 0; i < words.size(); ++i) words[i] |= ~tokens.words()[i];
  };
  for (std::size_t c = 0; c < contains_.size(); ++c)
    if (candidates.holds_any_of[c]) wanted.Merge(contains_[c]);
  if (candidates.holds_beyond_ascii) add_all_but(ascii_);
  if (candidates.holds_spaces_beyond_ascii) wanted.Merge(holds_spaces_beyond_ascii_);
  if (candidates.ill_formed) add_all_but(well_formed_);
  // Lengths that are not indexed count as longer: trying a token too many is only slower.
  if (candidates.longer_than < CharacterClass::kAnyLength)
    add_all_but(shorter_[std::min(candidates.longer_than, kIndexedChars)]);
  if (wanted.CountAllowed() > kMaxCandidates) return trie_;
  std::vector<std::int32_t> ranks;
  wanted.VisitAllowed([&](TokenId id) {
    if (id < vocabulary_->size() && rank_[id] >= 0) ranks.push_back(rank_[id]);
  });
  std::sort(ranks.begin(), ranks.end());
  std::vector<TokenId> ids;
  ids.reserve(ranks.size());
  for (const std::int32_t rank : ranks) ids.push_back(sorted_[rank]);
  return std::make_shared<const TokenTrie>(EntriesOf(ids));
}

}  // namespace maskd
