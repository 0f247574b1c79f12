// A* over states, with the terms' lower bounds as the heuristic. Where a bound is not exact, the
// cells of a state are measured one by one, each by a search of its own, and the sum of the exact
// sizes takes the bound's place: so a poor bound of a late cell does not make the search try every
// way through the earlier ones.
//
// Invariant  an estimate is never above what is left, so the first end that is taken is a nearest.
// Cost       a unit of work for each state expanded; searches nest at most kMaxDepth deep.
// Source     Hart, Nilsson and Raphael, "A Formal Basis for the Heuristic Determination of Minimum
//            Cost Paths", 1968.
#include "grammar_core/completion/shortest_path.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/automaton/state_terms.h"
#include "grammar_core/base/error.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

using State = RowStates::State;

// A state's way to the end: `bytes`, and then the ways of the cells of `rest`.
struct Way {
  std::uint32_t size = kNoEnd;  // of all that; kNoEnd where it is larger than is asked for
  std::string bytes = {};
  TermId rest = kEmptyTerm;
};

struct Arrival {
  std::uint32_t bytes;  // from the start to the state
  State from;
  std::optional<unsigned char> byte;  // none for a branch of `from`
};

// A state to look at: the bound of a whole completion through it, then how far it is. Among equals
// the one that is farther along comes first. Its byte classes below `next_class` have been tried.
struct Open {
  std::uint32_t bound;
  std::uint32_t bytes;
  State state;
  int next_class = 0;
  bool measured = false;  // the bound is from the sizes of its cells
  bool settled = false;   // and exact
  bool operator<(const Open& other) const {
    return bound != other.bound ? bound > other.bound : bytes < other.bytes;
  }
};

// The best-first search from one state.
struct Frontier {
  absl::flat_hash_map<State, Arrival> arrivals = {};
  std::priority_queue<Open> open = {};

  [[nodiscard]] std::string PathTo(State state, State start) const {
    std::string path;
    while (state != start) {
      assert(arrivals.contains(state) && "a path leads from the start");
      const Arrival& arrival = arrivals.at(state);
      if (arrival.byte.has_value()) path.push_back(static_cast<char>(*arrival.byte));
      state = arrival.from;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }
};

// The states of a text whose items may all be equal, in arrays of distinct items too.
class EqualStates {
 public:
  explicit EqualStates(const RowStates& states) : automaton_(states.automaton()) {}
  struct Scratch {
    explicit Scratch(const EqualStates&) {}
  };

  [[nodiscard]] Automaton& automaton() const { return automaton_; }
  [[nodiscard]] static bool IsOwn(State) { return false; }
  [[nodiscard]] static TermId Shared(State state) { return RowMemory::TermOf(state); }
  [[nodiscard]] bool MayEnd(State state) const { return automaton_.MayEnd(Shared(state)); }
  [[nodiscard]] std::uint32_t MinBytes(State state) const {
    return automaton_.MinBytes(Shared(state));
  }
  [[nodiscard]] Measure measure() const { return automaton_.tables().measure(); }
  [[nodiscard]] const ByteClasses& classes() const { return automaton_.classes(); }
  State Take(State state, unsigned char byte, Work& work) const {
    return RowMemory::Of(automaton_.Step(Shared(state), byte, work));
  }
  State TakeForSearch(State state, unsigned char byte, Work& work) const {
    return Take(state, byte, work);
  }
  [[nodiscard]] FirstClasses::Set FirstOf(State state, Work& work) const {
    return automaton_.FirstOf(Shared(state), work);
  }
  [[nodiscard]] std::vector<NamedTokens::Step> NamedSteps(State state) const {
    return StateTerms(automaton_).NamedSteps(Shared(state));
  }

