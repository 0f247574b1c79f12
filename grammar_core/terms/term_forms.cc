// The normal forms of Cat, Alt and And that keep an ambiguous grammar's states few: see
// term_store.h. Without them, a text that can be read in many ways has one branch for each way, and
// the branches may grow with the text. Each law keeps the set of texts and makes more choices the
// same term:
//
//   tails    ad | bd -> (a | b)d             intersections   x | x & y -> x
//   heads    ab | ac -> a(b | c)                             x & y | x & z -> x & (y | z)
//   powers   x{1,3} | x{4,6} -> x{1,6}
//
// Invariant  an Alt is flat, sorted by id and without repetition, so equal branches are one term.
// Cost       sorting the branches; choices are factored only while effort is left.
// Source     flat, sorted choices: Owens, Reppy and Turon (2009).
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "grammar_core/base/sort_unique.h"
#include "grammar_core/ir/counts.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// Every term as x{a,b}: the choice of Empty and x is x{0,1}, any other term is itself once. Empty
// has the lowest id of all branches, so it is the first one where it is there.
Power TermStore::PowerOf(AnyTerm id) const {
  const Term& term = At(id);
  if (term.kind == TermKind::kRepeat) return {term.a, {term.b, term.c}};
  if (term.kind == TermKind::kAlt) {
    const std::span<const AnyTerm> branches = lists_[term.a];
    if (branches.size() == 2 && branches.front() == kEmptyTerm)
      return {branches.back().value(), {0, 1}};
  }
  return {id.value(), {1, 1}};
}

// x{a,b} x{c,d} as one cell, or kNothingTerm. Two of the same are left as they are, unless they are
// calls: those an ambiguous rule (S: S S | x) would stack for ever.
AnyTerm TermStore::JoinPowers(AnyTerm x, AnyTerm y) {
  const Power first = PowerOf(x);
  const Power second = PowerOf(y);
  const bool joins =
      first.base != x.value() || second.base != y.value() || At(x).kind == TermKind::kCall;
  if (first.base != second.base || !joins) return kNothingTerm;
  const std::optional<Counts> sum = AddCounts(first.counts, second.counts);
  return sum.has_value() ? Repeat(AnyTerm(first.base), sum->min, sum->max) : kNothingTerm;
}

// (x | y) t as x t | y t.
// For a choice that nests too deep: each branch is a level less deep, so a step need not descend
// further. The price is that the branches no longer share one cell.
AnyTerm TermStore::Distribute(AnyTerm alt, AnyTerm tail) {
  const std::span<const AnyTerm> parts = lists_[At(alt).a];
  std::vector<AnyTerm> branches(parts.begin(), parts.end());
  for (AnyTerm& branch : branches) branch = Cat(branch, tail);
  return Alt(branches);
}

// What removes branches at little cost comes first, then factoring, then what compares branches.
// Factoring comes back here with what is left of branches once a common part is taken out, which
// is shorter, so it ends.
template <typename Level>
AnyTerm TermStore::AltOf(const std::vector<Level>& terms, int shared_cells) {
  const auto is_some = [](Level id) { return id != kNothingTerm; };
  const auto some = std::ranges::count_if(terms, is_some);
  if (some == 0) return kNothingTerm;
  if (some == 1) return AnyTerm(*std::ranges::find_if(terms, is_some));
  std::vector<AnyTerm> flat;
  flat.reserve(static_cast<std::size_t>(some));
  for (const Level id : terms) {
    if (At(id).kind == TermKind::kAlt) {
      const std::span<const AnyTerm> inner = lists_[At(id).a];
      flat.insert(flat.end(), inner.begin(), inner.end());
    } else if (is_some(id)) {
      flat.push_back(AnyTerm(id));
    }
  }
  return AltOfFlat(std::move(flat), shared_cells);
}
template AnyTerm TermStore::AltOf(const std::vector<TermId>& terms, int shared_cells);
template AnyTerm TermStore::AltOf(const std::vector<CharTerm>& terms, int shared_cells);
template AnyTerm TermStore::AltOf(const std::vector<AnyTerm>& terms, int shared_cells);

AnyTerm TermStore::AltOfFlat(std::vector<AnyTerm> flat, int shared_cells) {
  AddEffort(flat.size());
  SortUnique(&flat);
  if (flat.size() == 1) return flat[0];
  // So that what is found once in a text is not looked for again.
  const auto all = std::find_if(flat.begin(), flat.end(),
                                [this](AnyTerm id) { return IsAllText(CharTerm(id)); });
  if (all != flat.end()) return *all;
  JoinEncoded(&flat);
  if (flat.size() == 1) return flat[0];
  FactorWithin(&flat, shared_cells);
  UnitePowers(&flat);
  Absorb(&flat);
  if (const AnyTerm shared = ShareParts(flat); shared != kNothingTerm) return shared;
  return AltTerm(std::move(flat));
}

