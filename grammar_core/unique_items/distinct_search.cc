// A way within distinct arrays may be stuck though the automaton can go on: all that is left to
// write repeats something. This is a depth-first search for one continuation after which nothing
// can be a repetition any more: from there on the automaton's own "no dead ends" holds.
//
// Most ways need no search: one free character that no item has at this place leads away. What is
// left are closed sets (enumerations, booleans, short numbers). Their spellings are endless where
// their values are few (1, 1.0, 10e-1), so only one spelling of each number is followed.
//
// Invariant  an answer that is kept in known_ends is exact: true for all places on the path that
//            was found, false for all that were met when nothing is left, except numbers whose
//            other spellings were not tried.
// Cost       one step of a way for each byte class of each place; at most search_states places,
//            after which the row fails with the limit's name.
#include "grammar_core/unique_items/distinct_search.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/base/error.h"

namespace maskd {

// Read once for all the bytes that may come behind it.
struct DistinctSearch::Spelt {
  std::size_t size = 0;
  std::size_t exponent = absl::string_view::npos;  // where its letter stands
  bool has_point = false;
  bool is_zero = true;          // all digits before the exponent are zeros
  bool begun_exponent = false;  // with a digit

  explicit Spelt(absl::string_view number) : size(number.size()) {
    for (std::size_t at = 0; at < size; ++at) {
      const char byte = number[at];
      if (byte == 'e' || byte == 'E') {
        exponent = std::min(exponent, at);
      } else if (byte == '.') {
        has_point = true;
      } else if (absl::ascii_isdigit(static_cast<unsigned char>(byte))) {
        if (exponent != absl::string_view::npos)
          begun_exponent = true;
        else if (byte != '0')
          is_zero = false;
      }
    }
  }
};

DistinctSearch::DistinctSearch(RowMemory* row)
    : row_(row), bounds_(row->automaton().tables().row_bounds) {}

bool DistinctSearch::CanEnd(const RowMemory::Way& way, Work& work) {
  if (!row_->MayRepeat(way) || LeadsAway(way, work)) return true;
  const auto& known_ends = row_->known_ends();
  if (const auto known = known_ends.find(row_->KeyOf(way)); known != known_ends.end())
    return known->second;
  // The places tried are given back; what was learnt of them stays while a Scratch is open.
  const RowMemory::Scratch scratch(row_);
  return Search(way, work);
}

// Behind such a character no array can have ended or begun.
bool DistinctSearch::LeadsAway(const RowMemory::Way& way, Work& work) {
  constexpr absl::string_view kCharacters = "~qzx#07AZ_ae";
  Automaton& automaton = row_->automaton();
  TermId string = way.term;
  if (!row_->InString(way)) string = automaton.Step(string, '"', work);
  if (string == kNothingTerm || !work.ok()) return false;
  return std::ranges::any_of(kCharacters, [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    const TermId next = automaton.Step(string, byte, work);
    return next != kNothingTerm && work.ok() && !row_->MayRepeatInString(way, byte);
  });
}

bool DistinctSearch::Search(const RowMemory::Way& way, Work& work) {
  first_size_ = row_->NumberAt(way).size();
  places_ = {{way, row_->KeyOf(way), 0, first_size_ > 0}};
  // A stack, so depth first: one way out is enough, and most are short.
  std::vector<std::uint32_t> open = {0};
  absl::flat_hash_set<Hash128> seen = {places_[0].key};
  std::vector<Place> next;
  for (std::int64_t visited = 0; !open.empty(); ++visited) {
    if (visited == bounds_.search_states) {
      work.Fail(LimitExceeded("", "emptiness_states", bounds_.search_states, visited + 1));
      return false;
    }
    assert(open.back() < places_.size() && "an open place is one of those met");
    const std::uint32_t at = open.back();
    open.pop_back();
    next.clear();
    if (Expand(at, &next, work)) return Keep(at);
    if (!work.ok()) return false;
    for (Place& place : next) {
      if (!seen.insert(place.key).second) continue;
      open.push_back(static_cast<std::uint32_t>(places_.size()));
      places_.push_back(std::move(place));
    }
  }
  return Forget();
}

// All places up to `at` can end.
bool DistinctSearch::Keep(std::uint32_t at) {
  assert(at < places_.size() && "an end that was not met");
  for (; at != 0; at = places_[at].before) row_->known_ends()[places_[at].key] = true;
  row_->known_ends()[places_[0].key] = true;
  return true;
}

// None of the places met can end. Of numbers begun on the way not all spellings have been tried.
bool DistinctSearch::Forget() {
  for (const Place& place : places_)
    if (row_->NumberAt(place.way).empty()) row_->known_ends()[place.key] = false;
  row_->known_ends()[places_[0].key] = false;
  return false;
}

// An exponent is written with a small e, without a plus and zeros in front, and never behind zeros
// only. In a number that begins on the way there is none where digits alone are a value, nor behind
// a point.
bool DistinctSearch::IsOtherSpelling(const Place& at, const Spelt& number,
                                     const FirstClasses::Set& first, unsigned char byte) const {
  if (byte == 'E') return true;
  if (byte == '+') return true;
  if (number.exponent != absl::string_view::npos) {
    if (number.is_zero) return absl::ascii_isdigit(byte) && (number.begun_exponent || byte != '0');
    return byte == '0' && !number.begun_exponent && number.exponent >= first_size_;
  }
  if (byte == '0' && number.size >= first_size_ + bounds_.most_zeros) return true;
  if (byte != 'e') return false;
  if (number.is_zero) return true;
  if (at.in_first_number) return false;
  const ByteClasses& classes = row_->automaton().classes();
  const auto may_come = [&](unsigned char next) { return first.test(classes.Of(next)); };
  return number.has_point || may_come(',') || may_come(']') || may_come('}') ||
         (bounds_.breaks_lines && may_come('\n'));
}

// White space behind white space changes nothing, so it is tried only where nothing else comes,
// unless lines break. The last of `next` is tried first, an escape after all others.
bool DistinctSearch::Expand(std::uint32_t from, std::vector<Place>* next, Work& work) {
  const Place at = places_[from];
  const FirstClasses::Set first = row_->automaton().FirstOf(at.way.term, work);
  const Spelt number(row_->NumberAt(at.way));
  for (const bool space : {false, true}) {
    for (std::size_t c = first._Find_first(); c < first.size(); c = first._Find_next(c)) {
      const unsigned char byte = row_->automaton().classes().Sample(static_cast<int>(c));
      if (absl::ascii_isspace(byte) != space) continue;
      if (number.size > 0 && IsOtherSpelling(at, number, first, byte)) continue;
      if (ExpandBy(from, byte, next, work)) return true;
      if (!work.ok()) return false;
    }
    if (!next->empty() && !bounds_.breaks_lines) return false;
  }
  return false;
}

bool DistinctSearch::ExpandBy(std::uint32_t from, unsigned char byte, std::vector<Place>* next,
                              Work& work) {
  const Place& at = places_[from];
  RowMemory::Ways ways;
  row_->StepWay(at.way, byte, &ways, work);
  for (RowMemory::Way& way : ways) {
    if (!row_->MayRepeat(way)) return true;
    const Hash128 key = row_->KeyOf(way);
    const auto known = row_->known_ends().find(key);
    if (known != row_->known_ends().end()) {
      if (known->second) return true;
      continue;
    }
    const bool in_first_number = at.in_first_number && !row_->NumberAt(way).empty();
    next->push_back({std::move(way), key, from, in_first_number});
    if (byte == '\\') std::swap(next->front(), next->back());
  }
  return false;
}

}  // namespace maskd
