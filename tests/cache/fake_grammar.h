// Stands for a compiled grammar where only its identity and lifetime matter.
#ifndef MASKD_TESTS_CACHE_FAKE_GRAMMAR_H_
#define MASKD_TESTS_CACHE_FAKE_GRAMMAR_H_

#include <memory>

#include "cache/single_flight.h"

namespace maskd::cache {

// Never dereferenced by the cache; `number` can be read back with NumberOf().
inline GrammarPtr FakeGrammar(int number) {
  auto held = std::make_shared<const int>(number);
  const auto* face = reinterpret_cast<const CompiledGrammar*>(held.get());
  return GrammarPtr(std::move(held), face);
}

inline int NumberOf(const GrammarPtr& grammar) {
  return *reinterpret_cast<const int*>(grammar.get());
}

}  // namespace maskd::cache

#endif  // MASKD_TESTS_CACHE_FAKE_GRAMMAR_H_
