// What the tokens of a state lead to, found once for each state: tokens that lead to the same state
// are one group.
//
// Cost     a walk over the token trie at the first sight of a state, some 2 ms where most of
//          128,256 tokens are taken; then a look.
// Own      states of a row (RowStates::IsOwn) are not remembered: another row's may have their
//          numbers.
// Memory   kMaxBytes, or the groups of one state; before there is more all are forgotten.
// Threads  one thread at a time.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_STEP_GROUPS_H_
#define MASKD_GRAMMAR_CORE_MATCHER_STEP_GROUPS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/automaton/work.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/matcher/token_stepper.h"

namespace maskd {

struct StepGroup {
  TokenStepper::State next;
  // The tokens; where they are many, `mask` has them.
  std::vector<TokenId> tokens;
  std::optional<TokenMask> mask;

  template <typename Call>
  void Visit(Call call) const {
    std::for_each(tokens.begin(), tokens.end(), call);
    if (mask.has_value()) mask->VisitAllowed(call);
  }
};
using StepGroupList = std::vector<StepGroup>;

class StepGroups {
 public:
  // Of all tokens that are taken in `state` by their bytes or by name, stop ids or not; a token
  // that is taken both ways is in two groups. Not all when `work` failed.
  std::shared_ptr<const StepGroupList> Of(const TokenStepper& stepper, TokenStepper::State state,
                                          Work& work);

 private:
  static constexpr std::int64_t kMaxBytes = 4 << 20;

  std::uint64_t automaton_ = 0;  // the serial number of the one whose states are known
  absl::flat_hash_map<TokenStepper::State, std::shared_ptr<const StepGroupList>> known_;
  std::int64_t held_bytes_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_STEP_GROUPS_H_
