#include "tools/cli/spelling.h"

namespace maskd::cli {

TextSplitter SplitterOf(const std::vector<v1::Token>& tokens) {
  TextSplitter splitter;
  for (std::size_t id = 0; id < tokens.size(); ++id)
    if (!tokens[id].special()) splitter.Add(tokens[id].text(), static_cast<TokenId>(id));
  return splitter;
}

}  // namespace maskd::cli
