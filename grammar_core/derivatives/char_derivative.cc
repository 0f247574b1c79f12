// The derivatives of a term by every character at once: a sorted list of ranges, each with its
// target. Operators combine their parts' lists by sweeping over them together, as symbolic automata
// do, so the cost depends on the ranges and not on the alphabet.
//
// Whether a term holds any string is a search for a nullable derivative. The term of an
// intersection is left to ConditionSearch, which does not build one term for each set of parts; the
// search here is for the choices and sequences around them. It looks by turns at the term nearest
// to a string, the first and the last that was met: which of them gets there soon depends on the
// form.
//
// Invariant  a fate that is kept is certain; a search that fails keeps none.
// Source     Brzozowski 1964; Keil and Thiemann, "Symbolic Solving of Extended Regular Expression
//            Inequalities", 2014 (ranges in place of characters).
#include "grammar_core/derivatives/char_derivative.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/error.h"
#include "grammar_core/terms/term_check.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

const CharEdges kNoEdges;

// They have no edges.
bool IsOfBothLevels(CharTerm term) { return term == kNothingTerm || term == kEmptyTerm; }

// Calls visit(lo, hi, x target, y target) for each maximal range on which both lists are constant;
// kNothingTerm stands for "in no edge".
template <typename Visit>
void Sweep(const CharEdges& x, const CharEdges& y, Visit visit) {
  std::size_t i = 0;
  std::size_t j = 0;
  std::uint32_t at = 0;
  while (at <= kMaxCodePoint) {
    while (i < x.size() && x[i].hi < at) ++i;
    while (j < y.size() && y[j].hi < at) ++j;
    const bool in_x = i < x.size() && x[i].lo <= at;
    const bool in_y = j < y.size() && y[j].lo <= at;
    std::uint32_t end = kMaxCodePoint;
    if (i < x.size()) end = std::min(end, in_x ? x[i].hi : x[i].lo - 1);
    if (j < y.size()) end = std::min(end, in_y ? y[j].hi : y[j].lo - 1);
    visit(at, end, in_x ? x[i].to : kNothingTerm, in_y ? y[j].to : kNothingTerm);
    at = end + 1;
  }
}

// Targets of both lists combined by `combine`, which is only called where one of them is not
// Nothing.
template <typename Combine>
CharEdges Merge(const CharEdges& x, const CharEdges& y, Combine combine) {
  CharEdges merged;
  Sweep(x, y, [&](std::uint32_t lo, std::uint32_t hi, CharTerm a, CharTerm b) {
    if (a != kNothingTerm || b != kNothingTerm) AppendEdge(&merged, {lo, hi, combine(a, b)});
  });
  return merged;
}

// How far a term is from a string, as far as its form tells. A choice is as near as its nearest
// branch. An intersection is as far as its farthest part, then as the sum of all parts. Parts that
// only bound a length do not count as far: every character that is read comes nearer to them,
// whichever it is.
class Distances {
 public:
  explicit Distances(const TermStore* store) : store_(store) {}

  struct Distance {
    std::uint32_t farthest;
    std::uint32_t all;
    auto operator<=>(const Distance&) const = default;
  };

  // Below so many levels a term is taken as a whole.
  Distance Of(CharTerm id, int levels = kMaxLevels) {
    const Term& term = store_->term(id);
    if (levels == 0 || (term.kind != TermKind::kAnd && term.kind != TermKind::kAlt))
      return {IsSearch(id) ? term.min_bytes : 0, term.min_bytes};
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    const bool is_both = term.kind == TermKind::kAnd;
    Distance distance = is_both ? Distance{0, 0} : Distance{kNoEnd, kNoEnd};
    for (const CharTerm part : BranchesOf<CharTerm>(*store_, term)) {
      const Distance one = Of(part, levels - 1);
      distance = is_both ? Distance{std::max(distance.farthest, one.farthest),
                                    SaturatingAdd(distance.all, one.all)}
                         : std::min(distance, one);
    }
    known_[id] = distance;
    return distance;
  }

