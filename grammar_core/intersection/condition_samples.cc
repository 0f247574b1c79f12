// A sample is a text, and for each condition two bits: whether the sample has been tried on it, and
// whether it meets it. A list of conditions is met where one sample meets all: an intersection of
// rows of bits, 64 samples a word. Every suffix of a text is a sample too, because a search comes
// to what is left of a text far more often than to its beginning.
//
// Invariant  a bit is set only after the text was run through the condition's own edges.
// Cost       a condition is run through a sample at most once.
#include "grammar_core/intersection/condition_samples.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace maskd {
namespace {

// Words of samples looked at, and questions asked, in about a unit of work.
constexpr std::size_t kLooksPerUnit = 16;
constexpr std::int64_t kQuestionsPerUnit = 4;

}  // namespace

// From the end on, so that texts share their suffixes: of "abc" and "xbc" the samples are "", "c",
// "bc", "abc" and "xbc". A sample's rest has a smaller number than the sample.
void ConditionSamples::Add(std::u32string_view text) {
  if (text.size() > kMaxChars) text = text.substr(text.size() - kMaxChars);
  if (samples_.size() + text.size() > kMaxSamples) Clear();
  std::uint32_t sample = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    const auto [known, is_new] =
        sample_ids_.try_emplace({text[at], sample}, static_cast<std::uint32_t>(samples_.size()));
    if (is_new) {
      assert(sample < samples_.size());
      const std::uint32_t longer = samples_[sample].chars + 1;
      samples_.push_back({.first = text[at], .rest = sample, .chars = longer});
    }
    sample = known->second;
  }
}

// All at once: rows are by number, and a number that was used again would keep the old answer.
void ConditionSamples::Clear() {
  samples_.resize(1);
  sample_ids_.clear();
  within_.clear();
  known_.clear();
  held_bytes_ = 0;
}

// A length has a place by its remainder, and the last one asked for keeps it. Samples are only
// added, so a row that is known is only filled further.
const ConditionSamples::Row& ConditionSamples::WithinLength(std::uint32_t max_chars) {
  within_.resize(kLengths);
  Within& within = within_[max_chars % kLengths];
  if (within.max_chars != max_chars) within = {.max_chars = max_chars, .count = 0, .row = {}};
  within.row.resize(words());
  for (; within.count < samples_.size(); ++within.count) {
    const auto is_within = static_cast<Bits>(samples_[within.count].chars <= max_chars);
    within.row[within.count / kBits] |= is_within << (within.count % kBits);
  }
  return within.row;
}

// Word by word and condition by condition: a word is left as soon as none of its samples meets
// all so far, so a condition is tried only on samples that met those before it.
bool ConditionSamples::HaveText(const ConditionList& list, std::uint32_t max_chars, Work& work) {
  const Row& within = WithinLength(max_chars);
  std::size_t looks = 0;
  Bits bits = 0;
  for (std::size_t word = 0; bits == 0 && word < within.size() && work.ok(); ++word) {
    bits = within[word];
    for (std::size_t i = 0; bits != 0 && i < list.size(); ++i, ++looks)
      bits = MetBy(list[i], word, bits, work);
  }
  return ChargeLooks(looks, work) && bits != 0;
}

bool ConditionSamples::VisitUnmetPairs(const ConditionList& list, std::uint32_t max_chars,
                                       Work& work,
                                       absl::FunctionRef<bool(const ConditionList&)> visit) {
  Row rows;
  std::size_t stride = 0;
  const auto fill = [&] {
    rows = MetBy(list, WithinLength(max_chars), work);
    stride = words();
  };
  // Word by word: most have a sample in common among the first.
  const auto have_common = [&](std::size_t i, std::size_t j) {
    for (std::size_t word = 0; word < stride; ++word)
      if ((rows[i * stride + word] & rows[j * stride + word]) != 0) return true;
    return false;
  };
  fill();
  const std::size_t looks = list.size() * list.size() / 2 + list.size() * stride;
  if (!ChargeLooks(looks, work)) return false;
  for (std::size_t i = 0; i < list.size() && work.ok(); ++i) {
    for (std::size_t j = i + 1; j < list.size(); ++j) {
      if (have_common(i, j)) continue;
      if (!visit({list[i], list[j]})) return false;
      // The visitor may have added samples, which may answer the pairs that are left.
      fill();
    }
  }
  return work.ok();
}

// As in the search for a smallest hitting set: what is asked for grows by what refuses the answer.
// Each turn adds a condition or visits a part, and a part that is visited has samples then.
bool ConditionSamples::VisitRefused(const ConditionList& list, std::uint32_t max_chars, Work& work,
                                    absl::FunctionRef<bool(const ConditionList&)> visit) {
  const auto has_some = [](const Row& row) {
    return std::ranges::any_of(row, [](Bits bits) { return bits != 0; });
  };
  ConditionList part;
  Row common = WithinLength(max_chars);
  while (work.Spend() && ChargeLooks(list.size() * common.size(), work)) {
    if (has_some(common)) {
      const std::optional<ConditionId> refuser = RefuserOf(list, common, work);
      if (!refuser.has_value()) return true;
      part.insert(std::ranges::upper_bound(part, *refuser), *refuser);
      Restrict(*refuser, &common, work);
      continue;
    }
    if (part.size() == list.size()) return true;
    if (!visit(part)) return false;
    common = WithinLength(max_chars);
    for (const ConditionId id : part) Restrict(id, &common, work);
    if (!has_some(common)) return true;
  }
  return true;
}

