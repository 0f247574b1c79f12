// The JSON texts of the numbers of a NumberSpec, byte by byte: exact in value, whatever the
// spelling.
//
// Live      every state can be completed within the spec's bounds on digits; a step that could not
//           is refused. Near those bounds, and for sets of divisors that exclude nearly everything,
//           some spellings of a number are refused that would fit.
// Notation  where it is not any (NumberNotation), only those spellings.
// States    plain values; equal states have equal futures (the converse does not hold). What a
//           mantissa leaves for its exponent is a set of integers, kept here and numbered.
// Cost      tables in the size of the spec; a step in the digits of its bounds.
// Threads   one thread, or the caller's lock: Step() may keep a set of exponents.
#ifndef MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_LANGUAGE_H_
#define MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_LANGUAGE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/ir/number/int_ranges.h"
#include "grammar_core/ir/number/number_cuts.h"
#include "grammar_core/ir/number/number_divisors.h"
#include "grammar_core/ir/number/number_spec.h"

namespace maskd {

// One for each number in a grammar; the engine's number terms hold its states.
class NumberLanguage {
 public:
  // Which part of the spelling the last byte stood in.
  enum class Phase : std::uint8_t {
    kStart,
    kMinus,
    kZero,      // the integer part is 0
    kInteger,   // in an integer part that is not
    kPoint,     // behind the point
    kFraction,  // behind a digit of the fraction
    kE,         // behind the letter
    kSign,      // behind the exponent's sign
    kExponent,  // behind a digit of the exponent
  };

  // What is known behind some bytes of a number; small enough to be copied at each step.
  struct State {
    Phase phase = Phase::kStart;
    bool negative = false;  // the number; from the letter on the exponent
    bool zero = true;       // no digit but 0 so far
    // For a notation: what ends in a zero here must go on to a digit that is not 0.
    bool open = false;
    // Digits that the part may still have.
    std::uint32_t left = 0;
    // The digits from the first that is not 0, among the ends of the intervals.
    NumberCuts::Place place = {};
    // Without point and exponent these digits are 0.D * 10^point.
    std::int32_t point = 0;
    // Digits of the fraction up to the last that is not 0; negative where that one stands before
    // the point, ending in zeros.
    std::int32_t scale = 0;
    // The zeros behind that digit, and the remainder of the digits up to it.
    std::uint32_t zeros = 0;
    std::uint64_t remainder = 0;
    // From the letter on: the number of the set of exponents, and the exponent so far.
    std::uint32_t exponents = 0;
    std::uint32_t exponent = 0;

    // All fields but `exponents`, for comparing and hashing.
    auto Fields() const {
      return std::array<std::uint32_t, 14>{static_cast<std::uint32_t>(phase),
                                           static_cast<std::uint32_t>(negative),
                                           static_cast<std::uint32_t>(zero),
                                           static_cast<std::uint32_t>(open),
                                           left,
                                           place.first,
                                           place.last,
                                           place.depth,
                                           static_cast<std::uint32_t>(point),
                                           static_cast<std::uint32_t>(scale),
                                           zeros,
                                           static_cast<std::uint32_t>(remainder),
                                           static_cast<std::uint32_t>(remainder >> 32),
                                           exponent};
    }
    // By value, as `==` of all fields would be.
    bool operator==(const State& other) const {
      return Fields() == other.Fields() && exponents == other.exponents;
    }
    template <typename H>
    friend H AbslHashValue(H state, const State& s) {
      return H::combine(std::move(state), s.Fields(), s.exponents);
    }
  };

  // Nothing where the divisors' modulus would be over NumberDivisors::kMaxModulus.
  static std::optional<NumberLanguage> Create(const NumberSpec& spec);

  // Whether no text is in the language; if so there is no state to begin with.
  [[nodiscard]] bool IsEmpty();
  [[nodiscard]] static State Start() { return {}; }

  // The state behind `byte`, or nothing.
  std::optional<State> Step(const State& state, unsigned char byte);
  // Whether the text may end here.
  [[nodiscard]] bool MayEnd(const State& state) const;

  // A text that completes `state`, within the digits of a number that must be a multiple: the
  // shorter one of digits alone and of an exponent alone, as far as divisors say it. A point and
  // digits are never shorter than those digits. Nothing where there are no divisors, and where
  // bounds or other divisors refuse kMostTries of these. Cost: arithmetic, and a step for each
  // digit that is tried.
  std::optional<std::string> TextToMultiple(const State& state);

  // Whether `state.left` says, by the digits behind the point so far, what one more digit means:
  // two states that differ in it are then never alike, however much room both have.
  [[nodiscard]] bool LeftIsPlace(const State& state) const;