 private:
  Automaton& automaton_;
};

template <typename States>
class Search {
 public:
  // With a vocabulary it takes tokens that the grammar names, too.
  // `texts` has cells that need no search.
  Search(const States& states, const Vocabulary* vocabulary, std::uint32_t most, Work* work,
         const ShortestTexts* texts = nullptr)
      : scratch_(states),
        states_(states),
        vocabulary_(vocabulary),
        measure_(states.measure()),
        most_(most),
        work_(work),
        texts_(texts) {}

  // Whether there is a completion; none is known if `work` failed.
  bool Run(State start) {
    way_ = WayFrom(start);
    return work_->ok() && way_.size != kNoEnd;
  }

  // The shortest text of a cell; nothing where it is longer than `most`, or `work` failed.
  std::optional<std::string> TextOf(TermId cell) {
    if (std::optional<Way> text = WayOfText(cell); text.has_value())
      return text->size <= most_ ? std::optional(std::move(text->bytes)) : std::nullopt;
    if (!Run(RowMemory::Of(cell)) || way_.size > most_) return std::nullopt;
    return Path();
  }

  // After Run(): the completion's size, and itself.
  [[nodiscard]] std::uint32_t size() const { return way_.size; }
  [[nodiscard]] std::string Path() const {
    std::string path = way_.bytes;
    std::vector<TermId> left = {way_.rest};
    while (!left.empty()) {
      const Term& term = TermOf(left.back());
      const TermId id = left.back();
      left.pop_back();
      if (term.nullable) continue;
      if (term.kind == TermKind::kCat) {
        left.insert(left.end(), {AsCat(term).tail, AsCat(term).head});
      } else {
        // A settled end names cells whose own searches are done.
        assert(ways_.at(id).has_value() && "a cell without a way was called exact");
        const Way& way = *ways_.at(id);
        path += way.bytes;
        left.push_back(way.rest);
      }
    }
    return path;
  }

 private:
  // Searches within searches, at most: they are made by recursion.
  static constexpr int kMaxDepth = 200;
  // States met by steps that do not ask whether all behind them repeats something.
  static constexpr int kMaxUnsearched = 4'000;

  struct Size {
    std::uint32_t bytes;
    bool exact;
  };

  [[nodiscard]] const Term& TermOf(TermId id) const { return states_.automaton().store().term(id); }
  // The parts of an own state depend on each other: it is taken as a whole.
  [[nodiscard]] bool IsOf(TermKind kind, State state) const {
    return !States::IsOwn(state) && TermOf(states_.Shared(state)).kind == kind;
  }

  // Cells are completed one by one, so that where the bound of a later one is too low, the ways
  // through an earlier one are not all tried for it.
  Size SizeFrom(TermId state) {
    Size all = {0, true};
    for (bool is_cat = true; is_cat;) {
      const Term& term = TermOf(state);
      is_cat = term.kind == TermKind::kCat;
      const Size cell = SizeOfCell(is_cat ? AsCat(term).head : state);
      all = {SaturatingAdd(all.bytes, cell.bytes), all.exact && cell.exact};
      if (is_cat) state = AsCat(term).tail;
    }
    return all;
  }

  // Not exact for a cell that is being searched from: a rule that calls itself has its own cell in
  // its way, and the bound of that is all that is known.
  Size SizeOfCell(TermId cell) {
    if (TermOf(cell).nullable) return {0, true};
    if (const auto known = ways_.find(cell); known != ways_.end() && known->second.has_value())
      return {known->second->size, true};
    if (depth_ == kMaxDepth || !ways_.try_emplace(cell, std::nullopt).second)
      return {TermOf(cell).min_bytes, false};
    if (texts_ != nullptr && texts_->Knows(cell)) {
      const std::optional<absl::string_view> text = texts_->Known(cell);
      ways_[cell] = text.has_value() ? Way{SizeOf(measure_, *text), std::string(*text)} : Way{};
      return {ways_[cell]->size, true};
    }
    assert(depth_ >= 0 && depth_ < kMaxDepth);
    ++depth_;
    std::optional<Way> text = WayOfText(cell);
    Way way = text.has_value() ? *std::move(text) : WayFrom(RowMemory::Of(cell));
    --depth_;
    const Size size = {way.size, true};
    ways_[cell] = std::move(way);
    return size;
  }