std::optional<ConditionId> ConditionSamples::RefuserOf(const ConditionList& list,
                                                       const Row& samples, Work& work) {
  const auto word = std::ranges::find_if(samples, [](Bits bits) { return bits != 0; });
  const auto index = static_cast<std::size_t>(word - samples.begin());
  const Bits first = *word & -*word;
  std::optional<ConditionId> refuser;
  for (const ConditionId id : list) {
    if (refuser.has_value() && conditions_->Places(*refuser) <= conditions_->Places(id)) continue;
    if (MetBy(id, index, first, work) == 0 && work.ok()) refuser = id;
  }
  return refuser;
}

void ConditionSamples::Restrict(ConditionId id, Row* samples, Work& work) {
  for (std::size_t word = 0; word < samples->size(); ++word)
    if ((*samples)[word] != 0) (*samples)[word] = MetBy(id, word, (*samples)[word], work);
}

bool ConditionSamples::ChargeLooks(std::size_t looks, Work& work) {
  looks_ += looks;
  const auto units = static_cast<std::int64_t>(looks_ / kLooksPerUnit);
  looks_ %= kLooksPerUnit;
  return units == 0 ? work.ok() : work.Spend(units);
}

ConditionSamples::Known& ConditionSamples::KnownOf(ConditionId id) {
  if (id >= known_.size()) known_.resize(id + 1);
  Known& known = known_[id];
  if (known.told.size() < words()) {
    held_bytes_ += static_cast<std::int64_t>(2 * (words() - known.told.size()) * sizeof(Bits));
    known.told.resize(words());
    known.met.resize(words());
  }
  return known;
}

ConditionSamples::Bits ConditionSamples::MetBy(ConditionId id, std::size_t word, Bits samples,
                                               Work& work) {
  const Known& known = KnownOf(id);
  TellAll(id, word, samples & ~known.told[word], work);
  return samples & known.met[word];
}

ConditionSamples::Row ConditionSamples::MetBy(const ConditionList& list, const Row& samples,
                                              Work& work) {
  Row rows;
  rows.reserve(list.size() * samples.size());
  for (const ConditionId id : list) {
    const Known& known = KnownOf(id);
    for (std::size_t word = 0; word < samples.size(); ++word) {
      const Bits untold = samples[word] & ~known.told[word];
      if (untold != 0) TellAll(id, word, untold, work);
      rows.push_back(samples[word] & known.met[word]);
    }
  }
  return rows;
}

void ConditionSamples::TellAll(ConditionId id, std::size_t word, Bits samples, Work& work) {
  for (; samples != 0 && work.ok(); samples &= samples - 1) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(samples));
    Tell({id, static_cast<std::uint32_t>(word * kBits + bit)}, work);
  }
}

// By a stack of questions, as one may hang on as many others as a sample has characters.
// A question hangs on the same sample and a part of the condition, or on the sample's shorter rest:
// it cannot come back to itself. Where work fails, answers so far are right and stay.
void ConditionSamples::Tell(Question question, Work& work) {
  open_.assign(1, question);
  for (std::int64_t asked = 0; !open_.empty(); ++asked) {
    if (asked % kQuestionsPerUnit == 0 && !work.Spend()) return;
    const Question at = open_.back();
    const std::optional<bool> answer = Answer(at, work);
    if (!work.ok()) return;
    if (!answer.has_value()) continue;
    open_.pop_back();
    Known& known = KnownOf(at.id);
    const Bits bit = Bits{1} << (at.sample % kBits);
    known.told[at.sample / kBits] |= bit;
    if (*answer) known.met[at.sample / kBits] |= bit;
    assert((known.met[at.sample / kBits] & ~known.told[at.sample / kBits]) == 0);
  }
}

std::optional<bool> ConditionSamples::Answer(Question question, Work& work) {
  const auto [id, sample] = question;
  if (const std::optional<ConditionId> negated = conditions_->negated(id); negated.has_value()) {
    const std::optional<bool> answer = AnswerAll({*negated}, sample);
    return answer.has_value() ? std::optional(!*answer) : std::nullopt;
  }
  const std::vector<ConditionList>& ways = conditions_->WaysOf(id);
  if (!ways.empty()) return AnswerAny(ways, sample);
  if (sample == 0) return conditions_->nullable(id);
  const auto* edge = FindEdge(conditions_->EdgesOf(id, work), samples_[sample].first);
  if (edge == nullptr || edge->to == nullptr) return false;
  return AnswerAll(*edge->to, samples_[sample].rest);
}

std::optional<bool> ConditionSamples::AnswerAll(const ConditionList& list, std::uint32_t sample) {
  const std::size_t word = sample / kBits;
  const Bits bit = Bits{1} << (sample % kBits);
  std::optional<ConditionId> untold;
  for (const ConditionId id : list) {
    const Known& known = KnownOf(id);
    const bool is_told = (known.told[word] & bit) != 0;
    if (is_told && (known.met[word] & bit) == 0) return false;
    if (!is_told && !untold.has_value()) untold = id;
  }
  if (!untold.has_value()) return true;
  open_.push_back({*untold, sample});
  return std::nullopt;
}

std::optional<bool> ConditionSamples::AnswerAny(const std::vector<ConditionList>& ways,
                                                std::uint32_t sample) {
  for (const ConditionList& way : ways) {
    const std::optional<bool> answer = AnswerAll(way, sample);
    if (!answer.has_value() || *answer) return answer;
  }
  return false;
}

std::int64_t ConditionSamples::held_bytes() const {
  const std::size_t lengths = within_.size() * (sizeof(Within) + words() * sizeof(Bits));
  return held_bytes_ + static_cast<std::int64_t>(known_.size() * sizeof(Known) + lengths +
                                                 samples_.size() * 4 * sizeof(Sample));
}

}  // namespace maskd
