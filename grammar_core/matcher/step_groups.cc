#include "grammar_core/matcher/step_groups.h"

#include <utility>

#include "grammar_core/automaton/row_states.h"
#include "grammar_core/automaton/token_steps.h"

namespace maskd {
namespace {

class Grouper {
 public:
  void Add(TokenId id, TokenStepper::State next) {
    if (groups_.empty() || groups_[last_].next != next) last_ = PlaceOf(next);
    groups_[last_].tokens.push_back(id);
  }

  StepGroupList Take(int vocab_size) {
    // A mask is smaller than a list of so many.
    const auto many = static_cast<std::size_t>(vocab_size / kBitsPerWord);
    for (StepGroup& group : groups_) {
      if (group.tokens.size() <= many) continue;
      group.mask.emplace(vocab_size);
      for (const TokenId id : std::exchange(group.tokens, {})) group.mask->Allow(id);
    }
    return std::move(groups_);
  }

 private:
  std::size_t PlaceOf(TokenStepper::State next) {
    const auto [at, is_new] = places_.try_emplace(next, groups_.size());
    if (is_new) groups_.push_back({next, {}, std::nullopt});
    return at->second;
  }

  StepGroupList groups_;
  absl::flat_hash_map<TokenStepper::State, std::size_t> places_;
  std::size_t last_ = 0;
};

std::int64_t BytesOf(const StepGroupList& groups) {
  std::int64_t bytes = 0;
  for (const StepGroup& group : groups) {
    bytes += static_cast<std::int64_t>(sizeof(group) + group.tokens.capacity() * sizeof(TokenId));
    if (group.mask.has_value()) {
      bytes += static_cast<std::int64_t>(group.mask->words().size_bytes());
    }
  }
  return bytes;
}

}  // namespace

std::shared_ptr<const StepGroupList> StepGroups::Of(const TokenStepper& stepper,
                                                    TokenStepper::State state, Work& work) {
  if (const std::uint64_t serial = stepper.automaton_serial(); serial != automaton_) {
    known_.clear();
    held_bytes_ = 0;
    automaton_ = serial;
  }
  if (const auto known = known_.find(state); known != known_.end()) return known->second;
  const RowStates& row = stepper.states();
  Grouper grouper;
  const auto enter = [](TokenStepper::State, const TrieNode&) { return true; };
  const auto arrive = [&](TokenId id, TokenStepper::State next) {
    grouper.Add(id, row.AtTokenEnd(next));
    return false;
  };
  VisitTokenSteps(stepper.grammar().tokenizer().index(), row, state, work, enter, arrive);
  for (const NamedTokens::Step& step : row.NamedSteps(state)) {
    const TokenStepper::State next = row.AtTokenEnd(step.next);
    step.tokens.VisitAllowed([&](TokenId id) { grouper.Add(id, next); });
  }
  auto groups = std::make_shared<const StepGroupList>(grouper.Take(stepper.vocabulary().size()));
  const auto is_own = [](const StepGroup& group) { return RowStates::IsOwn(group.next); };
  if (!work.ok() || RowStates::IsOwn(state) || std::ranges::any_of(*groups, is_own)) return groups;
  held_bytes_ += BytesOf(*groups);
  if (held_bytes_ > kMaxBytes) {
    known_.clear();
    held_bytes_ = BytesOf(*groups);
  }
  known_[state] = groups;
  return groups;
}

}  // namespace maskd
