// A mantissa is read digit by digit while its exponent is still to come. What is kept of the digits
// is their place among the ends of the intervals (NumberCuts) and their remainder by the divisors
// (NumberDivisors). The two together give the set of exponents that are still right.
//
// Invariant  a state is entered only if some digits within the bounds of the spec complete it.
// Cost       a step is linear in the digits that are left to the part, as it looks for a number
//            that can follow.
#include "grammar_core/ir/number/number_language.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maskd {
namespace {

using Phase = NumberLanguage::Phase;

bool HoldsZero(const NumberInterval& interval) {
  const Decimal zero;
  const bool above = !interval.min.has_value() ||
                     (interval.min_open ? *interval.min < zero : *interval.min <= zero);
  const bool below = !interval.max.has_value() ||
                     (interval.max_open ? *interval.max > zero : *interval.max >= zero);
  return above && below;
}

bool AllowsZero(const NumberSpec& spec) {
  return spec.not_multiple_of.empty() &&
         std::any_of(spec.intervals.begin(), spec.intervals.end(), HoldsZero);
}

bool Contains(const IntRanges& set, IntRange range) {
  return std::any_of(set.begin(), set.end(), [&](const IntRange& part) {
    return part.lo <= range.lo && range.hi <= part.hi;
  });
}

bool Overlaps(const IntRanges& set, IntRange range) {
  return std::any_of(set.begin(), set.end(),
                     [&](const IntRange& part) { return Overlap(part, range); });
}

IntRanges Within(const IntRanges& set, IntRange range) {
  IntRanges within;
  for (const IntRange& part : set)
    if (Overlap(part, range)) within.push_back(Common(part, range));
  return within;
}

// The exponents that begin with the digits of `state` and have `more` digits behind them.
IntRange ExponentsBehind(const NumberLanguage::State& state, std::uint32_t more) {
  const std::int64_t count = PowerOfTen(more);
  const IntRange range = {state.exponent * count, state.exponent * count + count - 1};
  return state.negative ? IntRange{-range.hi, -range.lo} : range;
}

}  // namespace

IntRange NumberLanguage::Room::For(std::int64_t count) const {
  if (grows) return {std::max(exponents.lo, count - left), exponents.hi};
  return left >= count ? exponents : IntRange{1, 0};
}

std::optional<NumberLanguage> NumberLanguage::Create(const NumberSpec& spec) {
  std::optional<NumberDivisors> divisors = NumberDivisors::Create(spec);
  if (!divisors.has_value()) return std::nullopt;
  return NumberLanguage(spec, *std::move(divisors));
}

NumberLanguage::NumberLanguage(const NumberSpec& spec, NumberDivisors divisors)
    : integer_digits_(spec.integer_digits),
      fraction_digits_(spec.fraction_digits),
      exponent_digits_(spec.exponent_digits),
      max_exponent_(PowerOfTen(spec.exponent_digits) - 1),
      notation_(spec.notation),
      allows_zero_(AllowsZero(spec)),
      divisors_(std::move(divisors)),
      cuts_{NumberCuts(spec.intervals, false), NumberCuts(spec.intervals, true)} {
  signs_alike_ = cuts_[0].trivial() && cuts_[1].trivial() &&
                 cuts_[0].Exponents(cuts_[0].Start()) == cuts_[1].Exponents(cuts_[1].Start());
  InternExponents({{-max_exponent_, max_exponent_}});
}

bool NumberLanguage::IsEmpty() {
  for (const char byte : {'-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'})
    if (Step(Start(), static_cast<unsigned char>(byte)).has_value()) return false;
  return true;
}

std::optional<NumberLanguage::State> NumberLanguage::Step(const State& state, unsigned char byte) {
  std::optional<State> next;
  if (byte >= '0' && byte <= '9')
    next = StepDigit(state, byte - '0');
  else if (byte == '-' && state.phase == Phase::kStart)
    next = State{.phase = Phase::kMinus, .negative = true};
  else if (byte == '-' || byte == '+')
    next = StepSign(state, byte == '-');
  else if (byte == '.')
    next = StepPoint(state);
  else if (byte == 'e' || (byte == 'E' && notation_ == NumberNotation::kAny))
    next = StepLetter(state);
  return next.has_value() && IsLive(*next) ? next : std::nullopt;
}