  // Of strings under many conditions, where steps would try too many ways (condition_search.h).
  std::optional<Way> WayOfText(TermId cell) {
    std::optional<std::string> text = StateTerms(states_.automaton()).ShortestText(cell, *work_);
    if (!text.has_value()) return std::nullopt;
    return Way{static_cast<std::uint32_t>(text->size()), *std::move(text)};
  }

  Way WayFrom(State start) {
    Frontier frontier;
    frontier.arrivals[start] = {0, start, std::nullopt};
    frontier.open.push({states_.MinBytes(start), 0, start});
    while (!frontier.open.empty() && work_->Spend()) {
      const Open at = frontier.open.top();
      frontier.open.pop();
      // The heap keeps entries that a better way has overtaken; they are passed here.
      if (at.bytes > frontier.arrivals[at.state].bytes) continue;
      const bool ended = states_.MayEnd(at.state);
      if (ended || at.settled)
        return {at.bound, frontier.PathTo(at.state, start),
                ended ? kEmptyTerm : states_.Shared(at.state)};
      if (!MeasureText(at, &frontier) && !MeasureCells(at, &frontier)) Expand(at, &frontier);
    }
    return {};
  }

  // The same as below for a string alone.
  bool MeasureText(const Open& at, Frontier* frontier) {
    if (!IsOf(TermKind::kEncode, at.state)) return false;
    const TermId text = states_.Shared(at.state);
    auto known = ways_.find(text);
    if (known == ways_.end()) {
      std::optional<Way> way = WayOfText(text);
      if (!way.has_value()) return false;
      known = ways_.try_emplace(text, std::move(way)).first;
    }
    if (!known->second.has_value()) return false;
    const std::uint32_t bound = SaturatingAdd(at.bytes, known->second->size);
    if (bound <= most_) frontier->open.push({bound, at.bytes, at.state, 0, true, /*settled=*/true});
    return true;
  }

  // Puts a state of several cells back with the bound that their sizes give; false where it is not
  // better than the one it has. An own state takes no more than the shared one does.
  bool MeasureCells(const Open& at, Frontier* frontier) {
    const bool is_own = States::IsOwn(at.state);
    if (at.measured || (!is_own && !IsOf(TermKind::kCat, at.state))) return false;
    Size rest = SizeFrom(states_.Shared(at.state));
    rest.exact &= !is_own;
    const std::uint32_t bound = SaturatingAdd(at.bytes, rest.bytes);
    if (!rest.exact && bound <= at.bound) return false;
    if (bound <= most_) {
      frontier->open.push(
          {bound, at.bytes, at.state, 0, /*measured=*/true, /*settled=*/rest.exact});
    }
    return true;
  }

  // Tries the branches of a choice, or the bytes after `at`, up to the first that loses nothing;
  // the others wait for it to fail.
  void Expand(const Open& at, Frontier* frontier) {
    if (IsOf(TermKind::kAlt, at.state)) {
      const Term& choice = TermOf(states_.Shared(at.state));
      for (const TermId branch : BranchesOf(states_.automaton().store(), choice))
        Arrive(at, 0, std::nullopt, RowMemory::Of(branch), frontier);
      return;
    }
    const FirstClasses::Set first = states_.FirstOf(at.state, *work_);
    for (int c = at.next_class; c < states_.classes().count(); ++c) {
      if (!first.test(static_cast<std::size_t>(c))) continue;
      const unsigned char byte = states_.classes().Sample(c);
      const State next = TakeIn(at.state, byte);
      if (next == kFailedTerm) return;
      if (next == kNothingTerm) continue;
      const auto bound = Arrive(at, SizeOf(measure_, byte), byte, next, frontier);
      if (bound.has_value() && *bound <= at.bound) {
        frontier->open.push({at.bound, at.bytes, at.state, c + 1, true});
        return;
      }
    }
    if (vocabulary_ == nullptr) return;
    for (const NamedTokens::Step& step : states_.NamedSteps(at.state))
      Arrive(at, LeastSize(step.tokens), std::nullopt, RowMemory::Of(step.next), frontier);
  }

