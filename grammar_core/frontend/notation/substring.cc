#include "grammar_core/frontend/notation/substring.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>

#include "absl/container/flat_hash_map.h"

namespace maskd {
namespace {

// The smallest automaton of all suffixes (Blumer et al. 1985), built chunk by chunk; the words on
// its paths are the runs.
class SuffixAutomaton {
 public:
  struct State {
    // The length of the longest run that leads here.
    std::uint32_t length = 0;
    // The state of the longest shorter suffix that leads elsewhere.
    std::optional<std::uint32_t> link = {};
    std::map<std::uint32_t, std::uint32_t> next = {};
  };

  SuffixAutomaton() : states_(1) {}

  [[nodiscard]] const std::vector<State>& states() const { return states_; }

  void Append(std::uint32_t chunk) {
    const std::uint32_t added = Add({.length = states_[last_].length + 1});
    std::optional<std::uint32_t> from = last_;
    last_ = added;
    for (; from.has_value() && !states_[*from].next.contains(chunk); from = states_[*from].link)
      states_[*from].next[chunk] = added;
    states_[added].link = from.has_value() ? SuffixState(*from, chunk) : 0;
  }

 private:
  std::uint32_t Add(State state) {
    states_.push_back(std::move(state));
    return static_cast<std::uint32_t>(states_.size() - 1);
  }

  // Where `chunk` leads from `from`, as a state of runs no longer than those that come by `from`.
  std::uint32_t SuffixState(std::uint32_t from, std::uint32_t chunk) {
    const std::uint32_t target = states_[from].next[chunk];
    if (states_[target].length == states_[from].length + 1) return target;
    State copy = states_[target];
    copy.length = states_[from].length + 1;
    const std::uint32_t shorter = Add(std::move(copy));
    states_[target].link = shorter;
    for (std::optional<std::uint32_t> state = from;
         state.has_value() && states_[*state].next[chunk] == target; state = states_[*state].link) {
      states_[*state].next[chunk] = shorter;
    }
    return shorter;
  }

  std::vector<State> states_;
  std::uint32_t last_ = 0;
};

// States by length, the longest first: what follows a state is made before it.
std::vector<std::uint32_t> FromTheEnd(const std::vector<SuffixAutomaton::State>& states) {
  std::vector<std::uint32_t> order(states.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t x, std::uint32_t y) { return states[x].length > states[y].length; });
  return order;
}

}  // namespace

absl::StatusOr<NodeId> SubstringOf(const std::vector<std::string>& chunks, Budget& budget,
                                   IrBuilder& builder) {
  absl::flat_hash_map<std::string, std::uint32_t> numbers;
  std::vector<NodeId> texts;
  SuffixAutomaton automaton;
  for (const std::string& chunk : chunks) {
    if (absl::Status status = budget.Spend(); !status.ok()) return status;
    if (chunk.empty()) continue;
    const auto [known, is_new] =
        numbers.try_emplace(chunk, static_cast<std::uint32_t>(texts.size()));
    if (is_new) texts.push_back(builder.Text(chunk));
    automaton.Append(known->second);
  }
  const std::vector<SuffixAutomaton::State>& states = automaton.states();
  std::vector<NodeId> nodes(states.size(), builder.Empty());
  for (const std::uint32_t state : FromTheEnd(states)) {
    std::vector<NodeId> ways = {builder.Empty()};
    for (const auto& [chunk, next] : states[state].next) {
      if (absl::Status status = budget.Spend(); !status.ok()) return status;
      ways.push_back(builder.Concat({texts[chunk], nodes[next]}));
    }
    nodes[state] = builder.Alt(std::move(ways));
  }
  return nodes.front();
}

}  // namespace maskd