  // `state` of `from`, the same number's language in another object, as one of this.
  State Adopt(const NumberLanguage& from, State state);

  // The exponents that a state from the letter on allows.
  [[nodiscard]] const IntRanges& ExponentsOf(const State& state) const {
    return exponent_sets_[state.exponents];
  }

 private:
  // How a mantissa may go on: up to `left` digits more, taken for digits of the fraction, and an
  // exponent in `exponents`. Without exponents an integer part may grow: those digits are exponents
  // here, and each is one digit more.
  struct Room {
    IntRange exponents;
    std::int64_t left;
    bool grows;

    // The digits that may be added where the exponent is to be `exponent`.
    [[nodiscard]] std::int64_t LeftFor(std::int64_t exponent) const {
      return grows ? left + exponent : left;
    }
    // The exponents for which at least `count` digits may be added.
    [[nodiscard]] IntRange For(std::int64_t count) const;
  };

  NumberLanguage(const NumberSpec& spec, NumberDivisors divisors);

  [[nodiscard]] const NumberCuts& CutsOf(const State& s) const { return cuts_[s.negative ? 1 : 0]; }
  static constexpr int kMostTries = 24;
  // `state` and these bytes are a number.
  [[nodiscard]] bool IsNumberWith(const State& state, absl::string_view bytes);
  // Nothing but digits, for TextToMultiple().
  std::optional<std::string> DigitsToMultiple(const State& state);
  // An exponent, for the same.
  std::optional<std::string> ExponentToMultiple(const State& state);

  // Digits of the fraction so far.
  [[nodiscard]] std::uint32_t FractionOf(const State& s) const;

  std::optional<State> StepDigit(const State& s, int digit);
  [[nodiscard]] std::optional<State> StepZero(const State& s) const;
  [[nodiscard]] std::optional<State> StepPoint(State s) const;
  std::optional<State> StepLetter(const State& s);
  [[nodiscard]] std::optional<State> StepSign(State s, bool minus) const;
  [[nodiscard]] std::optional<State> StepExponentDigit(State s, int digit) const;

  // The number's first digit that is not 0, or what follows it: as the last digit of an integer
  // part, or as digit `fraction` of a fraction.
  [[nodiscard]] State WithIntegerDigit(State s, int digit) const;
  [[nodiscard]] State WithFractionDigit(State s, int digit, std::uint32_t fraction) const;
  void AddDigit(int digit, State* s) const;
  // `s` without what makes no difference to its future.
  [[nodiscard]] State Settled(State s) const;

  [[nodiscard]] bool IsLive(const State& s) const;
  [[nodiscard]] bool IsLiveZero(const State& s) const;
  [[nodiscard]] bool IsLiveMantissa(const State& s) const;
  [[nodiscard]] Room RoomOf(const State& s) const;
  // The exponents that the notation has, apart from none.
  [[nodiscard]] IntRanges WrittenExponents() const;
  // Whether what stands before the letter may end there.
  [[nodiscard]] bool IsMantissa(const State& s) const;
  // Whether the mantissa `s`, not zero, with so many digits of a fraction, can be completed within
  // `room`; by `nonzero`, some digit but 0 must be added. Recursion: to the number of digits of an
  // interval's end.
  [[nodiscard]] bool CanEnd(const State& s, std::uint32_t fraction, const Room& room,
                            bool nonzero = false) const;
  // The same where no digit changes `s.place`; by `nonzero`, some digit but 0 must be added.
  [[nodiscard]] bool CanDivide(const State& s, std::uint32_t fraction, const Room& room,
                               bool nonzero) const;
  [[nodiscard]] bool CanDivideIn(const State& s, std::uint32_t fraction, const Room& room,
                                 bool nonzero) const;

  // The exponents for which a mantissa is right as it is.
  [[nodiscard]] IntRanges Exponents(const State& s) const;
  // Those for which the mantissa's place is right.
  [[nodiscard]] IntRanges ExponentsOfPlace(const State& s) const;
  std::uint32_t InternExponents(IntRanges set);

  std::uint32_t integer_digits_;
  std::uint32_t fraction_digits_;
  std::uint32_t exponent_digits_;
  std::int64_t max_exponent_;
  NumberNotation notation_;
  bool allows_zero_;
  // The sign makes no difference.
  bool signs_alike_;
  NumberDivisors divisors_;
  // The cuts of the positive and of the negative numbers.
  std::array<NumberCuts, 2> cuts_;
  std::vector<IntRanges> exponent_sets_;
  absl::flat_hash_map<IntRanges, std::uint32_t> exponent_ids_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_LANGUAGE_H_
