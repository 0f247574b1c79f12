#include "grammar_core/tokenizer/marker_table.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <set>

#include "absl/container/flat_hash_set.h"

namespace maskd {
namespace {

constexpr absl::string_view kFullwidthBar = "\xef\xbd\x9c";

bool LooksLikeMarkup(absl::string_view text) {
  const bool has_sign = text.find_first_of("<>[]|") != absl::string_view::npos ||
                        text.find(kFullwidthBar) != absl::string_view::npos;
  return has_sign && text.find_first_of(" \t\r\n") == absl::string_view::npos;
}

// What tells markers apart, most of which begin with the same byte.
std::uint16_t BeginningOf(absl::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  return static_cast<std::uint16_t>((byte(0) << 8U) | byte(1));
}

}  // namespace

MarkerTable::MarkerTable(std::shared_ptr<const Vocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)) {
  for (const TokenId id : vocabulary_->special_ids()) Add(id);
  std::vector<TokenId> added = vocabulary_->encoding_rules().atoms;
  const std::vector<TokenId>& user_defined = vocabulary_->encoding_rules().user_defined;
  added.insert(added.end(), user_defined.begin(), user_defined.end());
  std::ranges::sort(added);
  for (const TokenId id : added)
    if (!vocabulary_->IsSpecial(id) && LooksLikeMarkup(vocabulary_->TokenBytes(id))) Add(id);
  for (TokenId id = 0; id < vocabulary_->size(); ++id) {
    const absl::string_view bytes = vocabulary_->TokenBytes(id);
    if (bytes.size() == 1 && !vocabulary_->IsSpecial(id))
      byte_is_a_token_.set(static_cast<unsigned char>(bytes[0]));
  }
}

void MarkerTable::Add(TokenId id) {
  const absl::string_view text = vocabulary_->TokenBytes(id);
  if (text.empty() || !by_text_.try_emplace(text, id).second) return;
  std::vector<std::size_t>& sizes = sizes_[BeginningOf(text)];
  const auto place = std::ranges::lower_bound(sizes, text.size(), std::greater<>());
  if (place == sizes.end() || *place != text.size()) sizes.insert(place, text.size());
  first_bytes_.set(static_cast<unsigned char>(text[0]));
}

TokenId MarkerTable::Find(absl::string_view text) const {
  const auto found = by_text_.find(text);
  return found == by_text_.end() ? kNone : found->second;
}

TokenId MarkerTable::At(absl::string_view text) const {
  assert(!text.empty());
  if (!first_bytes_[static_cast<unsigned char>(text[0])]) return kNone;
  if (const auto sizes = sizes_.find(BeginningOf(text)); sizes != sizes_.end()) {
    for (const std::size_t size : sizes->second) {
      if (size > text.size()) continue;
      if (const TokenId id = Find(text.substr(0, size)); id != kNone) return id;
    }
  }
  return Find(text.substr(0, 1));
}

bool MarkerTable::HasMarker(absl::string_view text, std::size_t bytes) const {
  const std::size_t end = std::min(text.size(), bytes);
  for (std::size_t at = 0; at < end; ++at)
    if (At(text.substr(at)) != kNone) return true;
  return false;
}

MarkerTable::Pieces MarkerTable::Cut(absl::string_view text, std::size_t bytes) const {
  Pieces pieces;
  std::size_t begin = 0;
  const std::size_t end = std::min(text.size(), bytes);
  for (std::size_t at = 0; at < end;) {
    if (!first_bytes_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const TokenId marker = At(text.substr(at));
    if (marker == kNone) {
      ++at;
      continue;
    }
    if (at > begin) pieces.push_back({text.substr(begin, at - begin)});
    const std::size_t size = vocabulary_->TokenBytes(marker).size();
    pieces.push_back({text.substr(at, size), marker});
    at += size;
    begin = at;
  }
  if (begin < end) pieces.push_back({text.substr(begin, end - begin)});
  return pieces;
}

bool MarkerTable::CanSpell(absl::string_view text) const {
  const bool by_bytes = std::ranges::all_of(
      text, [&](char byte) { return byte_is_a_token_[static_cast<unsigned char>(byte)]; });
  if (by_bytes) return true;
  absl::flat_hash_set<absl::string_view> tokens;
  std::set<std::size_t> sizes;
  for (TokenId id = 0; id < vocabulary_->size(); ++id) {
    const absl::string_view bytes = vocabulary_->TokenBytes(id);
    if (vocabulary_->IsSpecial(id) || bytes.empty() || bytes.size() > text.size()) continue;
    if (tokens.insert(bytes).second) sizes.insert(bytes.size());
  }
  std::vector<bool> reached(text.size() + 1);
  reached[0] = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!reached[at]) continue;
    for (const std::size_t size : sizes) {
      if (at + size > text.size()) break;
      if (tokens.contains(text.substr(at, size))) reached[at + size] = true;
    }
  }
  return reached[text.size()];
}

}  // namespace maskd
