// Follows a text through the network by Earley's method (Earley 1970).
//
// Idea       After each character there is a set of items, an item being a place and the set in
//            which its rule began. Where the text ends, the items that want a character say what
//            may come next. From the rule of each the callers are walked back to the first one that
//            has a place in the source. A JSON value is passed in one step: to its end, if it has
//            one.
// Invariant  an item's rule was called in the set in which it began.
// Cost       a set for each character outside of JSON; kMostItems items for one text.
#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/places/json_end.h"
#include "grammar_core/frontend/places/place_network.h"
#include "grammar_core/frontend/regex/char_classes.h"

namespace maskd {

// One text followed through the network.
class PlaceSearch {
 public:
  // `is_whole`: the text ends where `taken` does.
  PlaceSearch(const PlaceNetwork& network, absl::string_view taken, bool is_whole)
      : network_(network), taken_(taken), is_whole_(is_whole) {}

  std::optional<std::vector<NextPart>> Run() { return Follow() ? Wanted() : std::nullopt; }
  std::optional<bool> Takes() {
    if (!Follow()) return std::nullopt;
    const Item end = {network_.ends_[network_.start_], 0};
    return sets_.back().at == taken_.size() && sets_.back().known.contains(end);
  }

 private:
  using Place = PlaceNetwork::Place;
  using RuleNo = PlaceNetwork::RuleNo;
  using Way = PlaceNetwork::Way;
  struct Item {
    Place place;
    std::uint32_t origin;  // the set in which its rule began
    auto operator<=>(const Item&) const = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Item& item) {
      return H::combine(std::move(hash), item.place, item.origin);
    }
  };
  // What holds behind so many bytes.
  struct Set {
    std::size_t at = 0;
    std::vector<Item> items = {};
    absl::flat_hash_set<Item> known = {};
    // By rule that was called here: where it returns to.
    absl::flat_hash_map<RuleNo, std::vector<Item>> callers = {};
    // Rules that began here and may end here.
    absl::flat_hash_set<RuleNo> ended_empty = {};
  };
  // A part that is looked for: a rule, and the set in which it began.
  struct Part {
    RuleNo rule;
    std::uint32_t origin;
    auto operator<=>(const Part&) const = default;
  };

  // Makes the sets. False where that is too much.
  bool Follow() {
    BeginSet(0);
    Enter(network_.begins_[network_.start_], 0);
    if (!Close()) return false;
    std::size_t at = 0;
    while (at < taken_.size()) {
      const bool moves = sets_.back().items.empty() ? Jump(&at) : Step(&at);
      if (!moves) break;
      if (!Close()) return false;
    }
    return true;
  }
  void BeginSet(std::size_t at) {
    assert((sets_.empty() || sets_.back().at < at) && "sets go forwards");
    sets_.push_back({.at = at});
  }
  void Enter(Place place, std::uint32_t origin) {
    const Item item = {place, origin};
    if (!sets_.back().known.insert(item).second) return;
    sets_.back().items.push_back(item);
    ++entered_;
  }
  [[nodiscard]] std::uint32_t Here() const { return static_cast<std::uint32_t>(sets_.size() - 1); }

  // Over one character. False at one that is cut: its bytes say nothing yet.
  bool Step(std::size_t* at) {
    const std::optional<std::uint32_t> character = DecodeUtf8(taken_, at);
    if (!character.has_value()) return false;
    const std::vector<Item> before = std::move(sets_.back().items);
    BeginSet(*at);
    for (const Item& item : before) {
      for (const PlaceNetwork::Edge& edge : network_.edges_[item.place])
        if (Takes(edge, *character)) Enter(edge.to, item.origin);
    }
    EnterLater(*at);
    previous_ = *character;
    return true;
  }
  // To where the next JSON value ends. False where none does.
  bool Jump(std::size_t* at) {
    later_.erase(later_.begin(), later_.upper_bound(*at));
    if (later_.empty()) return false;
    *at = later_.begin()->first;
    BeginSet(*at);
    EnterLater(*at);
    previous_ = static_cast<unsigned char>(taken_[*at - 1]);
    return true;
  }
  void EnterLater(std::size_t at) {
    const auto found = later_.find(at);
    if (found == later_.end()) return;
    for (const Item& item : found->second) Enter(item.place, item.origin);
  }