 private:
  bool IsSearch(CharTerm id) {
    const auto [known, is_new] = searches_.try_emplace(id, false);
    if (is_new && !IsLength(id)) {
      int visits = kMaxVisits;
      const bool endless = IsEndless(id, &visits);
      searches_[id] = endless;
      return endless;
    }
    return known->second;
  }

  [[nodiscard]] bool IsLength(CharTerm id) const {
    const Term& term = store_->term(id);
    return term.kind == TermKind::kRepeat && store_->IsAnyChar(AsRepeat<CharTerm>(term).body);
  }

  // Whether `id` may hold strings of any length; what is not soon seen may.
  [[nodiscard]] bool IsEndless(CharTerm id, int* visits) const {
    if (--*visits < 0) return true;
    const Term& term = store_->term(id);
    const auto is_endless = [&](CharTerm part) { return IsEndless(part, visits); };
    switch (term.kind) {
      case TermKind::kCat:
        return is_endless(AsCat<CharTerm>(term).head) || is_endless(AsCat<CharTerm>(term).tail);
      case TermKind::kAlt:
        return std::ranges::any_of(BranchesOf<CharTerm>(*store_, term), is_endless);
      case TermKind::kRepeat:
        return AsRepeat<CharTerm>(term).max == kUnbounded ||
               is_endless(AsRepeat<CharTerm>(term).body);
      case TermKind::kAnd:
      case TermKind::kNot:
        return true;
      default:
        return false;
    }
  }

  static constexpr int kMaxLevels = 64;
  static constexpr int kMaxVisits = 64;

  const TermStore* store_;
  absl::flat_hash_map<CharTerm, bool> searches_;
  absl::flat_hash_map<CharTerm, Distance> known_;
};

// Terms whose followers are to be looked at: by turns the nearest to a string, the first and the
// last that was pushed. A string may be behind a count that begins anew in every place, short among
// many, or where no part tells its length.
class OpenTerms {
 public:
  explicit OpenTerms(const TermStore* store) : distances_(store) {}

  [[nodiscard]] bool empty() const { return left_ == 0; }

  void Push(CharTerm term) {
    ++left_;
    nearest_.emplace(distances_.Of(term), -static_cast<std::int64_t>(pushed_.size()));
    last_.push_back(pushed_.size());
    pushed_.push_back(term);
    taken_.push_back(false);
  }

  CharTerm Take() {
    --left_;
    turn_ = (turn_ + 1) % 3;
    std::size_t at = TakeAny();
    while (taken_[at]) at = TakeAny();
    taken_[at] = true;
    return pushed_[at];
  }

 private:
  // By this turn's order, what was taken before included.
  std::size_t TakeAny() {
    if (turn_ == 1) return first_++;
    const std::size_t at =
        turn_ == 0 ? static_cast<std::size_t>(-nearest_.top().second) : last_.back();
    turn_ == 0 ? nearest_.pop() : last_.pop_back();
    return at;
  }

  // Among equals the last one first.
  using Near = std::pair<Distances::Distance, std::int64_t>;
  Distances distances_;
  std::vector<CharTerm> pushed_;
  std::vector<bool> taken_;
  std::priority_queue<Near, std::vector<Near>, std::greater<>> nearest_;
  std::size_t first_ = 0;
  std::vector<std::size_t> last_;
  std::size_t left_ = 0;
  int turn_ = 2;
};

}  // namespace

std::uint32_t CharDerivative::Keep(CharEdges edges) {
  edges.shrink_to_fit();
  list_bytes_ += HeldBytes(edges);
  lists_.Append() = std::move(edges);
  return lists_.size();
}

void CharDerivative::SetFate(CharTerm term, Fate fate) {
  Known known = KnownOf(term);
  known.fate = static_cast<std::uint64_t>(fate);
  SetKnown(term, known);
}

