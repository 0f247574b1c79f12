// JSON numbers as terms: the states of each NumberLanguage, numbered as they are met.
//
// Threads   the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_TERMS_NUMBER_TERMS_H_
#define MASKD_GRAMMAR_CORE_TERMS_NUMBER_TERMS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/index_table.h"
#include "grammar_core/ir/number/number_language.h"
#include "grammar_core/mask/token_index.h"
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

  // See NumberLanguage::TextToMultiple(); no state is made.
  std::optional<std::string> TextToMultiple(std::uint32_t number, std::uint32_t state) {
    Known& known = KnownOf(number);
    return known.language.TextToMultiple(known.states[state]);
  }

  // State `state` of `number` in `from`, another automaton's of the same grammar, as one of this.
  // Needs the locks of both.
  std::uint32_t Adopt(const NumberTerms& from, std::uint32_t number, std::uint32_t state);

  // Bytes of the states and their tables; the terms are the store's.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  // A number's language with its states, made on first use.
  struct Known {
    Known(NumberLanguage made_language, const Hash128& made_hash)
        : language(std::move(made_language)), hash(made_hash) {}
    Known(const Known&) = delete;
    Known& operator=(const Known&) = delete;

    NumberLanguage language;
    Hash128 hash;
    std::vector<NumberLanguage::State> states;
    // States by their numbers: each is kept once.
    struct ByState {
      const std::vector<NumberLanguage::State>* states;
      std::size_t operator()(const NumberLanguage::State& state) const {
        return absl::HashOf(state);
      }
      std::size_t operator()(std::uint32_t id) const { return (*this)((*states)[id]); }
      bool operator()(std::uint32_t x, const NumberLanguage::State& y) const {
        return (*states)[x] == y;
      }
    };
    IndexTable<ByState> ids{ByState{&states}};
  };

  Known& KnownOf(std::uint32_t number);
  std::uint32_t IdOf(Known* known, const NumberLanguage::State& state);
  TermId TermOf(std::uint32_t number, const NumberLanguage::State& state);
  [[nodiscard]] Hash128 KeyOf(const Known& known, const NumberLanguage::State& state) const;

  TermStore* store_;
  std::vector<std::unique_ptr<Known>> known_;
  std::int64_t held_bytes_ = 0;  // of what known_ holds
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_NUMBER_TERMS_H_
