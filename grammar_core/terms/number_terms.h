// JSON numbers as terms: the states of each NumberLanguage, numbered as they are met.
//
// Threads   the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_TERMS_NUMBER_TERMS_H_
#define MASKD_GRAMMAR_CORE_TERMS_NUMBER_TERMS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/ir/number/number_language.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// The numbers of one automaton: digits that leave the same are one state.
class NumberTerms {
 public:
  // `store` must outlive this.
  explicit NumberTerms(TermStore* store);

  // The whole number.
  TermId Start(std::uint32_t number);
  // The step of a Number term by `byte`.
  TermId Step(std::uint32_t number, std::uint32_t state, unsigned char byte);

  // State `state` of `number` in `from`, another automaton's of the same grammar, as one of this.
  // Needs the locks of both.
  std::uint32_t Adopt(const NumberTerms& from, std::uint32_t number, std::uint32_t state);

  // Bytes of the states and their tables; the terms are the store's.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  // A number's language with its states, made on first use.
  struct Known {
    NumberLanguage language;
    Hash128 hash;
    std::vector<NumberLanguage::State> states;
    absl::flat_hash_map<NumberLanguage::State, std::uint32_t> ids;
  };

  Known& KnownOf(std::uint32_t number);
  std::uint32_t IdOf(Known* known, const NumberLanguage::State& state);
  TermId TermOf(std::uint32_t number, const NumberLanguage::State& state);
  [[nodiscard]] Hash128 KeyOf(const Known& known, const NumberLanguage::State& state) const;

  TermStore* store_;
  std::vector<std::unique_ptr<Known>> known_;
  std::size_t state_count_ = 0;  // of all numbers
  std::int64_t known_count_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_NUMBER_TERMS_H_