bool NumberLanguage::MayEnd(const State& state) const {
  if (IsMantissa(state)) {
    if (notation_ == NumberNotation::kScientific) return false;
    return Contains(Exponents(state), {0, 0});
  }
  return state.phase == Phase::kExponent && Contains(ExponentsOf(state), ExponentsBehind(state, 0));
}

bool NumberLanguage::IsNumberWith(const State& state, absl::string_view bytes) {
  std::optional<State> at = state;
  for (const char byte : bytes) {
    at = Step(*at, static_cast<unsigned char>(byte));
    if (!at.has_value()) return false;
  }
  return MayEnd(*at);
}

std::optional<std::string> NumberLanguage::DigitsToMultiple(const State& state) {
  const std::uint32_t fraction = FractionOf(state);
  const std::int64_t zeros = std::int64_t{fraction} - state.scale;
  assert(zeros >= 0 && "the last digit that is not 0 is one of those so far");
  const std::uint32_t most = std::min(state.left, NumberDivisors::kMostDigits);
  int tries = 0;
  for (std::uint32_t count = 1; count <= most; ++count) {
    auto digits = divisors_.DigitsBehind(state.remainder, static_cast<std::uint32_t>(zeros), count,
                                         state.phase == Phase::kInteger ? 0 : fraction + count);
    while (digits.has_value()) {
      std::string text = absl::StrCat(digits->least);
      if (text.size() > count || ++tries > kMostTries) break;
      text.insert(0, count - text.size(), '0');
      if (IsNumberWith(state, text)) return text;
      if (digits->step == 0) break;
      digits->least += digits->step;
    }
  }
  return std::nullopt;
}

std::optional<std::string> NumberLanguage::ExponentToMultiple(const State& state) {
  if (exponent_digits_ == 0 || divisors_.wants_digits_alone() || !IsMantissa(state))
    return std::nullopt;
  for (const IntRange& range : Exponents(state)) {
    if (range.hi < 0) continue;
    std::string text = absl::StrCat("e", std::max<std::int64_t>(range.lo, 0));
    if (IsNumberWith(state, text)) return text;
  }
  return std::nullopt;
}

std::optional<std::string> NumberLanguage::TextToMultiple(const State& state) {
  const bool in_digits = state.phase == Phase::kInteger || state.phase == Phase::kPoint ||
                         state.phase == Phase::kFraction;
  if (!in_digits || divisors_.allows_finer()) return std::nullopt;
  std::optional<std::string> digits = DigitsToMultiple(state);
  std::optional<std::string> exponent = ExponentToMultiple(state);
  const bool is_shorter =
      exponent.has_value() && (!digits.has_value() || exponent->size() < digits->size());
  return is_shorter ? exponent : digits;
}

bool NumberLanguage::LeftIsPlace(const State& state) const {
  const bool in_fraction = state.phase == Phase::kPoint || state.phase == Phase::kFraction;
  return in_fraction && (!divisors_.none() || (state.zero && !CutsOf(state).trivial()));
}

std::optional<NumberLanguage::State> NumberLanguage::StepDigit(const State& s, int digit) {
  assert(digit >= 0 && digit <= 9);
  switch (s.phase) {
    case Phase::kStart:
    case Phase::kMinus:
      if (digit > 0) return WithIntegerDigit(s, digit);
      return StepZero(s);
    case Phase::kInteger:
      return s.left > 0 ? std::optional(WithIntegerDigit(s, digit)) : std::nullopt;
    case Phase::kPoint:
    case Phase::kFraction:
      if (s.left == 0) return std::nullopt;
      return WithFractionDigit(s, digit, FractionOf(s) + 1);
    case Phase::kE:
    case Phase::kSign:
    case Phase::kExponent:
      return StepExponentDigit(s, digit);
    case Phase::kZero:
      return std::nullopt;
  }
  return std::nullopt;
}

