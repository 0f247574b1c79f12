#include "grammar_core/mask/run_index.h"

#include <algorithm>
#include <functional>

namespace maskd {

RunIndex::RunIndex(const Vocabulary& vocabulary, const std::bitset<256>& set)
    : rests_(std::span<const TokenTrie::Entry>()) {
  std::vector<TokenTrie::Entry> entries;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const absl::string_view bytes = vocabulary.TokenBytes(id);
    if (vocabulary.IsSpecial(id) || bytes.size() > TokenTrie::kMaxDepth) continue;
    std::size_t run = 0;
    for (; run < bytes.size() && set[static_cast<unsigned char>(bytes[run])]; ++run) {
      if (run == 0) continue;
      entries.push_back({bytes.substr(run), static_cast<TokenId>(cuts_.size())});
      cuts_.push_back({static_cast<int>(run), id});
    }
    if (run == 0) continue;
    if (run > 1) longer_.push_back({static_cast<int>(run), id});
    if (run == bytes.size()) {
      whole_.push_back({static_cast<int>(run), id});
      longest_whole_ = std::max(longest_whole_, whole_.back().run);
    } else {
      entries.push_back({bytes.substr(run), static_cast<TokenId>(cuts_.size())});
      cuts_.push_back({static_cast<int>(run), id});
    }
  }
  longer_.shrink_to_fit();
  std::ranges::stable_sort(longer_, std::ranges::greater(), &RunToken::run);
  rests_ = TokenTrie::OfUnsorted(&entries);
}

}  // namespace maskd