// Nothing and the end have no edges, and no link here, as bytes have these terms too. IsNothing()
// makes edges of other terms, but lists do not move.
const CharEdges& CharDerivative::LiveEdges(CharTerm term, Work& work) {
  if (const CharEdges* const known = KnownLiveEdges(term); known != nullptr) return *known;
  const CharEdges& edges = Edges(term, work);
  CharEdges live = MapTargets(
      edges, [&](CharTerm to) { return work.ok() && IsNothing(to, work) ? kNothingTerm : to; });
  if (!work.ok()) return kNoEdges;
  Known known = KnownOf(term);
  assert(&ListAt(known.all) == &edges && "a list does not move");
  if (known.live == kNotMade) {
    known.live = live == edges ? known.all : Keep(std::move(live));
    SetKnown(term, known);
  }
  return ListAt(known.live);
}

const CharEdges* CharDerivative::KnownLiveEdges(CharTerm term) const {
  if (IsOfBothLevels(term)) return &kNoEdges;
  const Known known = KnownOf(term);
  return known.live == kNotMade ? nullptr : &ListAt(known.live);
}

// A search asks for the first characters of names, and so for their edges, before it takes one.
CharTerm CharDerivative::Behind(CharTerm term, std::uint32_t character, Work& work) {
  const bool is_names = store_->term(term).kind == TermKind::kNameSet;
  const CharEdges* const edges = is_names ? KnownLiveEdges(term) : &LiveEdges(term, work);
  if (edges != nullptr) {
    const CharEdge* const edge = FindEdge(*edges, character);
    return edge == nullptr ? kNothingTerm : edge->to;
  }
  if (!work.Spend()) return kNothingTerm;
  const NameSetView set = AsNameSet(store_->term(term));
  const char32_t text = character;
  const CharTerm names =
      objects_->NamesBehind(set.object, set.progress, set.first, set.depth, {&text, 1}, work);
  return store_->ChargeEffort(work) ? names : kNothingTerm;
}

// Each term is pushed once and there are at most max_states_ of them, so the search ends. Where
// nothing is left to look at, each term that was met leads only to others that were met or are
// Nothing, and no text ends in any of them: all are Nothing.
bool CharDerivative::IsNothing(CharTerm term, Work& work) {
  if (term == kNothingTerm) return true;
  MASKD_DCHECK_TERM(*store_, term, term.value() < store_->size());
  if (!store_->term(term).may_be_empty) return false;
  if (const Fate known = FateOf(term); known != Fate::kNotKnown) return known == Fate::kNothing;
  if (store_->term(term).kind == TermKind::kAnd) {
    Product product;
    const bool has_text = search_.Read(term, &product) && search_.HasText(product, work);
    if (work.ok()) SetFate(term, has_text ? Fate::kLive : Fate::kNothing);
    return work.ok() && !has_text;
  }
  // Until a term that surely holds a string; its finders are live as well.
  absl::flat_hash_map<CharTerm, CharTerm> found_from = {{term, term}};
  OpenTerms open(store_);
  open.Push(term);
  while (!open.empty()) {
    const CharTerm at = open.Take();
    if (static_cast<std::int64_t>(found_from.size()) > max_states_) {
      work.Fail(LimitExceeded("", "emptiness_states", max_states_,
                              static_cast<std::int64_t>(found_from.size())));
    }
    for (const CharEdge& edge : Edges(at, work)) {
      const bool may_be_empty = store_->term(edge.to).may_be_empty;
      const Fate fate = may_be_empty ? FateOf(edge.to) : Fate::kLive;
      if (fate == Fate::kNothing) continue;
      if (fate == Fate::kLive) {
        for (CharTerm live = at; FateOf(live) == Fate::kNotKnown; live = found_from[live])
          SetFate(live, Fate::kLive);
        return false;
      }
      if (found_from.try_emplace(edge.to, at).second) open.Push(edge.to);
    }
    if (!work.ok()) return false;
  }
  for (const auto& [dead, finder] : found_from) SetFate(dead, Fate::kNothing);
  return true;
}

