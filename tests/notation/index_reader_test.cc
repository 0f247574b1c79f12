// Indexes of rules as Lark grammars write them: what each means, and where errors are.
#include "grammar_core/frontend/lark/index_reader.h"

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/notation/text_in_reading.h"

namespace maskd {
namespace {

constexpr RuleIndex kAllBits = std::numeric_limits<RuleIndex>::max();

struct WrittenStep {
  std::string name;
  std::string text;
  RuleIndex caller;
  RuleIndex expected;
  std::string rest = "";
};
class WrittenStepTest : public testing::TestWithParam<WrittenStep> {};

TEST_P(WrittenStepTest, MakesTheIndex) {
  TextInReading text(GetParam().text);
  const absl::StatusOr<IndexStep> step = ReadIndexStep(text.reading);
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->Apply(GetParam().caller), GetParam().expected);
  EXPECT_EQ(text.Rest(), GetParam().rest);
}

INSTANTIATE_TEST_SUITE_P(Steps, WrittenStepTest,
                         testing::ValuesIn(std::vector<WrittenStep>{
                             {"Number", "0012 x", 9, 12, " x"},
                             {"Hex", "0xfF", 9, 255},
                             {"HexInCapitals", "0XAB", 9, 171},
                             {"Greatest", "18446744073709551615", 0, kAllBits},
                             {"GreatestHex", "0xFFFFFFFFFFFFFFFF", 0, kAllBits},
                             {"LongHex", "0x00000000000000000001", 9, 1},
                             {"Same", "_ %if", 9, 9, " %if"},
                             {"Increment", "incr([4:8])", 0xA3F, 0xA4F},
                             {"IncrementOfAll", "incr(_)", 41, 42},
                             {"Decrement", "decr( [ 0x4 : 8 ] )|", 0xA3F, 0xA2F, "|"},
                             {"SetBit", "set_bit(63)", 1, (RuleIndex{1} << 63) | 1},
                             {"ClearBit", "clear_bit(63)", kAllBits, kAllBits >> 1},
                             {"Or", "bit_or(0x0F)", 0xA0, 0xAF},
                             {"And", "bit_and(10)", 12, 8},
                             {"ContinuedLine", "incr( \\\n _\t)", 1, 2},
                         }),
                         [](const auto& test) { return test.param.name; });

struct BadIndex {
  std::string name;
  std::string text;
  std::string message;  // its beginning
};
std::ostream& operator<<(std::ostream& out, const BadIndex& bad) { return out << bad.text; }

class BadStepTest : public testing::TestWithParam<BadIndex> {};

TEST_P(BadStepTest, SaysWhatAndWhere) {
  TextInReading text(GetParam().text);
  const absl::Status status = ReadIndexStep(text.reading).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().substr(0, GetParam().message.size()), GetParam().message);
}

constexpr char kNoNumber[] = "expected a number of up to 64 bits";

