// Small random grammars of the constructs that the prefix oracle knows.
#ifndef MASKD_TESTS_MATCHER_RANDOM_GRAMMAR_H_
#define MASKD_TESTS_MATCHER_RANDOM_GRAMMAR_H_

#include <random>
#include <vector>

#include "grammar_core/frontend/grammar_source.h"

namespace maskd {

// A JSON schema, a regular expression or a choice, over few letters.
GrammarSource RandomGrammar(std::mt19937_64* random);

// Grammars of indented JSON, of several kinds and widths.
std::vector<GrammarSource> IndentedGrammars();

}  // namespace maskd

#endif  // MASKD_TESTS_MATCHER_RANDOM_GRAMMAR_H_
