#include "grammar_core/matcher/other_bytes.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <span>
#include <utility>

namespace maskd {
namespace {

constexpr int kNone = std::numeric_limits<int>::max() / 4;
constexpr int kBytes = 256;

// The tokens of one text, from its begin to each byte and from each byte to its end.
class Place {
 public:
  Place(const TokenSearch& search, absl::string_view text, std::size_t at)
      : search_(search),
        trie_(search.index->trie()),
        text_(text),
        at_(at),
        before_(text.size() + 1, kNone),
        behind_(text.size() + 1, kNone) {
    best_.fill(kNone);
    before_[0] = 0;
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
      if (before_[begin] == kNone) continue;
      VisitTokensAt(begin, [&](std::size_t end) {
        before_[end] = std::min(before_[end], before_[begin] + 1);
      });
    }
    behind_[text.size()] = 0;
    for (std::size_t begin = text.size(); begin-- > at_ + 1;)
      VisitTokensAt(begin, [&](std::size_t end) {
        behind_[begin] = std::min(behind_[begin], behind_[end] + 1);
      });
  }

  // As the text is.
  [[nodiscard]] int tokens() const { return before_.back(); }

  // With each byte at the place.
  const std::array<int, kBytes>& OfBytes() {
    for (std::size_t begin = 0; begin <= at_; ++begin)
      if (before_[begin] != kNone) TakeTo(begin);
    return best_;
  }

 private:
  // A token is taken where it may be text.
  [[nodiscard]] bool IsText(const TrieNode& node) const {
    if (node.token == TokenTrie::kNoToken) return false;
    bool is_text = false;
    trie_.VisitTokens(node, [&](TokenId id) { is_text = is_text || search_.IsText(id); });
    return is_text;
  }

  // Calls visit(end) for each token of the text from `begin` on.
  template <typename Visit>
  void VisitTokensAt(std::size_t begin, Visit visit) const {
    trie_.VisitPrefixes(text_.substr(begin), [&](std::size_t bytes, const TrieNode& node) {
      if (IsText(node)) visit(begin + bytes);
    });
  }

  // The tokens that begin at `begin` and go over the place.
  void TakeTo(std::size_t begin) {
    const std::span<const TrieNode> nodes = trie_.NodesBelow(text_.substr(begin, at_ - begin));
    for (int byte = 0; byte < kBytes; ++byte) {
      const TrieNode* node = TokenTrie::FindChild(nodes, static_cast<unsigned char>(byte));
      int& best = best_[static_cast<std::size_t>(byte)];
      for (std::size_t end = at_ + 1; node != nullptr; ++end) {
        if (IsText(*node)) best = std::min(best, before_[begin] + 1 + behind_[end]);
        if (end == text_.size()) break;
        node =
            TokenTrie::FindChild(TokenTrie::Below(*node), static_cast<unsigned char>(text_[end]));
      }
    }
  }

  const TokenSearch& search_;
  const TokenTrie& trie_;
  const absl::string_view text_;
  const std::size_t at_;
  std::vector<int> before_;  // the fewest tokens of the bytes before each
  std::vector<int> behind_;  // of those from each on, for those behind the place
  std::array<int, kBytes> best_;
};

}  // namespace

std::vector<ByteChoice> BytesOfFewerTokens(const TokenSearch& search, absl::string_view text,
                                           std::size_t at) {
  assert(at < text.size() && "no byte of the text");
  Place place(search, text, at);
  const auto here = static_cast<unsigned char>(text[at]);
  const std::array<int, kBytes>& of_bytes = place.OfBytes();
  std::vector<ByteChoice> others;
  for (int byte = 0; byte < kBytes; ++byte) {
    const auto other = static_cast<unsigned char>(byte);
    const int tokens = of_bytes[static_cast<std::size_t>(byte)];
    if (other != here && tokens < place.tokens()) others.push_back({other, tokens});
  }
  std::ranges::sort(others, {},
                    [](const ByteChoice& choice) { return std::pair(choice.tokens, choice.byte); });
  return others;
}

}  // namespace maskd
