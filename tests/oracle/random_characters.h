// Random nodes of characters, for tests that compare two opinions of one.
#ifndef MASKD_TESTS_ORACLE_RANDOM_CHARACTERS_H_
#define MASKD_TESTS_ORACLE_RANDOM_CHARACTERS_H_

#include <random>

#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// A node of at most `depth` operators above each other, over "a", "b", U+00E9 and their like.
NodeId RandomCharacters(int depth, std::mt19937_64* random, IrBuilder* b);

}  // namespace maskd

#endif  // MASKD_TESTS_ORACLE_RANDOM_CHARACTERS_H_
