// What an automaton is made of, for a grammar read from its source: each part can be asked by
// itself.
//
// Threads  one thread an object.
#ifndef MASKD_TESTS_ROOMS_ENGINE_PARTS_H_
#define MASKD_TESTS_ROOMS_ENGINE_PARTS_H_

#include <utility>

#include "absl/strings/string_view.h"

#include "grammar_core/derivatives/byte_derivative.h"
#include "grammar_core/derivatives/char_derivative.h"
#include "grammar_core/ir/facts/grammar_facts.h"
#include "grammar_core/terms/lowering.h"
#include "grammar_core/terms/number_terms.h"
#include "grammar_core/terms/object_terms.h"
#include "grammar_core/terms/term_store.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {

class EngineParts {
 public:
  // `ir` must outlive this.
  explicit EngineParts(const GrammarIr& ir, const Limits& limits = {})
      : facts_(*GrammarFacts::Create(ir, limits, budget_)),
        classes(ir),
        store(facts_, kTokenBytes),
        numbers(&store),
        lowering(&store, &numbers),
        objects(&store, &lowering, limits.emptiness_states),
        characters(&store, &objects, limits.emptiness_states),
        bytes(&store, &numbers, &objects, &characters, &lowering, &classes, limits) {
    lowering.set_objects(&objects);
  }
  EngineParts(const EngineParts&) = delete;
  EngineParts& operator=(const EngineParts&) = delete;

  TermId start() { return store.Call(store.ir().start); }
  // The term behind `text`, or kNothingTerm.
  TermId Behind(absl::string_view text) {
    TermId at = start();
    for (const char byte : text)
      if (at != kNothingTerm) at = bytes.Step(at, ClassOf(byte), work);
    return at;
  }
  [[nodiscard]] int ClassOf(char byte) const {
    return classes.Of(static_cast<unsigned char>(byte));
  }

 private:
  static constexpr int kTokenBytes = 8;

  Budget budget_ = Budget::Unlimited();
  const GrammarFacts facts_;

 public:
  Work work{budget_};
  const ByteClasses classes;
  TermStore store;
  NumberTerms numbers;
  Lowering lowering;
  ObjectTerms objects;
  CharDerivative characters;
  ByteDerivative bytes;

 private:
  const ShownTerms shown_{&store};
};

}  // namespace maskd

#endif  // MASKD_TESTS_ROOMS_ENGINE_PARTS_H_