// Depth first; a term is counted when all that follow it are, and one that leads back to itself has
// no end of texts.
std::int64_t CharDerivative::CountTexts(CharTerm term, std::int64_t enough, Work& work) {
  constexpr std::int64_t kOpen = -1;
  absl::flat_hash_map<CharTerm, std::int64_t> counts;
  std::vector<CharTerm> stack = {term};
  while (!stack.empty()) {
    const CharTerm at = stack.back();
    // A term is seen twice: first to push what follows it, where the sum is not used, then to add
    // up. All edges are live, so a way back to an open term is a loop that a text may take any
    // number of times.
    const auto [count, is_new] = counts.try_emplace(at, kOpen);
    if (!is_new && count->second != kOpen) {
      stack.pop_back();
      continue;
    }
    const CharEdges& edges = LiveEdges(at, work);
    if (static_cast<std::int64_t>(counts.size()) > max_states_)
      work.Fail(LimitExceeded("", "emptiness_states", max_states_, max_states_ + 1));
    if (!work.ok()) return 0;
    std::int64_t sum = store_->term(at).nullable ? 1 : 0;
    for (const CharEdge& edge : edges) {
      const auto next = counts.find(edge.to);
      if (next == counts.end()) {
        stack.push_back(edge.to);
      } else if (is_new && next->second == kOpen) {
        return enough;
      } else {
        const std::int64_t width = edge.hi - edge.lo + 1;
        sum =
            next->second >= enough / width ? enough : std::min(enough, sum + width * next->second);
      }
    }
    if (stack.back() != at) continue;
    counts[at] = sum;
    stack.pop_back();
    if (sum >= enough) return enough;
  }
  assert(counts[term] != kOpen);
  return counts[term];
}

// What failed is not kept: the same question is asked anew with other work.
const CharEdges& CharDerivative::Edges(CharTerm term, Work& work) {
  if (IsOfBothLevels(term)) return kNoEdges;
  if (const Known known = KnownOf(term); known.all != kNotMade) return ListAt(known.all);
  if (!work.Spend()) return kNoEdges;
  CharEdges edges = Derive(term, work);
  MASKD_DCHECK_TERM(*store_, term, AreInOrder(edges));
  store_->AddEffort(edges.size() / 4);
  if (!store_->ChargeEffort(work)) return kNoEdges;
  Known known = KnownOf(term);
  known.all = Keep(std::move(edges));
  SetKnown(term, known);
  return ListAt(known.all);
}

std::int64_t CharDerivative::held_bytes() const {
  return lists_.chunk_bytes() + list_bytes_ + search_.held_bytes();
}

CharEdges CharDerivative::Derive(CharTerm id, Work& work) {
  const Term& term = store_->term(id);
  CharEdges edges;
  switch (term.kind) {
    case TermKind::kCharSet:
      for (const CharRange& range : store_->ir().char_sets[CharSetOf(term)].ranges())
        edges.push_back({range.lo, range.hi, kEmptyTerm});
      return edges;
    case TermKind::kText: {
      const auto [text, offset] = AsText(term);
      const std::uint32_t character = store_->ir().texts[text][offset];
      return {{character, character, store_->Text(text, offset + 1)}};
    }
    case TermKind::kTextSet:
      return DeriveTextSet(id);
    case TermKind::kNameSet:
      return DeriveNames(id, work);
    case TermKind::kCat:
      return DeriveCat(id, work);
    case TermKind::kRepeat: {
      const CharTerm rest = store_->AfterOne<CharTerm>(term);
      return MapTargets(Edges(AsRepeat<CharTerm>(term).body, work),
                        [&](CharTerm to) { return store_->Cat(to, rest); });
    }
    case TermKind::kAlt:
      return DeriveParts(term, work,
                         [&](const std::vector<CharTerm>& ways) { return store_->Alt(ways); });
    case TermKind::kAnd:
      return DeriveParts(term, work,
                         [&](const std::vector<CharTerm>& parts) { return store_->And(parts); });
    // A character in no edge of the negated term leads to the complement of Nothing: any text.
    case TermKind::kNot: {
      // Names and texts are kept sorted, so their edges are soon made again.
      const CharTerm negated = NegatedOf(term);
      const bool is_list = store_->term(negated).kind == TermKind::kTextSet;
      return Merge(EveryCharacter(kEmptyTerm),
                   is_list ? DeriveTextSet(negated) : Edges(negated, work),
                   [&](CharTerm, CharTerm y) { return store_->Not(y); });
    }
    default:
      return edges;  // Nothing and Empty have none; byte terms do not come here
  }
}

