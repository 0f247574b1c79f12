// Tokens as a trie of their bytes, packed for one pass in order.
//
// Layout   nodes in depth-first order, siblings by byte; a node's subtree is the `skip` nodes from
//          it on, itself included. Nodes of depth 1 are the first bytes; the root has no node.
// Bounds   tokens of more than kMaxDepth bytes are not in the trie: the caller tries them one by
//          one.
// Source   the packed node is measured against other layouts in the design notes of grammar_core.
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_MASK_TOKEN_TRIE_H_
#define MASKD_GRAMMAR_CORE_MASK_TOKEN_TRIE_H_

#include <array>
#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// Eight bytes, so that a walk in order reads memory from front to back.
struct TrieNode {
  std::uint32_t skip : 24;
  std::uint32_t byte : 8;
  std::uint32_t token : 24;  // kNoToken, or a token id with kHasTwins or'ed in
  std::uint32_t depth : 8;
};
static_assert(sizeof(TrieNode) == 8);

// What a walk for a mask goes along, beside the automaton's states.
class TokenTrie {
 public:
  static constexpr std::size_t kMaxDepth = 255;
  static constexpr std::uint32_t kNoToken = 0xFFFFFF;
  static constexpr std::uint32_t kHasTwins = 1U << 22;
  static constexpr std::uint32_t kIdMask = kHasTwins - 1;

  // A token and the bytes it has in this trie.
  struct Entry {
    absl::string_view bytes;
    TokenId id;
  };

  // `entries` ascend by bytes, none of which is empty. The bytes are not kept.
  explicit TokenTrie(std::span<const Entry> entries);

  // The same of entries in any order, which it sorts.
  static TokenTrie OfUnsorted(std::vector<Entry>* entries);

  // In the order of the layout.
  [[nodiscard]] std::span<const TrieNode> nodes() const { return nodes_; }
  // The node of first byte `byte`, or nodes().size().
  [[nodiscard]] std::size_t First(unsigned char byte) const { return first_[byte]; }
  // Tokens with more bytes than the trie is deep.
  [[nodiscard]] const std::vector<TokenId>& long_tokens() const { return long_tokens_; }

  // Roughly.
  [[nodiscard]] std::int64_t held_bytes() const;

  // Calls visit(id) for each token of a node whose `token` is not kNoToken.
  template <typename Visit>
  void VisitTokens(const TrieNode& node, Visit visit) const {
    assert(node.token != kNoToken);
    const auto id = static_cast<TokenId>(node.token & kIdMask);
    visit(id);
    if ((node.token & kHasTwins) == 0) return;
    for (const TokenId twin : twins_.at(id)) visit(twin);
  }

  // Sets the bits of a node's tokens, if it has any, in words laid out as TokenMask's. Half of all
  // nodes have one and no branch could be predicted, so there is none.
  void AllowTokens(const TrieNode& node, std::int32_t* words) const {
    const bool has = node.token != kNoToken;
    const std::uint32_t id = has ? node.token & kIdMask : 0;
    words[id / 32] |= static_cast<std::int32_t>(static_cast<std::uint32_t>(has) << (id % 32));
    if (has & ((node.token & kHasTwins) != 0))
      for (const TokenId twin : twins_.at(static_cast<TokenId>(id)))
        words[twin / 32] |= static_cast<std::int32_t>(1U << (twin % 32));
  }

  // Calls visit(bytes, node) for each node with a token that `text` begins with, shortest first;
  // `bytes` is how many the token has.
  template <typename Visit>
  void VisitPrefixes(absl::string_view text, Visit visit) const {
    std::span<const TrieNode> nodes = nodes_;
    for (std::size_t bytes = 0; bytes < text.size();) {
      const TrieNode* const node = FindChild(nodes, static_cast<unsigned char>(text[bytes++]));
      if (node == nullptr) return;
      if (node->token != kNoToken) visit(bytes, *node);
      nodes = Below(*node);
    }
  }

  // The nodes of tokens that begin with `text` and go on; none where there is no such token.
  [[nodiscard]] std::span<const TrieNode> NodesBelow(absl::string_view text) const {
    std::span<const TrieNode> nodes = nodes_;
    for (const char byte : text) {
      const TrieNode* const node = FindChild(nodes, static_cast<unsigned char>(byte));
      if (node == nullptr) return {};
      nodes = Below(*node);
    }
    return nodes;
  }

  // The node of `byte` among the siblings that `nodes` begins with; null where there is none.
  static const TrieNode* FindChild(std::span<const TrieNode> nodes, unsigned char byte) {
    std::size_t at = 0;
    while (at < nodes.size() && nodes[at].byte != byte) at += nodes[at].skip;
    return at < nodes.size() ? &nodes[at] : nullptr;
  }
  // The nodes below `node`, its children among them.
  static std::span<const TrieNode> Below(const TrieNode& node) {
    assert(node.skip >= 1);
    return {&node + 1, static_cast<std::size_t>(node.skip) - 1};
  }

 private:
  std::vector<TrieNode> nodes_;
  std::array<std::uint32_t, 256> first_;
  std::vector<TokenId> long_tokens_;
  // Tokens with the bytes of the one that a node names.
  absl::flat_hash_map<TokenId, std::vector<TokenId>> twins_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_TOKEN_TRIE_H_
