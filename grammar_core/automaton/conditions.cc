#include "grammar_core/automaton/conditions.h"

#include <algorithm>

#include "grammar_core/automaton/char_derivative.h"
#include "grammar_core/base/sort_unique.h"

namespace maskd {

ConditionId Conditions::IdOf(TermId term) {
  if (const auto known = ids_.find(term); known != ids_.end()) return known->second;
  if (store_->IsAllText(term)) return ids_[term] = kEveryText;
  const Term& negation = store_->term(term);
  const ConditionId negated =
      negation.kind == TermKind::kNot ? IdOf(negation.a) : static_cast<ConditionId>(kNone);
  const auto id = static_cast<ConditionId>(conditions_.size());
  Condition& condition = conditions_.emplace_back();
  condition.term = term;
  condition.negated = negated;
  return ids_[term] = id;
}

bool Conditions::Append(TermId term, ConditionList* list) {
  if (term == kNothingTerm) return false;
  const Term& both = store_->term(term);
  const std::span<const TermId> parts =
      both.kind == TermKind::kAnd ? store_->list(both.a) : std::span(&term, 1);
  for (const TermId part : parts) {
    if (const ConditionId id = IdOf(part); id != kEveryText) list->push_back(id);
  }
  return true;
}

bool Conditions::Sort(ConditionList* list) {
  SortUnique(list);
  const auto is_held = [&](ConditionId id) { return std::ranges::binary_search(*list, id); };
  return std::ranges::none_of(*list, [&](ConditionId id) {
    const ConditionId negated = conditions_[id].negated;
    if (negated == kNone) return false;
    if (is_held(negated)) return true;
    return std::ranges::any_of(WaysOf(negated), [&](const ConditionList& way) {
      return std::ranges::all_of(way, is_held);
    });
  });
}

// The one way of an intersection, which only a complement is made of, is its parts.
const std::vector<ConditionList>& Conditions::WaysOf(ConditionId id) {
  Condition& condition = conditions_[id];
  const Term& term = store_->term(condition.term);
  if (condition.has_ways || (term.kind != TermKind::kAlt && term.kind != TermKind::kAnd)) {
    return condition.ways;
  }
  condition.has_ways = true;
  const std::span<const TermId> branches = term.kind == TermKind::kAlt
                                               ? store_->list(term.a)
                                               : std::span<const TermId>(&condition.term, 1);
  for (const TermId branch : branches) {
    ConditionList way;
    if (Append(branch, &way) && Sort(&way)) condition.ways.push_back(std::move(way));
  }
  return condition.ways;
}

const CharEdges& Conditions::EdgesOf(ConditionId id, Work& work) {
  return characters_->Edges(conditions_[id].term, work);
}

std::uint32_t Conditions::FewestCharsOf(TermId id) {
  if (const auto known = fewest_.find(id); known != fewest_.end()) return known->second;
  return fewest_[id] = ComputeFewest(store_->term(id));
}

std::uint32_t Conditions::ComputeFewest(const Term& term) {
  if (term.nullable) return 0;
  std::uint32_t fewest = 0;
  switch (term.kind) {
    case TermKind::kNothing:
      return kNoEnd;
    case TermKind::kText:
      return static_cast<std::uint32_t>(store_->ir().texts[term.a].size()) - term.b;
    case TermKind::kCat: {
      const Term* cell = &term;
      while (cell->kind == TermKind::kCat) {
        fewest = SaturatingAdd(fewest, FewestCharsOf(cell->a));
        if (store_->term(cell->b).kind != TermKind::kCat) break;
        cell = &store_->term(cell->b);
      }
      return SaturatingAdd(fewest, FewestCharsOf(cell->b));
    }
    case TermKind::kRepeat:
      return SaturatingMul(FewestCharsOf(term.a), term.b);
    case TermKind::kAlt:
      fewest = kNoEnd;
      for (const TermId way : store_->list(term.a)) fewest = std::min(fewest, FewestCharsOf(way));
      return fewest;
    case TermKind::kAnd:
      for (const TermId part : store_->list(term.a)) {
        fewest = std::max(fewest, FewestCharsOf(part));
      }
      return fewest;
    default:
      return 1;
  }
}

void Conditions::AddSample(std::u32string_view text) {
  if (text.size() > kMaxSampleChars) text = text.substr(text.size() - kMaxSampleChars);
  std::uint32_t sample = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    const std::pair<std::uint32_t, std::uint32_t> key = {text[at], sample};
    if (const auto known = sample_ids_.find(key); known != sample_ids_.end()) {
      sample = known->second;
      continue;
    }
    if (samples_.size() >= kMaxSamples) return;
    const std::uint32_t longer = samples_[sample].chars + 1;
    sample_ids_[key] = static_cast<std::uint32_t>(samples_.size());
    samples_.push_back({.first = key.first, .rest = sample, .chars = longer});
    sample = static_cast<std::uint32_t>(samples_.size()) - 1;
  }
}

