#include "grammar_core/ir/number/number_language.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "tests/base/night.h"
#include "tests/frontend/number_judge.h"

namespace maskd {
namespace {

using State = NumberLanguage::State;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  int Upto(int most) { return static_cast<int>(engine_() % (static_cast<unsigned>(most) + 1)); }
  bool OneIn(int count) { return Upto(count - 1) == 0; }

  std::string Digits(int most) {
    std::string digits;
    for (int i = 1 + Upto(most - 1); i > 0; --i) digits += OneIn(3) ? "0" : absl::StrCat(Upto(9));
    return digits;
  }

  std::string Number() {
    std::string text = OneIn(3) ? "-" : "";
    text += OneIn(4) ? "0" : absl::StrCat(1 + Upto(8), OneIn(2) ? Digits(3) : "");
    if (OneIn(2)) text += "." + Digits(4);
    if (OneIn(3)) text += absl::StrCat(OneIn(2) ? "e" : "E", OneIn(2) ? "-" : "", Upto(4));
    return text;
  }

 private:
  std::mt19937_64 engine_;
};

constexpr const char* kSteps[] = {"1",   "2",  "3",    "4",   "5",    "7",   "10",  "60",
                                  "100", "12", "0.01", "0.1", "0.25", "0.3", "1.5", "1000"};

NumberSpec RandomSpec(Dice& dice) {
  std::set<Decimal> ends;
  const int count = dice.Upto(4);
  while (static_cast<int>(ends.size()) < count) ends.insert(ReadDecimal(dice.Number()));
  NumberSpec spec;
  if (!ends.empty()) spec.intervals.clear();
  NumberInterval open = {.min_open = dice.OneIn(2)};
  bool inside = dice.OneIn(2);
  for (const Decimal& end : ends) {
    if (inside) {
      open.max = end;
      open.max_open = dice.OneIn(2);
      spec.intervals.push_back(open);
    } else if (dice.OneIn(4)) {
      spec.intervals.push_back({.min = end, .max = end});
      continue;
    }
    open = {.min = end, .min_open = dice.OneIn(2)};
    inside = !inside;
  }
  if (inside && !ends.empty()) spec.intervals.push_back(open);
  const auto step = [&] { return ReadDecimal(kSteps[dice.Upto(std::size(kSteps) - 1)]); };
  for (int i = dice.Upto(2); i > 0; --i) spec.multiple_of.push_back(step());
  for (int i = dice.OneIn(4) ? 1 : 0; i > 0; --i) spec.not_multiple_of.push_back(step());
  if (dice.OneIn(4)) spec.exponent_digits = 0;
  return spec;
}

// A number near the ends of the spec's intervals, or any.
std::string RandomText(const NumberSpec& spec, Dice& dice) {
  std::string text = dice.Number();
  if (spec.intervals.empty() || dice.OneIn(3)) return text;
  const NumberInterval& near = spec.intervals[dice.Upto(spec.intervals.size() - 1)];
  const auto& end = near.min.has_value() && dice.OneIn(2) ? near.min : near.max;
  if (!end.has_value() || end->is_zero()) return text;
  std::string digits = end->digits;
  if (dice.OneIn(2)) digits.back() = static_cast<char>('0' + dice.Upto(9));
  if (dice.OneIn(3)) digits += dice.Digits(2);
  if (digits[0] == '0') return text;
  const char* sign = end->negative ? "-" : "";
  if (dice.OneIn(2)) {
    const std::string fraction = digits.size() > 1 ? "." + digits.substr(1) : "";
    return absl::StrCat(sign, digits.substr(0, 1), fraction, "e", end->magnitude() - 1);
  }
  if (end->magnitude() <= 0)
    return absl::StrCat(sign, "0.", std::string(-end->magnitude(), '0'), digits);
  const auto point = static_cast<std::size_t>(end->magnitude());
  if (digits.size() <= point) return sign + digits + std::string(point - digits.size(), '0');
  return absl::StrCat(sign, digits.substr(0, point), ".", digits.substr(point));
}

bool Accepts(NumberLanguage& language, const std::string& text) {
  std::optional<State> state = NumberLanguage::Start();
  for (const char byte : text) {
    state = language.Step(*state, static_cast<unsigned char>(byte));
    if (!state.has_value()) return false;
  }
  return language.MayEnd(*state);
}

constexpr absl::string_view kBytes = "0123456789.eE+-";

// Whether an end is within reach, breadth first.
bool FindsEnd(NumberLanguage& language, const State& from) {
  std::vector<State> open = {from};
  absl::flat_hash_map<State, bool> met = {{from, true}};
  for (std::size_t i = 0; i < open.size() && i < 20'000; ++i) {
    if (language.MayEnd(open[i])) return true;
    for (const char byte : kBytes) {
      const auto next = language.Step(open[i], static_cast<unsigned char>(byte));
      if (next.has_value() && met.try_emplace(*next, true).second) open.push_back(*next);
    }
  }
  return false;
}

TEST(NumberLanguageTest, TakesTheNumbersOfItsSpecWhateverTheSpelling) {
  Dice dice(11);
  int accepted = 0;
  int specs = 0;
  for (int round = 0; round < 1500; ++round) {
    const NumberSpec spec = RandomSpec(dice);
    std::optional<NumberLanguage> language = NumberLanguage::Create(spec);
    if (!language.has_value()) continue;
    const bool empty = language->IsEmpty();
    specs += empty ? 0 : 1;
    for (int i = 0; i < 40; ++i) {
      const std::string text = RandomText(spec, dice);
      const bool expected = IsNumberOf(spec, text);
      ASSERT_EQ(Accepts(*language, text), expected) << ToString(spec) << " on " << text;
      ASSERT_FALSE(empty && expected) << ToString(spec) << " on " << text;
      accepted += expected ? 1 : 0;
    }
  }
  EXPECT_GT(specs, 900);
  EXPECT_GT(accepted, 7000);
}

// Fewer digits tell every remainder, but their shifts all make multiples of what is excluded.
TEST(NumberLanguageTest, TakesFineMultiplesThatAreNoCoarseOnesAboveABound) {
  struct Row {
    const char* step;
    std::int64_t units;  // hundredths
    const char* excluded;
    std::int64_t excluded_units;
  };
  for (const Row& row : {Row{"0.1", 10, "1", 100}, Row{"0.01", 1, "0.1", 10},
                         Row{"0.01", 1, "1", 100}, Row{"0.05", 5, "0.5", 50}})
    for (const std::int64_t least : {1, 2, 10, 30}) {
      NumberSpec spec;
      spec.intervals = {{.min = ReadDecimal(absl::StrCat(least))}};
      spec.multiple_of = {ReadDecimal(row.step)};
      spec.not_multiple_of = {ReadDecimal(row.excluded)};
      std::optional<NumberLanguage> language = NumberLanguage::Create(spec);
      ASSERT_TRUE(language.has_value());
      for (std::int64_t n = 0; n < 12'000; ++n) {
        const std::string text = absl::StrFormat("%d.%02d", n / 100, n % 100);
        const bool right = n >= least * 100 && n % row.units == 0 && n % row.excluded_units != 0;
        ASSERT_EQ(Accepts(*language, text), right) << ToString(spec) << " on " << text;
      }
    }
}

// Walks at random and looks for an end from wherever it comes.
void ExpectNoDeadEnd(const NumberSpec& spec, Dice& dice, int* states) {
  std::optional<NumberLanguage> language = NumberLanguage::Create(spec);
  if (!language.has_value() || language->IsEmpty()) return;
  for (int walk = 0; walk < 6; ++walk) {
    State state = NumberLanguage::Start();
    std::string text;
    for (int i = 0; i < 9; ++i) {
      ASSERT_TRUE(FindsEnd(*language, state)) << ToString(spec) << " behind " << text;
      ++*states;
      std::vector<std::pair<char, State>> ways;
      for (const char byte : kBytes) {
        const auto next = language->Step(state, static_cast<unsigned char>(byte));
        if (next.has_value()) ways.emplace_back(byte, *next);
      }
      if (ways.empty()) break;
      const auto& [byte, next] = ways[dice.Upto(ways.size() - 1)];
      text.push_back(byte);
      state = next;
    }
  }
}

// Each step alone would be met by two digits more.
TEST(NumberLanguageTest, IsLiveWhereTheJudgeFindsAMultipleOfSeveralSteps) {
  NumberSpec spec;
  spec.multiple_of = {ReadDecimal("7"), ReadDecimal("11"), ReadDecimal("13")};
  spec.integer_digits = 6;
  spec.fraction_digits = spec.exponent_digits = 0;
  std::optional<NumberLanguage> language = NumberLanguage::Create(spec);
  ASSERT_TRUE(language.has_value());
  for (int number = 1; number < 10'000; number += ByNight(3, 1)) {
    const std::string text = std::to_string(number);
    std::optional<State> state = NumberLanguage::Start();
    for (const char byte : text)
      if (state.has_value()) state = language->Step(*state, static_cast<unsigned char>(byte));
    EXPECT_EQ(state.has_value(), CanBecomeNumberOf(spec, text)) << text;
  }
}

// Whether digits behind `prefix`, of at most `digits` in all, make a multiple of `step` that is no
// multiple of any of `excluded`.
bool CanBecomeMultiple(const std::string& prefix, std::size_t digits, std::int64_t step,
                       const std::vector<std::int64_t>& excluded) {
  std::int64_t first = std::stoll(prefix);
  std::int64_t last = first;
  for (std::size_t size = prefix.size(); size <= digits; ++size) {
    for (std::int64_t n = (first + step - 1) / step * step; n <= last; n += step) {
      const auto divides = [&](std::int64_t by) { return n % by == 0; };
      if (std::none_of(excluded.begin(), excluded.end(), divides)) return true;
    }
    first *= 10;
    last = last * 10 + 9;
  }
  return false;
}

TEST(NumberLanguageTest, IsLiveWhereAMultipleOfALargeModulusIsWithinReach) {
  constexpr std::int64_t kStep = 12'345'679;
  const std::vector<std::int64_t> excluded = {kStep * 2, 7, 1'001};
  NumberSpec spec;
  spec.multiple_of = {ReadDecimal("12345679")};
  spec.not_multiple_of = {ReadDecimal("24691358"), ReadDecimal("7"), ReadDecimal("1001")};
  spec.integer_digits = 10;
  spec.fraction_digits = spec.exponent_digits = 0;
  std::optional<NumberLanguage> language = NumberLanguage::Create(spec);
  ASSERT_TRUE(language.has_value());
  Dice dice(14);
  int whole = 0;
  int dead = 0;
  for (int walk = 0; walk < 300; ++walk) {
    State state = NumberLanguage::Start();
    std::string text;
    while (text.size() < 10) {
      std::vector<std::pair<char, State>> ways;
      for (char digit = text.empty() ? '1' : '0'; digit <= '9'; ++digit) {
        const auto next = language->Step(state, static_cast<unsigned char>(digit));
        const bool live = CanBecomeMultiple(text + digit, 10, kStep, excluded);
        ASSERT_EQ(next.has_value(), live) << text << digit;
        dead += live ? 0 : 1;
        if (live) ways.emplace_back(digit, *next);
      }
      if (ways.empty()) break;
      const auto& [digit, next] = ways[dice.Upto(ways.size() - 1)];
      text.push_back(digit);
      state = next;
      ASSERT_EQ(language->MayEnd(state), IsNumberOf(spec, text)) << text;
      whole += language->MayEnd(state) ? 1 : 0;
    }
  }
  EXPECT_GT(whole, 250);
  EXPECT_GT(dead, 2'000);
}

TEST(NumberLanguageTest, HasNoDeadEnds) {
  Dice dice(12);
  int states = 0;
  for (int round = 0; round < 400; ++round) {
    NumberSpec spec = RandomSpec(dice);
    spec.integer_digits = 1 + dice.Upto(5);
    spec.fraction_digits = (spec.exponent_digits == 0 ? 0 : 1) + dice.Upto(5);
    ExpectNoDeadEnd(spec, dice, &states);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_GT(states, 8'000);
}

// `spec` as canonical spelling has it; see WrittenNumbers().
NumberSpec Written(NumberSpec spec, NumberNotation notation) {
  spec.notation = notation;
  if (notation == NumberNotation::kPlain) spec.exponent_digits = 0;
  if (notation == NumberNotation::kScientific) {
    spec.integer_digits = 1;
    spec.exponent_digits = std::max(spec.exponent_digits, 2U);
  }
  return spec;
}

constexpr NumberNotation kNotations[] = {NumberNotation::kPlain, NumberNotation::kScientific};

// A number's text in the notation, often, and near it else.
std::string RandomWritten(const NumberSpec& spec, Dice& dice) {
  if (spec.notation == NumberNotation::kPlain) return RandomText(spec, dice);
  std::string text = dice.OneIn(3) ? "-" : "";
  text += absl::StrCat(dice.Upto(9));
  if (dice.OneIn(2)) text += "." + dice.Digits(3);
  text += absl::StrCat(dice.OneIn(9) ? "E" : "e", dice.OneIn(2) ? "-" : dice.OneIn(2) ? "+" : "");
  return text + (dice.OneIn(3) ? "0" : "") + absl::StrCat(dice.Upto(30));
}

TEST(NumberLanguageTest, TakesWhatIsWrittenInItsNotation) {
  Dice dice(21);
  int accepted = 0;
  for (int round = 0; round < 1500; ++round) {
    const NumberSpec spec = Written(RandomSpec(dice), kNotations[round % 2]);
    std::optional<NumberLanguage> language = NumberLanguage::Create(spec);
    if (!language.has_value()) continue;
    const bool empty = language->IsEmpty();
    for (int i = 0; i < 40; ++i) {
      const std::string text = RandomWritten(spec, dice);
      const bool expected = IsNumberOf(spec, text);
      ASSERT_EQ(Accepts(*language, text), expected) << ToString(spec) << " on " << text;
      ASSERT_FALSE(empty && expected) << ToString(spec) << " on " << text;
      accepted += expected ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 3'000);
}

TEST(NumberLanguageTest, HasNoDeadEndsInItsNotation) {
  Dice dice(22);
  int states = 0;
  for (int round = 0; round < 600; ++round) {
    NumberSpec spec = RandomSpec(dice);
    spec.integer_digits = 1 + dice.Upto(5);
    spec.fraction_digits = 1 + dice.Upto(5);
    if (dice.OneIn(4)) spec.fraction_digits = spec.exponent_digits = 0;
    const bool plain = spec.exponent_digits == 0 || dice.OneIn(2);
    ExpectNoDeadEnd(Written(spec, kNotations[plain ? 0 : 1]), dice, &states);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_GT(states, 6'000);
}

TEST(NumberLanguageTest, FewDigitsStayExactInValue) {
  Dice dice(13);
  int refused = 0;
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    NumberSpec spec = RandomSpec(dice);
    spec.integer_digits = 1 + dice.Upto(4);
    spec.fraction_digits = (spec.exponent_digits == 0 ? 0 : 1) + dice.Upto(4);
    std::optional<NumberLanguage> language = NumberLanguage::Create(spec);
    if (!language.has_value()) continue;
    for (int i = 0; i < 20; ++i) {
      const std::string text = RandomText(spec, dice);
      const bool expected = IsNumberOf(spec, text);
      const bool got = Accepts(*language, text);
      ASSERT_TRUE(expected || !got) << ToString(spec) << " on " << text;
      accepted += got ? 1 : 0;
      refused += expected && !got ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 2000);
  EXPECT_LT(refused, accepted / 50);
}

// The least number of digits behind `n`, and the least such number, that make a multiple.
std::string DigitsByTrial(std::uint64_t n, std::uint64_t divisor) {
  for (std::uint64_t power = 10, count = 1;; power *= 10, ++count)
    for (std::uint64_t digits = 0; digits < power; ++digits)
      if ((n * power + digits) % divisor == 0) {
        const std::string text = absl::StrCat(digits);
        return std::string(count - text.size(), '0') + text;
      }
}

State Behind(NumberLanguage& language, absl::string_view text) {
  State state = NumberLanguage::Start();
  for (const char byte : text) {
    const auto next = language.Step(state, static_cast<unsigned char>(byte));
    EXPECT_TRUE(next.has_value()) << text;
    if (next.has_value()) state = *next;
  }
  return state;
}

TEST(NumberLanguageTest, TheDigitsToAMultipleAreTheFewest) {
  for (const std::uint64_t divisor : {1, 2, 3, 7, 10, 60, 97, 100, 250, 999, 1000, 7919}) {
    NumberSpec spec = {.exponent_digits = 0};
    spec.multiple_of = {ReadDecimal(absl::StrCat(divisor))};
    NumberLanguage language = *NumberLanguage::Create(spec);
    for (std::uint64_t n = 1; n < 1500; n += 1 + n / 40) {
      const auto digits = language.TextToMultiple(Behind(language, absl::StrCat(n)));
      ASSERT_TRUE(digits.has_value()) << n << " by " << divisor;
      EXPECT_EQ(*digits, DigitsByTrial(n, divisor)) << n << " by " << divisor;
    }
  }
}

TEST(NumberLanguageTest, AMultipleIsReachedByTheShorterOfTwoWays) {
  struct Way {
    std::vector<const char*> divisors;
    std::uint32_t exponent_digits;
    const char* text;
    const char* behind;
    const char* min = nullptr;
    const char* excluded = nullptr;
  };
  for (const Way& way : std::vector<Way>{{{"7919"}, 3, "5", "5433"},
                                         {{"1000"}, 3, "5", "e3"},
                                         {{"1000"}, 0, "5", "000"},
                                         {{"1000"}, 3, "50", "00"},
                                         {{"6", "15"}, 0, "4", "20"},
                                         {{"7.001"}, 0, "7", "001"},
                                         {{"0.3"}, 0, "1", "2"},
                                         {{"0.3"}, 0, "1.", "2"},
                                         {{"0.007"}, 0, "0.03", "5"},
                                         {{"0.5"}, 0, "2.50", "0"},
                                         {{}, 0, "5", "none"},
                                         {{"7"}, 0, "1", "54", "150"},
                                         {{"7"}, 0, "2", "8", nullptr, "3"},
                                         {{"7"}, 0, "1", "05", nullptr, "14"},
                                         {{"7"}, 0, "-", "none"},
                                         {{"7"}, 0, "7.", "0"}}) {
    NumberSpec spec = {.exponent_digits = way.exponent_digits};
    for (const char* divisor : way.divisors) spec.multiple_of.push_back(ReadDecimal(divisor));
    if (way.excluded != nullptr) spec.not_multiple_of = {ReadDecimal(way.excluded)};
    if (way.min != nullptr) spec.intervals = {{.min = ReadDecimal(way.min)}};
    NumberLanguage language = *NumberLanguage::Create(spec);
    EXPECT_EQ(language.TextToMultiple(Behind(language, way.text)).value_or("none"), way.behind)
        << way.text;
  }
}

// Of any spec: what is told makes a number.
TEST(NumberLanguageTest, WhatLeadsToAMultipleIsOfTheLanguage) {
  Dice dice(12);
  int told = 0;
  for (int round = 0; round < 3000; ++round) {
    const NumberSpec spec = RandomSpec(dice);
    auto language = NumberLanguage::Create(spec);
    if (!language.has_value() || language->IsEmpty()) continue;
    State state = NumberLanguage::Start();
    std::string text;
    for (const char byte : RandomText(spec, dice)) {
      const auto next = language->Step(state, static_cast<unsigned char>(byte));
      if (!next.has_value()) break;
      state = *next;
      text.push_back(byte);
      const auto rest = language->TextToMultiple(state);
      if (!rest.has_value()) continue;
      ++told;
      EXPECT_TRUE(Accepts(*language, text + *rest)) << text << " and " << *rest;
    }
  }
  EXPECT_GT(told, 2000);
}

TEST(NumberLanguageTest, LargeModuliAreNotMade) {
  NumberSpec spec;
  spec.multiple_of = {ReadDecimal("1000000000000000")};
  EXPECT_TRUE(NumberLanguage::Create(spec).has_value());
  spec.multiple_of = {ReadDecimal("1000000000000001")};
  EXPECT_FALSE(NumberLanguage::Create(spec).has_value());
  spec.multiple_of = {ReadDecimal("999999999999989"), ReadDecimal("999999999999947")};
  EXPECT_FALSE(NumberLanguage::Create(spec).has_value());
  spec.multiple_of = {ReadDecimal("0.00000001"), ReadDecimal("1")};
  EXPECT_TRUE(NumberLanguage::Create(spec).has_value());
  spec.multiple_of = {ReadDecimal("0.1234567890123456")};
  EXPECT_FALSE(NumberLanguage::Create(spec).has_value());
}

TEST(NumberLanguageTest, LongBoundsAreExact) {
  const std::string digits = "123456789012345678901234567890123456789012345678901234567890";
  NumberSpec spec;
  spec.intervals = {{.min = ReadDecimal(digits + ".5"), .max = ReadDecimal(digits + ".75")}};
  spec.intervals[0].min_open = true;
  std::optional<NumberLanguage> language = NumberLanguage::Create(spec);
  EXPECT_TRUE(Accepts(*language, digits + ".50000000000000000000000000001"));
  EXPECT_TRUE(Accepts(*language, digits + "75e-2"));
  EXPECT_FALSE(Accepts(*language, digits + ".5"));
  EXPECT_FALSE(Accepts(*language, digits + ".750000001"));
}

}  // namespace
}  // namespace maskd
