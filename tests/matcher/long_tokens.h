// A vocabulary whose tokens hold parts of several items.
#ifndef MASKD_TESTS_MATCHER_LONG_TOKENS_H_
#define MASKD_TESTS_MATCHER_LONG_TOKENS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grammar_core/compile/tokenizer_space.h"

namespace maskd {

inline constexpr TokenId kEndOfLongTokens = 400;

// The bytes, behind them `long_tokens`, and kEndOfLongTokens as the end; the ids between hold
// nothing.
inline std::shared_ptr<TokenizerSpace> SpaceWith(const std::vector<std::string>& long_tokens) {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  for (const std::string& text : long_tokens) tokens.push_back({text});
  tokens.resize(kEndOfLongTokens);
  tokens.push_back({"<end>", true});
  return TokenizerSpace::Create(*Vocabulary::Create("test", std::move(tokens), {kEndOfLongTokens}));
}

}  // namespace maskd

#endif  // MASKD_TESTS_MATCHER_LONG_TOKENS_H_
