#include "grammar_core/tokenizer/text_splitter.h"

#include <algorithm>

namespace maskd {

TextSplitter::TextSplitter(const Vocabulary& vocabulary) {
  for (TokenId id = 0; id < vocabulary.size(); ++id)
    if (!vocabulary.IsSpecial(id)) Add(vocabulary.TokenBytes(id), id);
}

void TextSplitter::Add(absl::string_view bytes, TokenId id) {
  if (bytes.empty()) return;
  ids_.try_emplace(bytes, id);
  longest_ = std::max(longest_, bytes.size());
}

std::vector<TextSplitter::Piece> TextSplitter::PiecesAt(absl::string_view text) const {
  std::vector<Piece> pieces;
  for (std::size_t bytes = std::min(longest_, text.size()); bytes > 0; --bytes) {
    const auto found = ids_.find(text.substr(0, bytes));
    if (found != ids_.end()) pieces.push_back({found->second, bytes});
  }
  return pieces;
}

}  // namespace maskd