// Scientific has no zero, plain none with a minus.
std::optional<NumberLanguage::State> NumberLanguage::StepZero(const State& s) const {
  State zero = {.phase = Phase::kZero, .negative = s.negative};
  switch (notation_) {
    case NumberNotation::kAny:
      return Settled(zero);
    case NumberNotation::kPlain:
      zero.open = s.negative;
      return zero;
    case NumberNotation::kScientific:
      return std::nullopt;
  }
  return std::nullopt;
}

bool NumberLanguage::IsMantissa(const State& s) const {
  return (s.phase == Phase::kZero || s.phase == Phase::kInteger || s.phase == Phase::kFraction) &&
         !s.open;
}

std::optional<NumberLanguage::State> NumberLanguage::StepPoint(State s) const {
  const bool fits = s.phase == Phase::kZero || s.phase == Phase::kInteger;
  if (!fits || fraction_digits_ == 0) return std::nullopt;
  s.phase = Phase::kPoint;
  s.left = fraction_digits_;
  return s;
}

std::optional<NumberLanguage::State> NumberLanguage::StepLetter(const State& s) {
  if (!IsMantissa(s) || exponent_digits_ == 0) return std::nullopt;
  IntRanges set;
  for (const IntRange& written : WrittenExponents())
    for (const IntRange& part : Within(Exponents(s), written)) set.push_back(part);
  if (set.empty()) return std::nullopt;
  return State{
      .phase = Phase::kE, .left = exponent_digits_, .exponents = InternExponents(std::move(set))};
}

std::optional<NumberLanguage::State> NumberLanguage::StepSign(State s, bool minus) const {
  if (s.phase != Phase::kE) return std::nullopt;
  s.phase = Phase::kSign;
  s.negative = minus && s.exponents != 0;
  return s;
}

std::optional<NumberLanguage::State> NumberLanguage::StepExponentDigit(State s, int digit) const {
  if (s.left == 0) return std::nullopt;
  if (s.phase != Phase::kExponent && digit == 0 && notation_ != NumberNotation::kAny) s.left = 2;
  s.phase = Phase::kExponent;
  s.left -= 1;
  s.exponent = s.exponent * 10 + static_cast<std::uint32_t>(digit);
  const IntRanges& set = ExponentsOf(s);
  bool all = true;
  for (std::uint32_t more = 0; more <= s.left; ++more)
    all &= Contains(set, ExponentsBehind(s, more));
  return all ? State{.phase = Phase::kExponent, .left = s.left} : s;
}

std::uint32_t NumberLanguage::FractionOf(const State& s) const {
  const bool in_fraction = s.phase == Phase::kPoint || s.phase == Phase::kFraction;
  return in_fraction ? fraction_digits_ - s.left : 0;
}

void NumberLanguage::AddDigit(int digit, State* s) const {
  s->place = CutsOf(*s).Next(s->zero ? CutsOf(*s).Start() : s->place, digit);
  s->zero = false;
  if (digit == 0) {
    s->zeros += 1;
    return;
  }
  const std::uint64_t shifted = divisors_.Shift(s->remainder, s->zeros + 1);
  s->remainder = (shifted + static_cast<std::uint64_t>(digit)) % divisors_.modulus();
  s->zeros = 0;
}

NumberLanguage::State NumberLanguage::WithIntegerDigit(State s, int digit) const {
  s.left = s.zero ? integer_digits_ - 1 : s.left - 1;
  s.phase = Phase::kInteger;
  s.point += 1;
  s.scale = digit == 0 ? s.scale - 1 : 0;
  AddDigit(digit, &s);
  return Settled(s);
}

NumberLanguage::State NumberLanguage::WithFractionDigit(State s, int digit,
                                                        std::uint32_t fraction) const {
  s.phase = Phase::kFraction;
  s.left -= 1;
  const bool is_minus_zero = s.zero && s.negative;
  const bool may_be_nothing =
      notation_ == NumberNotation::kPlain && fraction == 1 && !is_minus_zero;
  s.open = notation_ != NumberNotation::kAny && digit == 0 && !may_be_nothing;
  if (s.zero && digit == 0) return s;
  if (s.zero) s.point = 1 - static_cast<std::int32_t>(fraction);
  if (digit != 0) s.scale = static_cast<std::int32_t>(fraction);
  AddDigit(digit, &s);
  return Settled(s);
}

