// The tokens of a list of levels, one by one.
#ifndef MASKD_TESTS_MATCHER_LEVEL_TOKENS_H_
#define MASKD_TESTS_MATCHER_LEVEL_TOKENS_H_

#include <algorithm>
#include <map>

#include "gtest/gtest.h"

#include "grammar_core/matcher/closing_level_list.h"

namespace maskd {

// Each token with the level that it is in; two levels may not have one token.
inline std::map<TokenId, int> FewOf(const ClosingLevelList& list) {
  std::map<TokenId, int> few;
  for (const ClosingLevel& level : list.levels) {
    const auto add = [&](TokenId id) {
      EXPECT_TRUE(few.try_emplace(id, level.few).second) << "two levels have " << id;
    };
    std::ranges::for_each(level.tokens, add);
    if (level.mask.has_value()) level.mask->VisitAllowed(add);
  }
  return few;
}

}  // namespace maskd

#endif  // MASKD_TESTS_MATCHER_LEVEL_TOKENS_H_
