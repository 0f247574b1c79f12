// How rules are put together. Counts are written out as that many calls in a row, so they are
// followed exactly. Free text that holds none of some texts is the automaton of these texts (Aho,
// Corasick 1975), without the places in which one of them is complete.
//
// Invariant  an edge stays in its rule. The network takes every text that the grammar takes; where
//            it takes more, exact() is false.
// Cost       a place for each character and each call; kMostPlaces of them.
#include "grammar_core/frontend/places/place_network.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {
namespace {

// Repetitions that are written out; of longer ones it is followed whether they may be empty.
constexpr std::uint32_t kMostCalls = 2'000;

std::u32string Characters(absl::string_view utf8) {
  std::u32string characters;
  for (std::size_t at = 0; at < utf8.size();) {
    const std::optional<std::uint32_t> character = DecodeUtf8(utf8, &at);
    if (!character.has_value()) break;
    characters.push_back(static_cast<char32_t>(*character));
  }
  return characters;
}

// The states of the automaton that finds texts in a text: state 0 has nothing of any.
class TextFinder {
 public:
  explicit TextFinder(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) AddText(Characters(text));
    SetFailures();
  }

  [[nodiscard]] std::size_t size() const { return states_.size(); }
  [[nodiscard]] bool is_found(std::size_t state) const { return states_[state].is_found; }
  // By character that leads elsewhere than to state 0.
  [[nodiscard]] std::map<char32_t, std::size_t> NextOf(std::size_t state) const {
    std::map<char32_t, std::size_t> next;
    for (;; state = states_[state].failure) {
      next.insert(states_[state].next.begin(), states_[state].next.end());
      if (state == 0) return next;
    }
  }

 private:
  struct State {
    std::map<char32_t, std::size_t> next;
    std::size_t failure = 0;
    bool is_found = false;
  };

  void AddText(const std::u32string& text) {
    std::size_t state = 0;
    for (const char32_t character : text) {
      const auto [found, is_new] = states_[state].next.try_emplace(character, states_.size());
      state = found->second;
      if (is_new) states_.emplace_back();
    }
    if (state != 0) states_[state].is_found = true;
  }
  // States nearer to state 0 first.
  void SetFailures() {
    std::vector<std::size_t> open = {0};
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::map<char32_t, std::size_t> children = states_[open[i]].next;
      for (const auto& [character, child] : children) {
        open.push_back(child);
        if (open[i] == 0) continue;
        const auto next = NextOf(states_[open[i]].failure);
        const auto found = next.find(character);
        states_[child].failure = found == next.end() ? 0 : found->second;
        assert(states_[child].failure != child && "a failure is a shorter beginning");
        states_[child].is_found |= states_[states_[child].failure].is_found;
      }
    }
  }

  std::vector<State> states_ = {State()};
};

}  // namespace

PlaceNetwork::RuleNo PlaceNetwork::NewRule() {
  const auto rule = static_cast<RuleNo>(begins_.size());
  parts_.emplace_back();
  begins_.push_back(0);
  ends_.push_back(0);
  begins_[rule] = NewPlace(rule);
  ends_[rule] = NewPlace(rule);
  return rule;
}

PlaceNetwork::Place PlaceNetwork::NewPlace(RuleNo rule) {
  assert(rule < begins_.size() && "a place is in a rule");
  edges_.emplace_back();
  rule_of_.push_back(rule);
  return static_cast<Place>(edges_.size() - 1);
}

void PlaceNetwork::Add(Place from, Way way, std::uint32_t what, Place to) {
  assert(rule_of_[from] == rule_of_[to] && "an edge stays in its rule");
  assert((way != Way::kCall || what < begins_.size()) && "a rule is there before it is called");
  edges_[from].push_back({way, what, to});
}

void PlaceNetwork::AddSet(Place from, CharSet set, Place to) {
  if (set.empty()) return Approximate();  // what is before it leads nowhere
  sets_.push_back(std::move(set));
  Add(from, Way::kSet, static_cast<std::uint32_t>(sets_.size() - 1), to);
}