NumberLanguage::State NumberLanguage::Settled(State s) const {
  if (signs_alike_) s.negative = false;
  if (CutsOf(s).trivial()) s.point = 0;
  if (divisors_.none()) s.scale = 0;
  if (divisors_.modulus() == 1) s.zeros = 0;
  return s;
}

IntRanges NumberLanguage::ExponentsOfPlace(const State& s) const {
  IntRanges set = CutsOf(s).Exponents(s.place);
  for (IntRange& range : set) range = Shifted(range, -std::int64_t{s.point});
  return set;
}

IntRanges NumberLanguage::Exponents(const State& s) const {
  if (s.zero) return allows_zero_ ? IntRanges{{kMinusInfinity, kPlusInfinity}} : IntRanges();
  IntRanges set = ExponentsOfPlace(s);
  if (divisors_.none()) return set;
  IntRange shifts = divisors_.Shifts(s.remainder);
  if (divisors_.allows_finer()) shifts.lo = kMinusInfinity;
  return Within(set, Shifted(shifts, s.scale - divisors_.scale()));
}

NumberLanguage::Room NumberLanguage::RoomOf(const State& s) const {
  if (s.phase == Phase::kInteger && exponent_digits_ == 0)
    return {{0, s.left}, fraction_digits_, true};
  const bool in_fraction = s.phase == Phase::kPoint || s.phase == Phase::kFraction;
  return {{-max_exponent_, max_exponent_}, in_fraction ? s.left : fraction_digits_, false};
}

IntRanges NumberLanguage::WrittenExponents() const {
  constexpr std::int64_t kSmall = -5;
  constexpr std::int64_t kLarge = 16;
  if (notation_ != NumberNotation::kScientific) return {{-max_exponent_, max_exponent_}};
  IntRanges written;
  if (kSmall >= -max_exponent_) written.push_back({-max_exponent_, kSmall});
  if (kLarge <= max_exponent_) written.push_back({kLarge, max_exponent_});
  return written;
}

bool NumberLanguage::IsLive(const State& s) const {
  switch (s.phase) {
    case Phase::kStart:
    case Phase::kE:
      return true;
    case Phase::kMinus:
      for (int digit = 1; digit <= 9; ++digit)
        if (IsLive(WithIntegerDigit(s, digit))) return true;
      return IsLiveZero(s);
    case Phase::kSign:
    case Phase::kExponent:
      for (std::uint32_t more = s.phase == Phase::kSign ? 1 : 0; more <= s.left; ++more)
        if (Overlaps(ExponentsOf(s), ExponentsBehind(s, more))) return true;
      return false;
    default:
      return s.zero ? IsLiveZero(s) : IsLiveMantissa(s);
  }
}

bool NumberLanguage::IsLiveMantissa(const State& s) const {
  Room room = RoomOf(s);
  if (notation_ != NumberNotation::kScientific) return CanEnd(s, FractionOf(s), room, s.open);
  const bool nonzero = s.open || s.phase == Phase::kPoint;
  for (const IntRange& exponents : WrittenExponents()) {
    room.exponents = exponents;
    if (CanEnd(s, FractionOf(s), room, nonzero)) return true;
  }
  return false;
}

// Further zeros before the first other digit only shift it, as exponents do where there are any;
// beyond the ends of the intervals and the units of the divisors nothing changes any more.
bool NumberLanguage::IsLiveZero(const State& s) const {
  if (notation_ == NumberNotation::kScientific) return false;
  const bool is_minus_zero = notation_ == NumberNotation::kPlain && s.negative;
  if (allows_zero_ && !s.open && !is_minus_zero) return true;
  Room room = RoomOf(s);
  const std::int64_t deepest = std::max(-CutsOf(s).LeastExponent(), divisors_.scale());
  const std::int64_t most_zeros =
      exponent_digits_ > 0 ? 0 : std::max<std::int64_t>(deepest - FractionOf(s), 0) + 1;
  for (std::int64_t zeros = 0; zeros <= most_zeros && room.left > 0; ++zeros) {
    room.left -= 1;
    const auto fraction = FractionOf(s) + static_cast<std::uint32_t>(zeros) + 1;
    for (int digit = 1; digit <= 9; ++digit)
      if (CanEnd(WithFractionDigit(s, digit, fraction), fraction, room)) return true;
  }
  return false;
}