  // A step of an own state would search for an end behind it, which is what this does anyway. After
  // many it may: what is written already has endless other spellings, and none of them ends.
  State TakeIn(State state, unsigned char byte) {
    if (!States::IsOwn(state) || unsearched_ == kMaxUnsearched)
      return states_.Take(state, byte, *work_);
    const State next = states_.TakeForSearch(state, byte, *work_);
    if (next != kNothingTerm) ++unsearched_;
    return next;
  }

  // The bound through `next`, where this is a better way to it.
  std::optional<std::uint32_t> Arrive(const Open& at, std::uint32_t size,
                                      std::optional<unsigned char> byte, State next,
                                      Frontier* frontier) {
    // Zero for a branch and for a special token, so ties are common: the farther one goes first.
    const std::uint32_t bytes = at.bytes + size;
    const std::uint32_t bound = SaturatingAdd(bytes, states_.MinBytes(next));
    if (bound > most_) return std::nullopt;
    const auto [known, is_new] =
        frontier->arrivals.try_emplace(next, Arrival{bytes, at.state, byte});
    if (!is_new && known->second.bytes <= bytes) return std::nullopt;
    known->second = {bytes, at.state, byte};
    frontier->open.push({bound, bytes, next});
    return bound;
  }

  [[nodiscard]] std::uint32_t LeastSize(const TokenMask& tokens) const {
    std::uint32_t least = kNoEnd;
    tokens.VisitAllowedWhile([&](TokenId id) {
      const std::uint32_t size =
          vocabulary_->IsSpecial(id) ? 0 : SizeOf(measure_, vocabulary_->TokenBytes(id));
      least = std::min(least, size);
      return least > 0;
    });
    return least;
  }

  const typename States::Scratch scratch_;
  const States& states_;
  const Vocabulary* vocabulary_;
  const Measure measure_;
  const std::uint32_t most_;
  Work* work_;
  const ShortestTexts* const texts_;
  Way way_;
  int depth_ = 0;
  int unsearched_ = 0;
  // By cell; nothing for one that is being searched from.
  absl::flat_hash_map<TermId, std::optional<Way>> ways_;
};

// The bytes that lose nothing against the lower bounds: as long as there is one, no search is
// needed. Cost: a step for each class of bytes up to the first such one; most of these are states
// that the row comes to next.
class StraightWay {
 public:
  // Both must outlive this.
  StraightWay(Automaton* automaton, Work* work) : automaton_(*automaton), work_(*work) {}

  struct Step {
    TermId next = kNothingTerm;  // where there is none
    unsigned char byte = 0;
  };
  // The first such byte of `state`, which may not end. None in front of a choice, whose branches
  // are tried apart, and where conditions make bounds poor and steps dear.
  [[nodiscard]] Step From(TermId state) const {
    if (!work_.Spend() || IsHard(state)) return {};
    const Measure measure = automaton_.tables().measure();
    const std::uint32_t least = automaton_.MinBytes(state);
    const ByteClasses& classes = automaton_.classes();
    const FirstClasses::Set first = automaton_.FirstOf(state, work_);
    for (int c = 0; c < classes.count(); ++c) {
      if (!first.test(static_cast<std::size_t>(c))) continue;
      const unsigned char byte = classes.Sample(c);
      const TermId next = automaton_.Step(state, byte, work_);
      if (next == kFailedTerm) return {};
      if (next == kNothingTerm) continue;
      if (SaturatingAdd(SizeOf(measure, byte), automaton_.MinBytes(next)) <= least)
        return {next, byte};
    }
    return {};
  }