Conditions::Bits Conditions::WithinLength(std::size_t word, std::uint32_t max_chars) const {
  Bits bits = 0;
  const std::size_t first = word * kBits;
  const std::size_t end = std::min(samples_.size(), first + kBits);
  for (std::size_t i = first; i < end; ++i) {
    if (samples_[i].chars <= max_chars) bits |= Bits{1} << (i - first);
  }
  return bits;
}

bool Conditions::HasSample(const ConditionList& list, std::uint32_t max_chars, Work& work) {
  for (const ConditionId id : list) Settle(id, work);
  for (std::size_t word = 0; work.ok() && word * kBits < samples_.size(); ++word) {
    const Bits met = MetByAll(list, word);
    if (met != 0 && (met & WithinLength(word, max_chars)) != 0) return true;
  }
  return false;
}

Conditions::Bits Conditions::MetByAll(const ConditionList& list, std::size_t word) const {
  Bits bits = WithinLength(word, kNoEnd);
  for (const ConditionId id : list) bits &= conditions_[id].met[word];
  return bits;
}

// By its form where that is a choice or a complement, so that few terms are tried on the samples.
void Conditions::Settle(ConditionId id, Work& work) {
  Condition& condition = conditions_[id];
  if (condition.settled == samples_.size()) return;
  const std::size_t words = (samples_.size() + kBits - 1) / kBits;
  condition.met.resize(words, 0);
  const std::size_t first_word = condition.settled / kBits;
  if (condition.negated != kNone) {
    Settle(condition.negated, work);
    for (std::size_t word = first_word; word < words; ++word) {
      condition.met[word] = ~conditions_[condition.negated].met[word];
    }
  } else if (const std::vector<ConditionList>& ways = WaysOf(id); !ways.empty()) {
    std::fill(condition.met.begin() + static_cast<std::ptrdiff_t>(first_word), condition.met.end(),
              0);
    for (const ConditionList& way : ways) {
      for (const ConditionId part : way) Settle(part, work);
      for (std::size_t word = first_word; word < words; ++word) {
        condition.met[word] |= MetByAll(way, word);
      }
    }
  } else {
    for (std::size_t i = condition.settled; i < samples_.size() && work.ok(); ++i) {
      if (Meets(condition.term, i, work)) condition.met[i / kBits] |= Bits{1} << (i % kBits);
    }
  }
  if (work.ok()) condition.settled = samples_.size();
}

bool Conditions::Meets(TermId term, std::size_t sample, Work& work) {
  for (; sample != 0; sample = samples_[sample].rest) {
    const CharEdge* edge = FindEdge(characters_->Edges(term, work), samples_[sample].first);
    if (edge == nullptr) return false;
    term = edge->to;
  }
  return store_->term(term).nullable;
}

std::int64_t Conditions::held_bytes() const {
  constexpr std::int64_t kBytesPerCondition = sizeof(Condition) + 4 * sizeof(std::uint64_t);
  const auto words = static_cast<std::int64_t>(samples_.size() / kBits + 1);
  return static_cast<std::int64_t>(conditions_.size()) *
         (kBytesPerCondition + words * static_cast<std::int64_t>(sizeof(Bits)));
}

}  // namespace maskd
