// A byte in the place of another, against the tokens of every text with one byte changed.
#include "grammar_core/matcher/other_bytes.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/compile/tokenizer_space.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

TEST(OtherBytes, AreAllByWhichTheTextHasFewerTokens) {
  std::mt19937_64 random(3);  // NOLINT(cert-msc51-cpp): the same texts in every run
  const auto space = TokenizerSpace::Create(TestVocabulary());
  const TokenSearch search = {nullptr, &space->index(), {}};
  const std::string letters = "abc\",:{}tru[]x";
  int found = 0;
  for (int i = 0; i < 400; ++i) {
    std::string text;
    for (std::size_t size = 1 + random() % 12; text.size() < size;)
      text.push_back(letters[random() % letters.size()]);
    const std::size_t at = random() % text.size();
    const std::size_t tokens = FewestPieces(search, text).size();
    std::vector<int> expected(256, 0);
    for (int byte = 0; byte < 256; ++byte) {
      std::string other = text;
      other[at] = static_cast<char>(byte);
      const std::size_t fewer = FewestPieces(search, other).size();
      if (fewer > 0 && fewer < tokens)
        expected[static_cast<std::size_t>(byte)] = static_cast<int>(fewer);
    }
    std::vector<int> has(256, 0);
    int last = 0;
    for (const ByteChoice& choice : BytesOfFewerTokens(search, text, at)) {
      EXPECT_GE(choice.tokens, last) << "the fewest tokens come first";
      last = choice.tokens;
      has[choice.byte] = choice.tokens;
      ++found;
    }
    EXPECT_EQ(has, expected) << text << " at " << at;
  }
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace maskd