  // Adds what follows without a character. False where that is too much.
  bool Close() {
    for (std::size_t i = 0; i < sets_.back().items.size(); ++i) {
      if (entered_ > PlaceNetwork::kMostItems) return false;
      const Item item = sets_.back().items[i];
      const RuleNo rule = network_.rule_of_[item.place];
      if (item.place == network_.ends_[rule]) Return(rule, item.origin);
      for (const PlaceNetwork::Edge& edge : network_.edges_[item.place])
        if (edge.way == Way::kCall)
          Call(edge.what, {edge.to, item.origin});
        else if (edge.way == Way::kJson)
          PassJson({edge.to, item.origin});
        else if (Passes(edge.way))
          Enter(edge.to, item.origin);
    }
    return true;
  }
  void Call(RuleNo rule, const Item& back) {
    sets_.back().callers[rule].push_back(back);
    if (sets_.back().ended_empty.contains(rule)) Enter(back.place, back.origin);
    Enter(network_.begins_[rule], Here());
  }
  void Return(RuleNo rule, std::uint32_t origin) {
    assert(origin <= Here() && "a rule ends behind its begin");
    if (origin == Here()) sets_.back().ended_empty.insert(rule);
    const auto callers = sets_[origin].callers.find(rule);
    if (callers == sets_[origin].callers.end()) return;
    entered_ += callers->second.size();  // an ambiguous grammar has many
    for (const Item& back : callers->second) Enter(back.place, back.origin);
  }
  void PassJson(const Item& behind) {
    const JsonEnd found = FindJsonEnd(taken_, sets_.back().at);
    if (found.may_go_on) in_json_.push_back({network_.rule_of_[behind.place], behind.origin});
    if (found.end.has_value()) {
      assert(*found.end > sets_.back().at && "a value has a character");
      later_[*found.end].push_back(behind);
    }
  }
  // Whether an edge that takes nothing may be passed here.
  [[nodiscard]] bool Passes(Way way) const {
    const std::size_t at = sets_.back().at;
    switch (way) {
      case Way::kFree:
        return true;
      case Way::kTextBegin:
        return at == 0;
      case Way::kTextEnd:
        return is_whole_ && at == taken_.size();
      case Way::kBoundary:
      case Way::kNoBoundary: {
        std::size_t behind = at;
        const std::optional<std::uint32_t> next = DecodeUtf8(taken_, &behind);
        if (!next.has_value()) return true;  // not known yet
        const bool before = at > 0 && WordChars().Contains(previous_);
        return (before != WordChars().Contains(*next)) == (way == Way::kBoundary);
      }
      default:
        return false;
    }
  }
  [[nodiscard]] bool Takes(const PlaceNetwork::Edge& edge, std::uint32_t character) const {
    if (edge.way == Way::kCharacter) return edge.what == character;
    return edge.way == Way::kSet && network_.sets_[edge.what].Contains(character);
  }
  // Appends the characters with which the place goes on.
  void AppendNext(Place place, std::vector<CharRange>* next) const {
    for (const PlaceNetwork::Edge& edge : network_.edges_[place]) {
      if (edge.way == Way::kCharacter) next->push_back({edge.what, edge.what});
      if (edge.way != Way::kSet) continue;
      const std::vector<CharRange>& ranges = network_.sets_[edge.what].ranges();
      next->insert(next->end(), ranges.begin(), ranges.end());
    }
  }

