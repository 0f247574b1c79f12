// Tokens that punctuate JSON or are typical of its values, and how far from the common path each
// leads: a text on one line, a space after colons and commas, every declared name in turn, one item
// in each array. What is written on other ways is at a greater distance.
//
// Source   what real texts of MaskBench go on with where a mask was not made ahead (`maskbench`).
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_COMPILE_PUNCTUATION_H_
#define MASKD_GRAMMAR_CORE_COMPILE_PUNCTUATION_H_

#include <vector>

#include "grammar_core/mask/token_index.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// Such a token, and how far off the common path it leads.
struct PunctuationToken {
  TokenId id;
  int distance;
};

// Those that the vocabulary has.
std::vector<PunctuationToken> FindPunctuation(const TokenIndex& index);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_PUNCTUATION_H_
