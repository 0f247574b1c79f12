// A grammar read from its source, with its own automaton over a small vocabulary.
//
// Threads  one thread an object.
#ifndef MASKD_TESTS_ROOMS_SMALL_GRAMMAR_H_
#define MASKD_TESTS_ROOMS_SMALL_GRAMMAR_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/automaton/grammar_tables.h"
#include "grammar_core/compile/pipeline.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/rows/masked_automaton.h"
#include "tests/frontend/reading.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {

// Every byte by its own number, then `words`, then "<end>", which ends a text.
inline std::shared_ptr<const Vocabulary> BytesAnd(const std::vector<std::string>& words) {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  for (const std::string& word : words) tokens.push_back({word});
  tokens.push_back({"<end>", true});
  const auto end = static_cast<TokenId>(tokens.size()) - 1;
  return *Vocabulary::Create("test", std::move(tokens), {end});
}

class SmallGrammar {
 public:
  // JSON is read without white space between its tokens.
  SmallGrammar(absl::string_view kind, absl::string_view text,
               const std::vector<std::string>& words = {}, const Limits& limits = {})
      : grammar_(Read(kind, text)),
        index_(BytesAnd(words)),
        masks_(&index_, 1 << 24),
        limits_(limits),
        automaton_(NewAutomaton()) {}

  [[nodiscard]] const GrammarIr& ir() const { return grammar_.ir; }
  [[nodiscard]] const TokenIndex& index() const { return index_; }
  MaskStore& masks() { return masks_; }
  MaskedAutomaton& automaton() { return *automaton_; }
  const std::shared_ptr<MaskedAutomaton>& shared_automaton() { return automaton_; }
  Work& work() { return work_; }

  // One more of the same grammar, which knows nothing yet.
  std::shared_ptr<MaskedAutomaton> NewAutomaton() {
    return std::make_shared<MaskedAutomaton>(tables_, &masks_, limits_,
                                             std::numeric_limits<std::int64_t>::max() / 2);
  }

  // The state behind `text`, which the grammar must take.
  TermId Behind(absl::string_view text) {
    std::size_t taken = 0;
    const TermId state = automaton_->StepText(automaton_->start(), text, &taken, work_);
    EXPECT_EQ(taken, text.size()) << text;
    return state;
  }

 private:
  static ReducedGrammar Read(absl::string_view kind, absl::string_view text) {
    GrammarOptions options;
    options.white_space = WhiteSpace::kCompact;
    auto grammar = ReadForTest(kind, text, options);
    EXPECT_TRUE(grammar.ok()) << grammar.status() << " " << text;
    return *std::move(grammar);
  }

  const ReducedGrammar grammar_;
  const TokenIndex index_;
  MaskStore masks_;
  const Limits limits_;
  Budget budget_ = Budget::Unlimited();
  Work work_{budget_};
  const std::shared_ptr<const GrammarTables> tables_ =
      *GrammarTables::Create(grammar_.ir, index_, limits_, budget_, Measure::kBytes);
  std::shared_ptr<MaskedAutomaton> automaton_;
  const ShownTerms shown_{&automaton_->store()};
};

}  // namespace maskd

#endif  // MASKD_TESTS_ROOMS_SMALL_GRAMMAR_H_