void PlaceNetwork::AddChain(RuleNo rule, const std::vector<RuleNo>& called) {
  Place at = begin(rule);
  for (const RuleNo each : called) {
    const Place next = NewPlace(rule);
    Add(at, Way::kCall, each, next);
    at = next;
  }
  Add(at, Way::kFree, 0, end(rule));
}

void PlaceNetwork::AddText(RuleNo rule, const std::u32string& text) {
  Place at = begin(rule);
  for (const char32_t character : text) {
    const Place next = NewPlace(rule);
    Add(at, Way::kCharacter, static_cast<std::uint32_t>(character), next);
    at = next;
  }
  Add(at, Way::kFree, 0, end(rule));
}

void PlaceNetwork::AddUtf8(RuleNo rule, absl::string_view text) { AddText(rule, Characters(text)); }

void PlaceNetwork::AddCharacters(RuleNo rule, CharSet set) {
  AddSet(begin(rule), std::move(set), end(rule));
}

void PlaceNetwork::AddRepeat(RuleNo rule, RuleNo child, std::uint32_t min, std::uint32_t max) {
  assert(min <= max && "a repetition has a count");
  const std::uint32_t calls = max == kUnbounded ? min : max;
  if (calls > kMostCalls || edges_.size() + calls > kMostPlaces) {
    Approximate();
    return AddLoop(rule, child, min == 0);
  }
  Place at = begin(rule);
  for (std::uint32_t count = 0; count < calls; ++count) {
    if (count >= min) Add(at, Way::kFree, 0, end(rule));
    const Place next = NewPlace(rule);
    Add(at, Way::kCall, child, next);
    at = next;
  }
  if (max == kUnbounded) {
    const Place loop = NewPlace(rule);
    Add(at, Way::kFree, 0, loop);
    Add(loop, Way::kCall, child, loop);
    at = loop;
  }
  Add(at, Way::kFree, 0, end(rule));
}

// Of counts only whether they are 0, or over 1.
void PlaceNetwork::AddLoop(RuleNo rule, RuleNo child, bool may_be_none) {
  if (may_be_none) Add(begin(rule), Way::kFree, 0, end(rule));
  const Place behind = NewPlace(rule);
  const Place before = NewPlace(rule);
  Add(begin(rule), Way::kFree, 0, before);
  Add(before, Way::kCall, child, behind);
  Add(behind, Way::kFree, 0, before);
  Add(behind, Way::kFree, 0, end(rule));
}

void PlaceNetwork::AddTextWithout(RuleNo rule, const std::vector<std::string>& excluded) {
  const TextFinder finder(excluded);
  std::vector<Place> places;
  for (std::size_t state = 0; state < finder.size(); ++state) places.push_back(NewPlace(rule));
  Add(begin(rule), Way::kFree, 0, places[0]);
  for (std::size_t state = 0; state < finder.size(); ++state) {
    if (finder.is_found(state)) continue;
    Add(places[state], Way::kFree, 0, end(rule));
    std::vector<CharRange> named;
    for (const auto& [character, next] : finder.NextOf(state)) {
      const auto code_point = static_cast<std::uint32_t>(character);
      named.push_back({code_point, code_point});
      if (!finder.is_found(next)) Add(places[state], Way::kCharacter, code_point, places[next]);
    }
    AddSet(places[state], CharSet(std::move(named)).Complement(), places[0]);
  }
}

std::vector<std::uint32_t> PlaceNetwork::Bounds() const {
  std::vector<std::uint32_t> bounds = {0};
  for (const CharSet& set : sets_) {
    for (const CharRange& range : set.ranges()) {
      assert(range.lo <= range.hi && "a range has a character");
      bounds.push_back(range.lo);
      bounds.push_back(range.hi + 1);
    }
  }
  for (const std::vector<Edge>& edges : edges_) {
    for (const Edge& edge : edges)
      if (edge.way == Way::kCharacter) bounds.insert(bounds.end(), {edge.what, edge.what + 1});
  }
  std::ranges::sort(bounds);
  bounds.erase(std::ranges::unique(bounds).begin(), bounds.end());
  return bounds;
}

}  // namespace maskd