INSTANTIATE_TEST_SUITE_P(
    Steps, BadStepTest,
    testing::ValuesIn(std::vector<BadIndex>{
        {"Empty", "", "1:1: expected an index: a number, _, incr"},
        {"Name", "incremented(_)", "1:1: expected an index"},
        {"Negative", "-1", "1:1: expected an index"},
        {"TooGreat", "18446744073709551616", absl::StrCat("1:1: ", kNoNumber)},
        {"TooGreatHex", "0x10000000000000000", absl::StrCat("1:1: ", kNoNumber)},
        {"HexOfNothing", "0x", absl::StrCat("1:1: ", kNoNumber)},
        {"HexTwice", "0x0x1", absl::StrCat("1:1: ", kNoNumber)},
        {"HexTwiceInCapitals", "0X0X1", absl::StrCat("1:1: ", kNoNumber)},
        {"Letters", "12ab", absl::StrCat("1:1: ", kNoNumber)},
        {"Minus", "3-1", absl::StrCat("1:1: ", kNoNumber)},
        {"NoBits", "incr()", "1:6: expected bits: _ or [first:end], found ')'"},
        {"NumberForBits", "incr(3)", "1:6: expected bits"},
        {"BitsForANumber", "bit_or(_)", absl::StrCat("1:8: ", kNoNumber)},
        {"Bit", "set_bit(64)", "1:9: an index has 64 bits"},
        {"FirstBit", "incr([64:64])", "1:7: an index has 64 bits"},
        {"EndBit", "incr([63:65])", "1:10: an index has 64 bits"},
        {"NoBit", "incr([3:3])", "1:6: the bits end before they begin"},
        {"NoColon", "incr([3])", "1:8: expected ':', found ']'"},
        {"NoEnd", "incr([0:3)", "1:10: expected ']', found ')'"},
        {"NotClosed", "incr(_", "1:7: expected ')', found the end of the grammar"},
        {"LineEnds", "incr(\n_)", "1:6: expected bits: _ or [first:end], found the end of the"},
    }),
    [](const auto& test) { return test.param.name; });

class BadConditionTest : public testing::TestWithParam<BadIndex> {};

TEST_P(BadConditionTest, SaysWhatAndWhere) {
  TextInReading text(GetParam().text);
  const absl::Status status = ReadIndexCondition(text.reading).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().substr(0, GetParam().message.size()), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Conditions, BadConditionTest,
    testing::ValuesIn(std::vector<BadIndex>{
        {"Empty", "", "1:1: expected a condition"},
        {"Name", "equal(_, 1)", "1:1: expected a condition"},
        {"OneOperand", "and(true)", "1:9: expected ',', found ')'"},
        {"ThreeOperands", "or(true, true, true)", "1:14: expected ')', found ','"},
        {"TwoOperandsOfNot", "not(true, true)", "1:9: expected ')', found ','"},
        {"NoOperand", "not()", "1:5: expected a condition"},
        {"NoValue", "lt(_)", "1:5: expected ',', found ')'"},
        {"ValueOfAShortTest", "is_ones(_, 1)", "1:10: expected ')', found ','"},
        {"BitsOfABit", "bit_set(_)", absl::StrCat("1:9: ", kNoNumber)},
        {"Bit", "bit_set(64)", "1:9: an index has 64 bits"},
        {"NotClosed", "and(true, not(true)", "1:20: expected ')', found the end"},
    }),
    [](const auto& test) { return test.param.name; });

// A condition as text, with what it says of an index, worked out apart.
struct RandomCondition {
  std::string text;
  std::vector<bool> holds;  // of kIndexes
};
const RuleIndex kIndexes[] = {0, 1, 2, 3, 5, 0xF0, 0x8000000000000001, kAllBits};

class ConditionMaker {
 public:
  RandomCondition Make(int depth) {
    const std::size_t kind = Pick(depth > 3 ? 4 : 7);
    if (kind == 0) return Each("true", [](RuleIndex) { return true; });
    if (kind < 3) return Comparison(kind == 2);
    if (kind == 3) return OfBits();
    RandomCondition left = Make(depth + 1);
    if (kind == 4) {
      left.holds.flip();
      return {absl::StrCat("not(", left.text, ")"), left.holds};
    }
    const RandomCondition right = Make(depth + 1);
    for (std::size_t i = 0; i < left.holds.size(); ++i)
      left.holds[i] = kind == 5 ? left.holds[i] && right.holds[i] : left.holds[i] || right.holds[i];
    return {absl::StrCat(kind == 5 ? "and( " : "or(", left.text, " , ", right.text, ")"),
            left.holds};
  }

