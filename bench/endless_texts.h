// Grammars that ordinary and hostile traffic brings, each with texts of it that never repeat.
#ifndef MASKD_BENCH_ENDLESS_TEXTS_H_
#define MASKD_BENCH_ENDLESS_TEXTS_H_

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bench/cases.h"
#include "grammar_core/frontend/grammar_source.h"

namespace maskd::bench {

using Random = std::mt19937_64;

struct EndlessTexts {
  std::string name;
  GrammarSource source;
  std::function<std::string(Random*)> make;
};

// 40 optional members in any order; a text has 25 of them in a random one.
EndlessTexts MembersInAnyOrder();
// A syntax tree of 12 recursive operations; a text is a random tree.
EndlessTexts SyntaxTrees();
// Any object; a text is a random one.
EndlessTexts OpenObjects();
// json_object; a text nests so many arrays and objects at random.
EndlessTexts NestedTexts(int levels);
// `schema` is draft-07's own schema, its members in declared or in any order. The texts are the
// cases' schemas, with their members in the order that `schema` declares, and one of random name.
EndlessTexts SchemasAsTexts(const std::string& schema, bool any_order,
                            const std::vector<Case>& cases);

}  // namespace maskd::bench

#endif  // MASKD_BENCH_ENDLESS_TEXTS_H_