// Texts that are each told by several patterns are one text, so that what these have in common is
// read once for all of them.
void TermStore::JoinEncoded(std::vector<AnyTerm>* branches) {
  // Only between two characters, and outside of objects: within one the cell also says what
  // follows.
  const auto joins = [&](AnyTerm id) {
    const Term& cell = At(id);
    return cell.kind == TermKind::kEncode && cell.c == kNoObject &&
           PartialChar::Unpack(cell.b).phase == CharPhase::kStart &&
           terms_[cell.a].kind == TermKind::kAnd;
  };
  const auto first = std::find_if(branches->begin(), branches->end(), joins);
  if (first == branches->end()) return;
  // Another spelling has other bytes for the same characters, so those stay apart.
  const std::uint32_t spelling = At(*first).b;
  std::vector<CharTerm> texts;
  std::vector<AnyTerm> others;
  for (const AnyTerm id : *branches) {
    const bool is_text = joins(id) && At(id).b == spelling;
    is_text ? texts.push_back(CharTerm(At(id).a)) : others.push_back(id);
  }
  if (texts.size() < 2) return;
  others.push_back(AnyTerm(Encode(Alt(texts), PartialChar::Unpack(spelling))));
  SortUnique(&others);
  *branches = std::move(others);
}

// x | x & y is x.
void TermStore::Absorb(std::vector<AnyTerm>* branches) {
  // Each pair of branches is compared, hence the bound. More branches are right too, only not
  // fewest.
  if (branches->size() > kMaxAbsorbed ||
      std::ranges::none_of(*branches, [this](AnyTerm id) { return IsBoth(id); }))
    return;
  const std::vector<AnyTerm> all = *branches;
  AddEffort(all.size() * all.size() / 2);
  std::erase_if(*branches, [&](AnyTerm id) {
    if (At(id).kind != TermKind::kAnd) return false;
    const std::span<const AnyTerm> parts = lists_[At(id).a];
    return std::ranges::any_of(all, [&](AnyTerm other) {
      if (other == id) return false;
      if (At(other).kind != TermKind::kAnd) return std::ranges::binary_search(parts, other);
      return std::ranges::includes(parts, lists_[At(other).a]);
    });
  });
}

// x & y | x & z as x & (y | z); kNothingTerm where the branches have no such x.
AnyTerm TermStore::ShareParts(const std::vector<AnyTerm>& branches) {
  if (branches.size() < 2 ||
      !std::ranges::all_of(branches, [this](AnyTerm id) { return IsBoth(id); }))
    return kNothingTerm;
  // The lists are sorted, so each look-up is a binary search.
  const std::span<const AnyTerm> first = lists_[At(branches[0]).a];
  std::vector<AnyTerm> common(first.begin(), first.end());
  for (const AnyTerm id : branches) {
    const std::span<const AnyTerm> parts = lists_[At(id).a];
    std::erase_if(common, [&](AnyTerm part) { return !std::ranges::binary_search(parts, part); });
  }
  if (common.empty()) return kNothingTerm;
  std::vector<AnyTerm> rests;
  for (const AnyTerm id : branches) {
    const std::span<const AnyTerm> parts = lists_[At(id).a];
    std::vector<AnyTerm> rest(parts.begin(), parts.end());
    std::erase_if(rest, [&](AnyTerm part) { return std::ranges::binary_search(common, part); });
    rests.push_back(AnyTerm(AndOf(rest)));
  }
  common.push_back(Alt(rests));
  return AnyTerm(AndOf(common));
}

// Factors as long as the outermost choice, whose factoring makes the inner ones, has effort left:
// rules that call each other in many ways would else be factored without an end in sight.
void TermStore::FactorWithin(std::vector<AnyTerm>* branches, int shared_cells) {
  const auto count = static_cast<std::int64_t>(branches->size());
  // The inner choices that factoring makes come back here and find `factoring_left_` set.
  const bool outermost = !factoring_left_.has_value();
  if (outermost) factoring_left_ = kFactoringEffort * (kFactoringBranches + count);
  *factoring_left_ -= count;
  if (*factoring_left_ > 0) FactorTails(branches);
  if (*factoring_left_ > 0 && shared_cells > 0) FactorHeads(branches, shared_cells);
  if (outermost) factoring_left_.reset();
}

