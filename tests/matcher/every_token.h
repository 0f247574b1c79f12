// What follows from trying each token of a vocabulary by itself: an oracle for small ones.
#ifndef MASKD_TESTS_MATCHER_EVERY_TOKEN_H_
#define MASKD_TESTS_MATCHER_EVERY_TOKEN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"

namespace maskd {

inline std::shared_ptr<const CompiledGrammar> CompiledOver(
    const std::shared_ptr<TokenizerSpace>& space, const std::string& text,
    const char* kind = "json_schema") {
  Budget budget = Budget::Unlimited();
  auto grammar = CompileGrammar({kind, text, {}}, space, Limits(), budget);
  EXPECT_TRUE(grammar.ok()) << grammar.status();
  return *grammar;
}

// The fewest tokens to the end, from every state that is met: each token of the vocabulary is
// tried, a level of them after the other.
class EveryToken {
 public:
  // More are not looked for.
  static constexpr int kMost = 40;

  int FewestFrom(const Matcher& matcher) {
    const auto [at, is_new] = known_.try_emplace(matcher.place(), 0);
    if (is_new) at->second = Search(matcher);
    return known_.at(matcher.place());
  }

 private:
  static int Search(const Matcher& from) {
    std::vector<Matcher> level = {from.Fork()};
    absl::flat_hash_set<RowStateId> met = {from.place()};
    for (int tokens = 0; tokens <= kMost; ++tokens) {
      std::vector<Matcher> next_level;
      for (const Matcher& at : level) {
        if (at.may_end()) return tokens;
        for (TokenId id = 0; id < at.grammar().tokenizer().vocabulary().size(); ++id) {
          Matcher next = at.Fork();
          if (next.Accept(id).ok() && met.insert(next.place()).second)
            next_level.push_back(std::move(next));
        }
      }
      level = std::move(next_level);
    }
    return kMost + 1;
  }

  absl::flat_hash_map<RowStateId, int> known_;
};

}  // namespace maskd

#endif  // MASKD_TESTS_MATCHER_EVERY_TOKEN_H_
