#include "grammar_core/mask/token_trie.h"

#include <algorithm>
#include <array>

namespace maskd {
namespace {

std::size_t CommonPrefix(absl::string_view x, absl::string_view y) {
  const std::size_t end = std::min(x.size(), y.size());
  std::size_t i = 0;
  while (i < end && x[i] == y[i]) ++i;
  return i;
}

}  // namespace

TokenTrie::TokenTrie(std::span<const Entry> entries) {
  std::array<std::size_t, kMaxDepth + 1> path;  // path[d]: the open node of depth d + 1
  absl::string_view last;
  const auto close_to = [&](std::size_t depth) {
    for (std::size_t d = last.size(); d > depth; --d)
      nodes_[path[d - 1]].skip = static_cast<std::uint32_t>(nodes_.size() - path[d - 1]);
  };
  for (const auto& [bytes, id] : entries) {
    if (bytes.size() > kMaxDepth) {
      long_tokens_.push_back(id);
      continue;
    }
    if (bytes == last) {
      TrieNode& node = nodes_[path[bytes.size() - 1]];
      node.token |= kHasTwins;
      twins_[static_cast<TokenId>(node.token & kIdMask)].push_back(id);
      continue;
    }
    const std::size_t common = CommonPrefix(last, bytes);
    close_to(common);
    for (std::size_t depth = common; depth < bytes.size(); ++depth) {
      path[depth] = nodes_.size();
      nodes_.push_back({.skip = 1,
                        .byte = static_cast<unsigned char>(bytes[depth]),
                        .token = kNoToken,
                        .depth = static_cast<std::uint32_t>(depth + 1)});
    }
    nodes_.back().token = static_cast<std::uint32_t>(id);
    last = bytes;
  }
  close_to(0);
  first_.fill(static_cast<std::uint32_t>(nodes_.size()));
  for (std::uint32_t i = 0; i < nodes_.size(); i += nodes_[i].skip) first_[nodes_[i].byte] = i;
}

std::int64_t TokenTrie::held_bytes() const {
  std::size_t bytes = sizeof(*this) + nodes_.capacity() * sizeof(TrieNode) +
                      long_tokens_.capacity() * sizeof(TokenId) +
                      twins_.capacity() * sizeof(*twins_.begin());
  for (const auto& [id, others] : twins_) bytes += others.capacity() * sizeof(TokenId);
  return static_cast<std::int64_t>(bytes);
}

TokenTrie TokenTrie::OfUnsorted(std::vector<Entry>* entries) {
  std::sort(entries->begin(), entries->end(), [](const Entry& x, const Entry& y) {
    return x.bytes != y.bytes ? x.bytes < y.bytes : x.id < y.id;
  });
  return TokenTrie(*entries);
}

}  // namespace maskd
