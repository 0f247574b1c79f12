#include "grammar_core/automaton/distinct_search.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/number/number_zeros.h"

namespace maskd {
namespace {

// Zeros beyond what the grammar's values ask for: more than an array could be long.
constexpr std::int64_t kMoreZeros = 24;

std::size_t MostZeros(const GrammarIr& ir) {
  std::int64_t zeros = 0;
  for (const NumberSpec& spec : ir.numbers) zeros = std::max(zeros, ZerosBetween(spec));
  return static_cast<std::size_t>(std::min(zeros, kMostZerosBetween) + kMoreZeros);
}

// Whether all digits before an exponent are zeros.
bool ReadsZero(absl::string_view number) {
  return number.substr(0, number.find_first_of("eE")).find_first_of("123456789") ==
         absl::string_view::npos;
}

}  // namespace

DistinctSearch::DistinctSearch(const TermStore* store, ByteDerivative* derivative,
                               const ByteClasses* classes, std::int64_t max_states)
    : store_(store),
      derivative_(derivative),
      classes_(classes),
      max_states_(max_states),
      breaks_lines_(BreaksLines(store->ir())),
      most_zeros_(MostZeros(store->ir())) {}

bool DistinctSearch::MayRepeat(TermId state) const {
  const Term& term = store_->term(state);
  if (!term.in_distinct) return false;
  if (term.kind == TermKind::kCat) return MayRepeat(term.a);
  if (term.kind == TermKind::kDistinct) {
    return derivative_->arrays().MayRepeat(term.b) || MayRepeat(term.a);
  }
  return std::ranges::all_of(store_->list(term.a), [&](TermId id) { return MayRepeat(id); });
}

std::vector<DistinctArrays::Id> DistinctSearch::ArraysOf(TermId state) const {
  std::vector<DistinctArrays::Id> arrays;
  std::vector<TermId> open = {state};
  while (!open.empty()) {
    const Term& term = store_->term(open.back());
    open.pop_back();
    if (!term.in_distinct) continue;
    if (term.kind == TermKind::kAlt) {
      const std::span<const TermId> branches = store_->list(term.a);
      open.insert(open.end(), branches.begin(), branches.end());
      continue;
    }
    if (term.kind == TermKind::kDistinct) arrays.push_back(term.b);
    open.push_back(term.a);
  }
  return arrays;
}

bool DistinctSearch::InString(TermId state) const {
  const Term& term = store_->term(state);
  if (term.in_distinct) return derivative_->arrays().InString(ArraysOf(state).front());
  const Term& cell = term.kind == TermKind::kCat ? store_->term(term.a) : term;
  return cell.kind == TermKind::kEncode &&
         PartialChar::Unpack(cell.b).spelling == Spelling::kJsonString;
}

bool DistinctSearch::MayRepeatBehind(TermId state, unsigned char byte) const {
  return std::ranges::any_of(ArraysOf(state), [&](DistinctArrays::Id array) {
    return derivative_->arrays().MayRepeatBehind(array, byte);
  });
}

bool DistinctSearch::MayBeginAnother(TermId state, absl::string_view bytes) const {
  return std::ranges::any_of(ArraysOf(state), [&](DistinctArrays::Id array) {
    return derivative_->arrays().MayBeginAnother(array, bytes);
  });
}

bool DistinctSearch::CanEnd(TermId state, Work& work) {
  if (!MayRepeat(state)) return true;
  if (const auto known = known_.find(state); known != known_.end()) return known->second;
  const bool can_end = Search(state, work);
  if (work.ok()) known_[state] = can_end;
  return can_end;
}

absl::string_view DistinctSearch::NumberAt(TermId state) const {
  for (const DistinctArrays::Id array : ArraysOf(state)) {
    const absl::string_view number = derivative_->arrays().NumberAt(array);
    if (!number.empty()) return number;
  }
  return "";
}

bool DistinctSearch::Search(TermId state, Work& work) {
  first_size_ = NumberAt(state).size();
  ways_ = {{state, 0, first_size_ > 0}};
  std::vector<std::uint32_t> open = {0};
  absl::flat_hash_set<TermId> seen = {state};
  std::vector<Way> next;
  for (std::int64_t visited = 0; !open.empty(); ++visited) {
    if (visited == max_states_) {
      work.Fail(LimitExceeded("", "emptiness_states", max_states_, visited + 1));
      return false;
    }
    const std::uint32_t at = open.back();
    open.pop_back();
    next.clear();
    if (Expand(at, &next, work)) return Keep(at);
    if (!work.ok()) return false;
    for (const Way& way : next) {
      if (!seen.insert(way.state).second) continue;
      open.push_back(static_cast<std::uint32_t>(ways_.size()));
      ways_.push_back(way);
    }
  }
  return Forget();
}

// All states up to way `at` can end.
bool DistinctSearch::Keep(std::uint32_t at) {
  for (; at != 0; at = ways_[at].before) known_[ways_[at].state] = true;
  return true;
}

// None of the states met can end. Of numbers begun on the way not all spellings have been tried.
bool DistinctSearch::Forget() {
  for (const Way& way : ways_) {
    if (NumberAt(way.state).empty()) known_[way.state] = false;
  }
  return false;
}

// An exponent is written with a small e, without a plus and zeros in front, and never behind zeros
// only. In a number that begins on the way there is none where digits alone are a value, nor behind
// a point.
bool DistinctSearch::IsOtherSpelling(const Way& at, absl::string_view number,
                                     const FirstClasses::Set& first, unsigned char byte) const {
  const bool is_zero = ReadsZero(number);
  if (byte == 'E') return true;
  if (byte == '+') return true;
  const std::size_t exponent = number.find_first_of("eE");
  if (exponent != absl::string_view::npos) {
    const bool begun = number.find_first_of("0123456789", exponent) != absl::string_view::npos;
    if (is_zero) return absl::ascii_isdigit(byte) && (begun || byte != '0');
    return byte == '0' && !begun && exponent >= first_size_;
  }
  if (byte == '0' && number.size() >= first_size_ + most_zeros_) return true;
  if (byte != 'e') return false;
  if (is_zero) return true;
  if (at.in_first_number) return false;
  const auto may_come = [&](unsigned char next) { return first.test(classes_->Of(next)); };
  return number.find('.') != absl::string_view::npos || may_come(',') || may_come(']') ||
         may_come('}') || (breaks_lines_ && may_come('\n'));
}

// White space behind white space changes nothing, so it is tried only where nothing else comes,
// unless lines break. The last of `next` is tried first, an escape after all others.
bool DistinctSearch::Expand(std::uint32_t from, std::vector<Way>* next, Work& work) {
  const Way at = ways_[from];
  const FirstClasses::Set first = derivative_->FirstOf(at.state);
  const absl::string_view number = NumberAt(at.state);
  for (const bool space : {false, true}) {
    for (std::size_t c = first._Find_first(); c < first.size(); c = first._Find_next(c)) {
      const unsigned char byte = classes_->Sample(static_cast<int>(c));
      if (absl::ascii_isspace(byte) != space) continue;
      if (!number.empty() && IsOtherSpelling(at, number, first, byte)) continue;
      if (!work.Spend()) return false;
      const TermId state = derivative_->StepKeeping(at.state, byte, work);
      if (state == kFailedTerm) return false;
      if (state == kNothingTerm) continue;
      if (!MayRepeat(state)) return true;
      const auto known = known_.find(state);
      if (known != known_.end() && known->second) return true;
      if (known != known_.end()) continue;
      next->push_back({state, from, at.in_first_number && !NumberAt(state).empty()});
      if (byte == '\\') std::swap(next->front(), next->back());
    }
    if (!next->empty() && !breaks_lines_) return false;
  }
  return false;
}

}  // namespace maskd