  std::optional<std::vector<NextPart>> Wanted() {
    std::map<Part, std::vector<CharRange>> wanted;
    for (const Item& item : sets_.back().items) {
      std::vector<CharRange> next;
      AppendNext(item.place, &next);
      if (next.empty()) continue;
      std::vector<CharRange>& all = wanted[{network_.rule_of_[item.place], item.origin}];
      all.insert(all.end(), next.begin(), next.end());
    }
    for (const Part& json : in_json_) wanted[json] = CharSet::All().ranges();
    std::vector<NextPart> parts;
    for (auto& [part, next] : wanted)
      if (!AddParts(part, CharSet(std::move(next)), &parts)) return std::nullopt;
    return parts;
  }

  // The innermost parts around `from` that have a place in the source. False where it is too much.
  bool AddParts(const Part& from, const CharSet& next, std::vector<NextPart>* parts) {
    std::vector<Part> open = {from};
    absl::flat_hash_set<std::pair<RuleNo, std::uint32_t>> seen = {{from.rule, from.origin}};
    while (!open.empty()) {
      if (++entered_ > PlaceNetwork::kMostItems) return false;
      const Part part = open.back();
      open.pop_back();
      if (network_.parts_[part.rule].has_value()) {
        AddPart(part, next, parts);
        continue;
      }
      const auto& callers = sets_[part.origin].callers;
      const auto found = callers.find(part.rule);
      assert((part.rule == network_.start_ || found != callers.end()) &&
             "who is in a rule was called");
      if (found == callers.end()) continue;
      for (const Item& back : found->second) {
        const RuleNo rule = network_.rule_of_[back.place];
        if (seen.insert({rule, back.origin}).second) open.push_back({rule, back.origin});
      }
    }
    return true;
  }
  void AddPart(const Part& part, const CharSet& next, std::vector<NextPart>* parts) {
    const auto [known, is_new] = numbers_.try_emplace({part.rule, part.origin}, parts->size());
    if (is_new) {
      parts->push_back(*network_.parts_[part.rule]);
      parts->back().taken_before = sets_[part.origin].at;
    }
    CharSet& all = (*parts)[known->second].next;
    all = all.Union(next);
  }

  const PlaceNetwork& network_;
  const absl::string_view taken_;
  const bool is_whole_;
  std::vector<Set> sets_;
  // By the byte at which a JSON value ends: what stands behind it.
  std::map<std::size_t, std::vector<Item>> later_;
  std::vector<Part> in_json_;  // values that the text does not end
  absl::flat_hash_map<std::pair<RuleNo, std::uint32_t>, std::size_t> numbers_;
  std::uint32_t previous_ = 0;  // the character before
  std::size_t entered_ = 0;
};

namespace {

// One part of the source, told once, whatever way leads to it.
void JoinEqual(std::vector<NextPart>* parts) {
  const auto place = [](const NextPart& part) {
    return std::tie(part.pointer, part.at, part.rule, part.what, part.taken_before, part.says);
  };
  std::ranges::sort(*parts, [&](const auto& a, const auto& b) { return place(a) < place(b); });
  std::vector<NextPart> joined;
  for (NextPart& part : *parts) {
    const bool is_same =
        !joined.empty() && joined.back().pointer == part.pointer && joined.back().at == part.at &&
        joined.back().rule == part.rule && joined.back().what == part.what &&
        joined.back().says == part.says &&
        (part.what != NextPart::What::kSchema || joined.back().taken_before == part.taken_before);
    if (is_same)
      joined.back().next = joined.back().next.Union(part.next);
    else
      joined.push_back(std::move(part));
  }
  *parts = std::move(joined);
}

}  // namespace

std::optional<std::vector<NextPart>> PlaceNetwork::Behind(absl::string_view taken) const {
  std::optional<std::vector<NextPart>> parts = PlaceSearch(*this, taken, /*is_whole=*/false).Run();
  if (parts.has_value()) JoinEqual(&*parts);
  return parts;
}

std::optional<bool> PlaceNetwork::Takes(absl::string_view text) const {
  return PlaceSearch(*this, text, /*is_whole=*/true).Takes();
}

}  // namespace maskd
