// A vocabulary with the awkward tokens: every byte, words across the borders of JSON tokens and of
// characters, twins, a gap, special tokens of which one ends a text.
#ifndef MASKD_TESTS_MATCHER_TEST_VOCABULARY_H_
#define MASKD_TESTS_MATCHER_TEST_VOCABULARY_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// Ids 0 to 255 are the bytes; then words, a gap, and special tokens of which one ends a text.
inline constexpr TokenId kTrue = 256;
inline constexpr TokenId kOpenName = 257;
inline constexpr TokenId kGap = 274;
inline constexpr TokenId kOther = 275;
inline constexpr TokenId kEnd = 276;
inline constexpr int kVocabSize = 277;

inline std::shared_ptr<const Vocabulary> TestVocabulary() {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  for (const char* word : {"true", "{\"", "\":", "\"a", "  ", "\\u00e", "ab", "bc", "abc", "ab",
                           "a\"", "\",\"", "\"}", ":[", "]}", "\xc3\xa9", "\xa9", "a\xc3"}) {
    tokens.push_back({word});
  }
  tokens.push_back({});
  tokens.push_back({"<other>", true});
  tokens.push_back({"<end>", true});
  return *Vocabulary::Create("test", std::move(tokens), {kEnd});
}

}  // namespace maskd

#endif  // MASKD_TESTS_MATCHER_TEST_VOCABULARY_H_