bool NumberLanguage::CanEnd(const State& s, std::uint32_t fraction, const Room& room,
                            bool nonzero) const {
  if (!nonzero && Overlaps(Exponents(s), room.For(0))) return true;
  const NumberCuts& cuts = CutsOf(s);
  if (NumberCuts::Decided(s.place)) return CanDivide(s, fraction, room, nonzero);
  if (cuts.IsWhole(s.place)) {
    State above = s;
    above.place = NumberCuts::Above(s.place);
    return CanDivide(above, fraction, room, true);
  }
  const IntRange exponents = room.For(1);
  if (exponents.lo > exponents.hi) return false;
  const Room less = {room.exponents, room.left - 1, room.grows};
  for (int digit = 0; digit <= 9; ++digit) {
    const State next = WithFractionDigit(s, digit, fraction + 1);
    if (CanEnd(next, fraction + 1, less, nonzero && digit == 0)) return true;
  }
  return false;
}

bool NumberLanguage::CanDivide(const State& s, std::uint32_t fraction, const Room& room,
                               bool nonzero) const {
  for (const IntRange& range : ExponentsOfPlace(s)) {
    Room part = room;
    part.exponents = Common(range, room.exponents);
    if (CanDivideIn(s, fraction, part, nonzero)) return true;
  }
  return false;
}

bool NumberLanguage::CanDivideIn(const State& s, std::uint32_t fraction, const Room& room,
                                 bool nonzero) const {
  const std::uint32_t fewest = nonzero ? 1 : 0;
  if (divisors_.none()) return Overlap(room.For(fewest), room.exponents);
  const std::uint64_t remainder = divisors_.Shift(s.remainder, s.zeros);
  // No more digits lead to another remainder.
  const std::uint32_t most = divisors_.digits() + fewest;
  const auto can_follow = [&](std::uint32_t count) {
    const IntRange exponents = room.For(count);
    if (exponents.lo > exponents.hi) return false;
    const std::int64_t digits = std::int64_t{fraction} + count;
    const IntRange shifts =
        Common(Shifted(exponents, divisors_.scale() - digits), {0, kPlusInfinity});
    // Of many digits the first may be zeros.
    const std::uint32_t free = std::min(count, most);
    return divisors_.CanFollow(divisors_.Shift(remainder, count - free), free, shifts, nonzero);
  };
  for (std::uint32_t count = fewest; count <= most; ++count)
    if (can_follow(count)) return true;
  // But they lower the least shift, where a larger one makes a multiple of what is excluded. All
  // shifts of more than log2 of the modulus are alike.
  const std::int64_t unshifted = room.exponents.lo - fraction + divisors_.scale();
  const std::int64_t last_shift = std::int64_t{4} * divisors_.digits();
  for (std::int64_t count = std::max<std::int64_t>(most + 1, unshifted - last_shift);
       count <= unshifted; ++count)
    if (can_follow(static_cast<std::uint32_t>(count))) return true;
  if (!divisors_.allows_finer() || room.exponents.lo > room.exponents.hi) return false;
  // So many digits that the last one, not 0, is finer than the units.
  const std::int64_t exponent = room.exponents.lo;
  const std::int64_t count = std::max<std::int64_t>(1, exponent - fraction + divisors_.scale() + 1);
  return room.LeftFor(exponent) >= count;
}

NumberLanguage::State NumberLanguage::Adopt(const NumberLanguage& from, State state) {
  state.exponents = InternExponents(from.ExponentsOf(state));
  return state;
}

std::uint32_t NumberLanguage::InternExponents(IntRanges set) {
  const auto [known, is_new] =
      exponent_ids_.try_emplace(set, static_cast<std::uint32_t>(exponent_sets_.size()));
  if (is_new) exponent_sets_.push_back(std::move(set));
  return known->second;
}

}  // namespace maskd