 private:
  [[nodiscard]] bool IsHard(TermId state) const {
    const TermStore& store = automaton_.store();
    const Term& cell = store.term(store.PartsOf(state).cell);
    return cell.kind == TermKind::kAlt ||
           (cell.kind == TermKind::kEncode && store.term(AsEncode(cell).characters).may_be_empty);
  }

  Automaton& automaton_;
  Work& work_;
};

}  // namespace

std::optional<absl::string_view> ShortestTexts::Known(TermId cell) const {
  const auto known = texts_.find(cell);
  if (known == texts_.end() || known->second.text == nullptr) return std::nullopt;
  return absl::string_view(*known->second.text).substr(known->second.from);
}

std::optional<absl::string_view> ShortestTexts::Of(const RowStates& states, TermId cell,
                                                   Work& work) {
  if (Knows(cell) || TakeStraight(states, cell, work)) return Known(cell);
  std::shared_ptr<const std::string> text;
  {
    const EqualStates equal(states);
    Search search(equal, nullptr, kMaxBytes, &work, this);
    std::optional<std::string> found = search.TextOf(cell);
    if (!work.ok()) return std::nullopt;
    if (found.has_value()) text = std::make_shared<const std::string>(*std::move(found));
  }
  held_bytes_ += text == nullptr ? 0 : static_cast<std::int64_t>(text->size());
  Put(cell, {std::move(text), 0, /*is_straight=*/false});
  return Known(cell);
}

// A text that nothing was lost on is a shortest one from each of its places on: what is left there
// is what would be found if the place was asked about first.
bool ShortestTexts::TakeStraight(const RowStates& states, TermId cell, Work& work) {
  const StraightWay way(&states.automaton(), &work);
  auto text = std::make_shared<std::string>();
  std::vector<std::pair<TermId, std::size_t>> passed;  // a cell alone, and the bytes before it
  for (TermId at = cell; !states.automaton().MayEnd(at);) {
    if (text->size() >= kMaxBytes) return false;
    if (states.automaton().store().term(at).kind != TermKind::kCat) {
      const auto known = texts_.find(at);
      if (known != texts_.end() && known->second.is_straight) {
        absl::StrAppend(text.get(), *Known(at));
        break;
      }
      passed.emplace_back(at, text->size());
    }
    const StraightWay::Step step = way.From(at);
    if (step.next == kNothingTerm) return false;
    text->push_back(static_cast<char>(step.byte));
    at = step.next;
  }
  if (text->size() > kMaxBytes) return false;
  held_bytes_ += static_cast<std::int64_t>(text->size());
  passed.emplace_back(cell, 0);  // that it is known also where the empty text is its own
  for (const auto& [at, from] : passed) Put(at, {text, from, /*is_straight=*/true});
  return true;
}

void ShortestTexts::Put(TermId cell, Rest rest) {
  constexpr std::int64_t kBytesAnEntry = 96;
  if (texts_.try_emplace(cell, std::move(rest)).second) held_bytes_ += kBytesAnEntry;
}

void ShortestTexts::Forget() {
  texts_.clear();
  held_bytes_ = 0;
}

absl::StatusOr<std::string> ShortestCompletion(const RowStates& states, RowStates::State state,
                                               int max_bytes, Work& work) {
  const auto most = static_cast<std::uint32_t>(std::max(0, max_bytes));
  Search search(states, nullptr, most, &work);
  if (search.Run(state)) return search.Path();
  if (!work.ok()) return work.error();
  return LimitExceeded("", "completion_bytes", most, std::int64_t{most} + 1);
}

absl::StatusOr<std::uint32_t> SmallestCompletion(const RowStates& states,
                                                 const Vocabulary& vocabulary,
                                                 RowStates::State state, std::uint32_t most,
                                                 Work& work) {
  Search search(states, states.names_tokens() ? &vocabulary : nullptr, most, &work);
  const bool found = search.Run(state);
  if (!work.ok()) return work.error();
  return found ? search.size() : kNoEnd;
}

}  // namespace maskd
