// Texts that were found for some conditions, and all that they end with: which of them meet a
// condition is a row of bits, so most lists are known to hold a text without a search.
//
// Memory   bounded: where there is no room for a text, all that were kept are dropped.
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_INTERSECTION_CONDITION_SAMPLES_H_
#define MASKD_GRAMMAR_CORE_INTERSECTION_CONDITION_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"

#include "grammar_core/base/work.h"
#include "grammar_core/intersection/conditions.h"

namespace maskd {

// Texts that were found for some list of conditions, and for each condition which of them meet it.
class ConditionSamples {
 public:
  // Must outlive this.
  explicit ConditionSamples(Conditions* conditions) : conditions_(conditions), samples_(1) {}

  // Keeps `text` and all its endings, of a long one those of its last characters. Where there is no
  // room for them, all samples before are forgotten.
  void Add(std::u32string_view text);

  // Whether a sample of at most `max_chars` meets all of `list`.
  bool HaveText(const ConditionList& list, std::uint32_t max_chars, Work& work);

  // Calls visit(part) for each two conditions of a list that no sample of at most `max_chars` meets
  // both of; false as soon as that says so. It may add samples, which count from then on.
  bool VisitUnmetPairs(const ConditionList& list, std::uint32_t max_chars, Work& work,
                       absl::FunctionRef<bool(const ConditionList&)> visit);

  // Looks for a few conditions of a list that contradict one another. Calls visit(part) for
  // conditions that no sample of at most `max_chars` meets all of, fewer than the list has; false
  // as soon as that says so. Where visit() adds no sample that meets the part, that is the end;
  // else the next part is this one and a condition that refuses such a sample.
  bool VisitRefused(const ConditionList& list, std::uint32_t max_chars, Work& work,
                    absl::FunctionRef<bool(const ConditionList&)> visit);

  // Bytes of the samples and of a bit for each sample and condition.
  [[nodiscard]] std::int64_t held_bytes() const;

 private:
  using Bits = std::uint64_t;
  // A bit for each sample.
  using Row = std::vector<Bits>;
  static constexpr std::size_t kBits = 64;
  static constexpr std::size_t kMaxSamples = 2048;
  // Of longer texts the end is a sample.
  static constexpr std::size_t kMaxChars = 256;
  static constexpr std::size_t kLengths = 32;

  // Its first character, and the sample behind that; the first sample is the empty text.
  struct Sample {
    std::uint32_t first = 0;
    std::uint32_t rest = 0;
    std::uint32_t chars = 0;
  };
  // For a condition: the samples of which it is known whether they meet it, and those that do.
  struct Known {
    Row told;
    Row met;
  };
  // Which of the first `count` samples have at most `max_chars`.
  struct Within {
    std::uint32_t max_chars = 0;
    std::size_t count = 0;
    Row row;
  };
  struct Question {
    ConditionId id;
    std::uint32_t sample;
  };

  [[nodiscard]] std::size_t words() const { return (samples_.size() + kBits - 1) / kBits; }
  // The samples of at most so many characters; valid until the next call.
  const Row& WithinLength(std::uint32_t max_chars);
  void Clear();
  // Charges a unit for so many words of samples looked at; what is less waits for the next call, as
  // most calls look at few. False where `work` failed.
  bool ChargeLooks(std::size_t looks, Work& work);
  // Has room for all samples; valid until some are added.
  Known& KnownOf(ConditionId id);
  // Those of `samples`, bits of a word, that meet the condition.
  Bits MetBy(ConditionId id, std::size_t word, Bits samples, Work& work);
  // Of `list` the condition of the fewest places that refuses the first of `samples`, which has
  // one. Nothing where none does.
  std::optional<ConditionId> RefuserOf(const ConditionList& list, const Row& samples, Work& work);
  // Leaves those of `samples` that meet the condition.
  void Restrict(ConditionId id, Row* samples, Work& work);
  // The same of all words, for each condition of the list, one row after the other.
  Row MetBy(const ConditionList& list, const Row& samples, Work& work);
  void TellAll(ConditionId id, std::size_t word, Bits samples, Work& work);
  void Tell(Question question, Work& work);
  // Nothing where another question is to be told first, which is open then.
  std::optional<bool> Answer(Question question, Work& work);
  std::optional<bool> AnswerAll(const ConditionList& list, std::uint32_t sample);
  std::optional<bool> AnswerAny(const std::vector<ConditionList>& ways, std::uint32_t sample);

  Conditions* conditions_;
  std::vector<Sample> samples_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> sample_ids_;
  std::vector<Within> within_;  // by the length modulo kLengths, made when first asked for
  std::deque<Known> known_;     // by condition
  std::vector<Question> open_;
  std::size_t looks_ = 0;        // not charged yet
  std::int64_t held_bytes_ = 0;  // of the rows in known_
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_INTERSECTION_CONDITION_SAMPLES_H_