// x t | y t becomes (x | y) t, and t | y t becomes (y | Empty) t.
// Ways through an ambiguous rule often differ in the first cell only. As one cell before one stack
// they take one step, not one each. A head that would nest too deep stays as it was: CatCell()
// would distribute the tail over it again.
void TermStore::FactorTails(std::vector<AnyTerm>* branches) {
  Factor(
      branches, [&](AnyTerm cat) { return Part{AnyTerm(At(cat).b), AnyTerm(At(cat).a), cat}; },
      [&](AnyTerm tail, std::vector<AnyTerm> heads) {
        const AnyTerm head = Alt(heads);
        return IsDeep(head) ? kNothingTerm : Cat(head, tail);
      });
}

// t x | t y becomes t (x | y), and t | t y becomes t (y | Empty), for up to `cells` cells: the
// tails of an ambiguous text may be alike for as long as it is.
void TermStore::FactorHeads(std::vector<AnyTerm>* branches, int cells) {
  Factor(
      branches, [&](AnyTerm cat) { return Part{AnyTerm(At(cat).a), AnyTerm(At(cat).b), cat}; },
      [&](AnyTerm head, std::vector<AnyTerm> tails) {
        const AnyTerm tail = AltOf(tails, cells - 1);
        return At(head).nullable && IsDeep(tail) ? kNothingTerm : Cat(head, tail);
      });
}

// Makes one branch, by `join`, of all branches with a part in common, or equal to that part; leaves
// them where `join` gives Nothing.
template <typename PartOf, typename Join>
void TermStore::Factor(std::vector<AnyTerm>* branches, PartOf part_of, Join join) {
  // A branch that is the common part itself has Empty left: d | bd -> (Empty | b)d.
  std::vector<AnyTerm> commons;
  for (const AnyTerm id : *branches)
    if (At(id).kind == TermKind::kCat) commons.push_back(part_of(id).common);
  if (commons.empty()) return;
  AddEffort(2 * branches->size());
  std::sort(commons.begin(), commons.end());
  std::vector<AnyTerm> factored;
  std::vector<Part> parts;
  for (const AnyTerm id : *branches)
    if (std::binary_search(commons.begin(), commons.end(), id))
      parts.push_back({id, kEmptyTerm, id});
    else if (At(id).kind == TermKind::kCat)
      parts.push_back(part_of(id));
    else
      factored.push_back(id);
  std::sort(parts.begin(), parts.end(),
            [](const Part& x, const Part& y) { return x.common < y.common; });
  for (auto first = parts.begin(); first != parts.end();) {
    const auto last = std::find_if(first, parts.end(),
                                   [&](const Part& part) { return part.common != first->common; });
    AnyTerm joined = kNothingTerm;
    if (last - first > 1) {
      std::vector<AnyTerm> rests;
      for (auto part = first; part != last; ++part) rests.push_back(part->rest);
      joined = join(first->common, std::move(rests));
    }
    if (joined != kNothingTerm) factored.push_back(joined);
    for (; first != last; ++first)
      if (joined == kNothingTerm) factored.push_back(first->whole);
  }
  SortUnique(&factored);
  *branches = std::move(factored);
}

// Of x{a,b} | x{c,d} makes one range where they touch; Empty is x{0}.
void TermStore::UnitePowers(std::vector<AnyTerm>* branches) {
  if (std::none_of(branches->begin(), branches->end(),
                   [&](AnyTerm id) { return At(id).kind == TermKind::kRepeat; })) {
    return;
  }
  AddEffort(2 * branches->size());
  bool has_empty = branches->front() == kEmptyTerm;
  std::vector<Power> powers;
  for (const AnyTerm id : *branches)
    if (id != kEmptyTerm) powers.push_back(PowerOf(id));
  branches->clear();
  for (Power united : maskd::UnitePowers(std::move(powers))) {
    // Empty | x{1,n} is x{0,n}. Once a branch holds the empty text, Empty itself is not needed.
    if (has_empty && united.counts.max > 1 && united.counts.min == 1) united.counts.min = 0;
    branches->push_back(Repeat(AnyTerm(united.base), united.counts.min, united.counts.max));
    has_empty = has_empty && !At(branches->back()).nullable;
  }
  if (has_empty) branches->push_back(kEmptyTerm);
  SortUnique(branches);
}

// Of x & !(x | y) and of x & y & !(x & y) nothing is left either.
bool TermStore::Contradict(std::span<const AnyTerm> terms) const {
  const auto is_held = [&](AnyTerm id) { return std::ranges::binary_search(terms, id); };
  return std::ranges::any_of(terms, [&](AnyTerm id) {
    if (At(id).kind != TermKind::kNot) return false;
    const AnyTerm negated(At(id).a);
    const Term& without = At(negated);
    if (without.kind == TermKind::kAnd) return std::ranges::all_of(lists_[without.a], is_held);
    if (is_held(negated)) return true;
    return without.kind == TermKind::kAlt && std::ranges::any_of(lists_[without.a], is_held);
  });
}

}  // namespace maskd