CharEdges CharDerivative::DeriveCat(CharTerm id, Work& work) {
  CharEdges edges;
  bool reached = true;
  while (reached) {
    const auto parts = store_->PartsOf(id);
    CharEdges step = MapTargets(Edges(parts.cell, work),
                                [&](CharTerm to) { return store_->Cat(to, parts.tail); });
    edges = edges.empty()
                ? std::move(step)
                : Merge(edges, step, [&](CharTerm x, CharTerm y) { return store_->Alt(x, y); });
    reached = parts.tail != kEmptyTerm && store_->term(parts.cell).nullable;
    id = parts.tail;
  }
  return edges;
}

// All parts at once: two by two, most of what is joined would be made only to be joined further.
template <typename Join>
CharEdges CharDerivative::DeriveParts(const Term& term, Work& work, Join join) {
  const auto parts = BranchesOf<CharTerm>(*store_, term);
  std::vector<const CharEdges*> lists;
  // A complement is mostly part of one intersection, and its edges are those of what it negates,
  // with as many gaps: they are made for this list alone.
  std::vector<CharEdges> complements;
  complements.reserve(parts.size());
  for (const CharTerm part : parts) {
    if (store_->term(part).kind == TermKind::kNot) {
      lists.push_back(&complements.emplace_back(Derive(part, work)));
      store_->AddEffort(complements.back().size() / 4);
    } else {
      lists.push_back(&Edges(part, work));
    }
  }
  CharEdges edges;
  std::vector<CharTerm> last_targets;
  CharTerm last = kNothingTerm;
  SweepAll(lists, kAllCharacters,
           [&](std::uint32_t lo, std::uint32_t hi, const std::vector<CharTerm>& targets) {
             store_->AddEffort(targets.size() / 4);
             if (targets != last_targets) {
               last = join(targets);
               last_targets = targets;
             }
             AppendEdge(&edges, {lo, hi, last});
           });
  return edges;
}

// The texts are sorted, and those from `first` to `last` agree in what was read. So those with the
// same next character are neighbours: of "ab", "ac", "b" at depth 0 the edges are `a` to the first
// two and `b` to the last. A binary search for each next character.
CharEdges CharDerivative::DeriveTextSet(CharTerm id) const {
  const auto [set, first, last, depth_read] = AsTextSet(store_->term(id));
  const std::uint32_t depth = depth_read;
  const std::vector<std::u32string>& texts = store_->text_set(set);
  CharEdges edges;
  std::uint32_t at = first;
  while (at < last && texts[at].size() == depth) ++at;
  while (at < last) {
    const std::uint32_t character = texts[at][depth];
    const auto end =
        std::partition_point(texts.begin() + at, texts.begin() + last,
                             [&](const std::u32string& text) { return text[depth] == character; });
    const auto next = static_cast<std::uint32_t>(end - texts.begin());
    AppendEdge(&edges, {character, character, store_->TextSet(set, at, next, depth + 1)});
    at = next;
  }
  return edges;
}

CharEdges CharDerivative::DeriveNames(CharTerm id, Work& work) const {
  const NameSetView set = AsNameSet(store_->term(id));
  CharEdges edges;
  for (const auto& [character, names] :
       objects_->NameEdges(set.object, set.progress, set.first, set.depth, work)) {
    AppendEdge(&edges, {character, character, names});
  }
  return edges;
}

}  // namespace maskd