 private:
  struct Bits {
    std::string text;
    std::uint32_t first, end;
    [[nodiscard]] RuleIndex Of(RuleIndex index) const {
      RuleIndex value = 0;
      for (std::uint32_t bit = first; bit < end; ++bit)
        if ((index >> bit) % 2 == 1) value += RuleIndex{1} << (bit - first);
      return value;
    }
    [[nodiscard]] RuleIndex Ones(RuleIndex index) const {
      RuleIndex count = 0;
      for (std::uint32_t bit = first; bit < end; ++bit) count += (index >> bit) % 2;
      return count;
    }
  };

  std::size_t Pick(std::size_t count) { return random_() % count; }
  template <typename Test>
  RandomCondition Each(std::string text, Test test) {
    RandomCondition made{std::move(text), {}};
    for (const RuleIndex index : kIndexes) made.holds.push_back(test(index));
    return made;
  }
  Bits SomeBits() {
    const auto first = static_cast<std::uint32_t>(Pick(64));
    const auto end = static_cast<std::uint32_t>(first + 1 + Pick(64 - first));
    if (Pick(3) == 0) return {"_", 0, 64};
    return {absl::StrCat("[", first, ":", end, "]"), first, end};
  }
  RandomCondition Comparison(bool counted) {
    const Bits bits = SomeBits();
    const RuleIndex value = counted ? Pick(5) : bits.Of(kIndexes[Pick(std::size(kIndexes))]);
    const std::size_t which = Pick(6);
    static constexpr absl::string_view kNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    return Each(
        absl::StrCat(counted ? "bit_count_" : "", kNames[which], "(", bits.text, ",", value, ")"),
        [&](RuleIndex index) {
          const RuleIndex left = counted ? bits.Ones(index) : bits.Of(index);
          const bool holds[] = {left == value, left != value,
                                left<value, left <= value, left> value, left >= value};
          return holds[which];
        });
  }
  RandomCondition OfBits() {
    const Bits bits = SomeBits();
    const auto bit = static_cast<std::uint32_t>(Pick(64));
    switch (Pick(4)) {
      case 0:
        return Each(absl::StrCat("is_zeros(", bits.text, ")"),
                    [&](RuleIndex index) { return bits.Ones(index) == 0; });
      case 1:
        return Each(absl::StrCat("is_ones(", bits.text, ")"),
                    [&](RuleIndex index) { return bits.Ones(index) == bits.end - bits.first; });
      case 2:
        return Each(absl::StrCat("bit_set(", bit, ")"),
                    [&](RuleIndex index) { return (index >> bit) % 2 == 1; });
      default:
        return Each(absl::StrCat("bit_clear(", bit, ")"),
                    [&](RuleIndex index) { return (index >> bit) % 2 == 0; });
    }
  }

  std::mt19937_64 random_{64};
};

TEST(IndexConditionReaderTest, RandomConditionsHoldWhereTheyShould) {
  ConditionMaker maker;
  for (int i = 0; i < 2000; ++i) {
    const RandomCondition wanted = maker.Make(0);
    TextInReading text(wanted.text + "|");
    const absl::StatusOr<IndexCondition> condition = ReadIndexCondition(text.reading);
    ASSERT_TRUE(condition.ok()) << wanted.text << "\n" << condition.status();
    EXPECT_EQ(text.Rest(), "|");
    for (std::size_t k = 0; k < std::size(kIndexes); ++k)
      EXPECT_EQ(Holds(*condition, kIndexes[k]), wanted.holds[k])
          << wanted.text << " of " << kIndexes[k];
  }
}

TEST(IndexConditionReaderTest, DepthIsBounded) {
  Limits limits;
  limits.source_depth = 5;
  const auto nested = [](int depth) {
    std::string condition = "true";
    for (int i = 0; i < depth; ++i) condition = "not(" + condition + ")";
    return condition;
  };
  TextInReading within(nested(5), limits);
  EXPECT_TRUE(ReadIndexCondition(within.reading).ok());
  TextInReading past(nested(6), limits);
  const absl::Status status = ReadIndexCondition(past.reading).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "1:24: limit source_depth is 5, 6 needed");
}

}  // namespace
}  // namespace maskd
