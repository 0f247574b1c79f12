// Endings whose items must differ, and whose names must. The ending is taken byte by byte, as if
// items could be equal. Where a row refuses a byte, another one takes its place, or that of one
// shortly before. What is the same for all rows is kept; what a row has written is of no use to
// others.
//
// Invariant  a text that is found was walked to its end by the row's own states.
// Cost       a step of the row for each byte within the array, and for each byte that is tried.
#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/completion/fewest_tokens.h"
#include "grammar_core/matcher/endings.h"
#include "grammar_core/matcher/other_bytes.h"

namespace maskd {

// The row goes on, and its own bytes are of no use to others.
template <typename Read>
auto Endings::ReadOwn(const TokenStepper& stepper, State state, Work& work, Read read) {
  if (FewAsIfEqual(stepper, state) == kNever) return read(kNone);
  const std::optional<Distinct> found = DistinctOf(stepper, state, work);
  if (!found.has_value()) return read(kNone);
  const std::size_t kept = nodes_.size();
  auto result = read(PutAll(stepper.search(), *found));
  nodes_.resize(kept);
  return result;
}

int Endings::FewOwn(const TokenStepper& stepper, State state, Work& work) {
  return ReadOwn(stepper, state, work, [this](Node node) { return FewOf(node); });
}

std::optional<Endings::Spelled> Endings::SpelledOf(const TokenStepper& stepper, State state,
                                                   Work& work) {
  ForgetOthers(stepper);
  if (!stepper.states().automaton().tables().remembers())
    return SpelledFrom(EndingOf(stepper, stepper.states().Shared(state)));
  if (!RowStates::IsOwn(state)) return SpelledFrom(DistinctEnding(stepper, state, work));
  return ReadOwn(stepper, state, work, [this](Node node) { return SpelledFrom(node); });
}

Endings::Node Endings::DistinctEnding(const TokenStepper& stepper, State state, Work& work) {
  assert(!RowStates::IsOwn(state));
  state = WithoutEmptyCells(stepper, state);
  if (const auto known = distinct_.find(state); known != distinct_.end()) return known->second;
  if (FewAsIfEqual(stepper, state) == kNever) return kNone;
  return MakeDistinct(stepper, state, work);
}

// What may be left out is: a number that is complete ends as the cells behind it do, and each of
// its digits would be a state that is looked at.
Endings::State Endings::WithoutEmptyCells(const TokenStepper& stepper, State state) {
  const Automaton& automaton = stepper.states().automaton();
  const TermId at = stepper.states().Shared(state);
  assert(at != kNothingTerm && at != kFailedTerm && "no state has such an ending");
  return RowMemory::Of(automaton.MayEnd(at) ? at : automaton.store().FromNeeded(at));
}

// As long as the ending goes through states of all rows it is the same for each of them.
Endings::Node Endings::MakeDistinct(const TokenStepper& stepper, State state, Work& work) {
  const RowStates& states = stepper.states();
  const RowStates::Scratch scratch(states);
  const std::string ending = Text(stepper, state);
  std::vector<State> path = {state};
  for (std::size_t i = 0; i < ending.size() && !distinct_.contains(path.back()); ++i) {
    const State next =
        states.TakeUnsearched(path.back(), static_cast<unsigned char>(ending[i]), work);
    if (next == kNothingTerm || next == kFailedTerm || RowStates::IsOwn(next)) break;
    path.push_back(WithoutEmptyCells(stepper, next));
  }
  if (!work.ok()) return kNone;
  const auto look = [&](State from) {
    const auto found = DistinctOf(stepper, from, work);
    const Node node = found.has_value() ? PutAll(stepper.search(), *found) : kNone;
    if (work.ok()) distinct_[from] = node;
    return node;
  };
  const auto known = distinct_.find(path.back());
  Node node = known != distinct_.end() ? known->second : look(path.back());
  // Another byte before may lead on.
  if (node == kNone && path.size() > 1) return look(state);
  for (path.pop_back(); !path.empty() && node != kNone; path.pop_back()) {
    node = PutAll(stepper.search(), {ending.substr(path.size() - 1, 1), node});
    distinct_[path.back()] = node;
  }
  return node;
}

std::optional<std::string> Endings::DistinctText(const TokenStepper& stepper, State state,
                                                 Work& work) {
  if (!stepper.states().automaton().tables().remembers()) return Text(stepper, state);
  const std::optional<Distinct> found = DistinctOf(stepper, state, work);
  if (!found.has_value()) return std::nullopt;
  return absl::StrCat(found->text, TextFrom(found->behind));
}

std::optional<Endings::Distinct> Endings::DistinctOf(const TokenStepper& stepper, State state,
                                                     Work& work) {
  const RowStates::Scratch scratch(stepper.states());
  // Without a search at each byte first: the text that is found shows what may be written. Where
  // that way comes to where all that is left repeats something, searches keep it from there.
  for (const Take take : {&RowStates::TakeUnsearched, &RowStates::Take}) {
    if (!work.ok()) break;
    auto repaired = Repaired(stepper, state, {take}, work);
    if (repaired.has_value()) return repaired;
  }
  return std::nullopt;
}

// Where a byte is refused, another one takes its place, or that of one shortly before.
std::optional<Endings::Distinct> Endings::Repaired(const TokenStepper& stepper, State state,
                                                   const Repair& repair, Work& work) {
  const RowStates& states = stepper.states();
  Begun begun = {{{state}}};
  std::vector<Place>& places = begun.places;
  std::string& text = begun.ending.text;
  for (int replaced = 0; replaced <= kMaxReplaced; ++replaced) {
    const std::string ending = Text(stepper, places.back().state);
    std::size_t taken = 0;
    for (; taken < ending.size(); ++taken) {
      // The own state refuses what would repeat an item, where the automaton's takes it.
      const auto byte = static_cast<unsigned char>(ending[taken]);
      if (places.back().tried.test(byte)) break;
      const State next = (states.*repair.take)(places.back().state, byte, work);
      places.back().tried.set(byte);
      if (next == kNothingTerm || next == kFailedTerm) break;
      const bool has_left = RowStates::IsOwn(places.back().state) && !RowStates::IsOwn(next);
      places.push_back({next});
      text.push_back(ending[taken]);
      if (!has_left || repair.is_whole || distinct_depth_ >= kMaxDistinctDepth) continue;
      ++distinct_depth_;
      begun.ending.behind = DistinctEnding(stepper, next, work);
      --distinct_depth_;
      if (begun.ending.behind != kNone) return std::move(begun.ending);
      begun.ending.behind = kEnd;
    }
    if (taken == ending.size() && states.MayEnd(places.back().state))
      return std::move(begun.ending);
    if (taken == ending.size() || !TakeOther(stepper, repair, &begun, work)) return std::nullopt;
  }
  return std::nullopt;
}

void Endings::Begun::Replace(std::size_t at, unsigned char byte, State next) {
  places.resize(at + 1);
  places.back().tried.set(byte);
  places.push_back({next});
  ending.text.resize(at);
  ending.text.push_back(static_cast<char>(byte));
  std::erase_if(ending.replaced, [&](std::size_t place) { return place >= at; });
  ending.replaced.push_back(at);
}

Endings::Node Endings::PutAll(const TokenSearch& search, const Distinct& ending) {
  Node node = ending.behind;
  if (ending.text.size() + nodes_[node].bytes > kMaxDistinctBytes) return kNone;
  for (auto byte = ending.text.rbegin(); byte != ending.text.rend(); ++byte)
    node = Put(search, *byte, node);
  return node;
}

bool Endings::TakeOther(const TokenStepper& stepper, const Repair& repair, Begun* begun,
                        Work& work) {
  std::vector<Place>& places = begun->places;
  assert(!places.empty() && "a text begins at a place");
  // As if items could be equal no text through here has fewer bytes.
  const std::size_t least = places.size() - 1 + BytesAsIfEqual(stepper, places.back().state);
  Other best;
  std::size_t at = 0;
  for (std::size_t back = 1; back <= std::min(places.size(), kMaxBack) && work.ok(); ++back) {
    const std::size_t enough = back > repair.near ? least + 1 : least;
    if (best.next != kNothingTerm && !best.may_repeat && best.bytes <= enough) break;
    const std::size_t before = places.size() - back;
    const Other other = OtherByte(stepper, before, &places[before], repair.take, work);
    if (other.next == kNothingTerm || best.cost() <= other.cost()) continue;
    best = other;
    at = before;
  }
  if (!work.ok() || best.next == kNothingTerm) return false;
  begun->Replace(at, best.byte, best.next);
  return true;
}

// White space would change nothing.
Endings::Other Endings::OtherByte(const TokenStepper& stepper, std::size_t before, Place* place,
                                  Take take, Work& work) {
  const RowStates& states = stepper.states();
  const std::size_t least = before + BytesAsIfEqual(stepper, place->state);
  const int enough = FewAsIfEqual(stepper, place->state);
  if (!place->first.has_value()) place->first = states.FirstOf(place->state, work);
  const FirstClasses::Set& first = *place->first;
  Other best;
  for (std::size_t c = first._Find_first(); c < first.size() && work.ok();
       c = first._Find_next(c)) {
    const unsigned char byte = states.classes().Sample(static_cast<int>(c));
    if (place->tried.test(byte) || absl::ascii_isspace(byte)) continue;
    const State next = (states.*take)(place->state, byte, work);
    if (next == kNothingTerm || next == kFailedTerm) continue;
    const Other other = {byte, next, before + 1 + BytesAsIfEqual(stepper, next),
                         RowStates::IsOwn(next) && !states.TakenRests(next).empty(),
                         FewAsIfEqual(stepper, next)};
    if (other.cost() < best.cost()) best = other;
    if (!best.may_repeat && (best.bytes <= least || best.few <= enough)) break;
  }
  return best;
}

std::vector<TokenId> Endings::TokensWithin(const TokenStepper& stepper, State state, int most,
                                           Work& work) {
  if (!stepper.states().automaton().tables().remembers()) return {};
  if (FewAsIfEqual(stepper, state) == kNever) return {};
  const RowStates::Scratch scratch(stepper.states());
  for (const std::size_t near : {kNear, kMaxBack}) {
    auto found = Repaired(stepper, state, {&RowStates::TakeUnsearched, near, true}, work);
    if (!found.has_value() || found->text.size() > kMaxDistinctBytes) continue;
    TakeBytesOfFewerTokens(stepper, state, &*found, work);
    std::vector<TokenId> tokens = FewestPieces(stepper.search(), found->text);
    if (work.ok() && static_cast<int>(tokens.size()) <= most) return tokens;
  }
  return {};
}

// A byte is tried by a walk from its place to the end.
void Endings::TakeBytesOfFewerTokens(const TokenStepper& stepper, State state, Distinct* ending,
                                     Work& work) {
  const RowStates& states = stepper.states();
  std::string& text = ending->text;
  std::vector<State> path = {state};  // before each byte, and behind the last one
  const auto walk = [&](std::size_t from) {
    path.resize(from + 1);
    while (path.size() <= text.size()) {
      const auto byte = static_cast<unsigned char>(text[path.size() - 1]);
      const State next = states.TakeUnsearched(path.back(), byte, work);
      if (next == kNothingTerm || next == kFailedTerm) return false;
      path.push_back(next);
    }
    return states.MayEnd(path.back());
  };
  if (!walk(0)) return;
  assert(std::ranges::is_sorted(ending->replaced) && "places on the way to the end");
  for (const std::size_t at : ending->replaced) {
    if (!work.Spend(WorkOfPieces(text))) return;
    const std::vector<ByteChoice> others = BytesOfFewerTokens(stepper.search(), text, at);
    const std::vector<State> before = path;
    const char byte = text[at];
    const bool has_other = std::ranges::any_of(others, [&](const ByteChoice& other) {
      text[at] = static_cast<char>(other.byte);
      return walk(at);
    });
    if (has_other) continue;
    text[at] = byte;
    path = before;
  }
}

}  // namespace maskd
