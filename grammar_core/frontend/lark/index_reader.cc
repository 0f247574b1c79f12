// Steps and tests are rows of two tables: a name, what it does, and what it takes. A condition is
// kept in postfix order: its operands stand before and(, or( and not(, so it is evaluated with a
// stack and without a tree.
//
// Invariant  a bit is below 64 and a range of bits is not empty; a postfix list is whole when the
//            last open operator has its operands.
// Cost       linear in the text.
// Source     llguidance's parametric rules.
#include "grammar_core/frontend/lark/index_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

#include "grammar_core/frontend/lark/lark_names.h"

namespace maskd {
namespace {

using Comparison = IndexTest::Comparison;

absl::StatusOr<RuleIndex> ReadValue(SourceReading& reading) {
  const std::size_t begin = reading.cursor.at();
  absl::string_view word = TakeWord(reading);
  RuleIndex value = 0;
  const bool hex = absl::ConsumePrefix(&word, "0x") || absl::ConsumePrefix(&word, "0X");
  // SimpleHexAtoi() takes another 0x by itself.
  const bool twice = hex && (absl::StartsWith(word, "0x") || absl::StartsWith(word, "0X"));
  if (!twice && (hex ? absl::SimpleHexAtoi(word, &value) : absl::SimpleAtoi(word, &value)))
    return value;
  return reading.cursor.Invalid(begin, "expected a number of up to 64 bits");
}

absl::StatusOr<std::uint32_t> ReadBit(SourceReading& reading, std::uint32_t max) {
  const std::size_t begin = reading.cursor.at();
  const absl::StatusOr<RuleIndex> bit = ReadValue(reading);
  if (!bit.ok()) return bit.status();
  if (*bit > max) return reading.cursor.Invalid(begin, "an index has 64 bits");
  return static_cast<std::uint32_t>(*bit);
}

absl::Status Pass(absl::string_view expected, SourceReading& reading) {
  PassInlineSpace(reading.cursor);
  if (!reading.cursor.Take(expected))
    return reading.cursor.Expected("'" + std::string(expected) + "'");
  PassInlineSpace(reading.cursor);
  return absl::OkStatus();
}

// "_" or "[first:end]".
absl::StatusOr<IndexBits> ReadBits(SourceReading& reading) {
  const std::size_t begin = reading.cursor.at();
  if (reading.cursor.Take("_")) return IndexBits();
  if (!reading.cursor.Take("[")) return reading.cursor.Expected("bits: _ or [first:end]");
  PassInlineSpace(reading.cursor);
  const absl::StatusOr<std::uint32_t> first = ReadBit(reading, 63);
  if (!first.ok()) return first.status();
  if (absl::Status status = Pass(":", reading); !status.ok()) return status;
  const absl::StatusOr<std::uint32_t> end = ReadBit(reading, 64);
  if (!end.ok()) return end.status();
  if (absl::Status status = Pass("]", reading); !status.ok()) return status;
  if (*end <= *first) return reading.cursor.Invalid(begin, "the bits end before they begin");
  return IndexBits{*first, *end};
}

struct StepName {
  absl::string_view name;
  IndexStep::Kind kind;
  enum class Takes : std::uint8_t { kBits, kBit, kValue } takes;
};
constexpr std::array kSteps = {
    StepName{"incr", IndexStep::Kind::kIncrement, StepName::Takes::kBits},
    StepName{"decr", IndexStep::Kind::kDecrement, StepName::Takes::kBits},
    StepName{"set_bit", IndexStep::Kind::kOr, StepName::Takes::kBit},
    StepName{"clear_bit", IndexStep::Kind::kAnd, StepName::Takes::kBit},
    StepName{"bit_or", IndexStep::Kind::kOr, StepName::Takes::kValue},
    StepName{"bit_and", IndexStep::Kind::kAnd, StepName::Takes::kValue},
};

absl::StatusOr<IndexStep> ReadStepArgument(const StepName& name, SourceReading& reading) {
  IndexStep step{.kind = name.kind};
  if (name.takes == StepName::Takes::kBits) {
    const absl::StatusOr<IndexBits> bits = ReadBits(reading);
    if (!bits.ok()) return bits.status();
    step.bits = *bits;
  } else if (name.takes == StepName::Takes::kBit) {
    const absl::StatusOr<std::uint32_t> bit = ReadBit(reading, 63);
    if (!bit.ok()) return bit.status();
    const RuleIndex mask = RuleIndex{1} << *bit;
    step.value = name.kind == IndexStep::Kind::kAnd ? ~mask : mask;
  } else {
    const absl::StatusOr<RuleIndex> value = ReadValue(reading);
    if (!value.ok()) return value.status();
    step.value = *value;
  }
  return step;
}

// What a test compares, and what with.
struct TestName {
  absl::string_view name;
  IndexTest::Kind kind;
  Comparison comparison;
  enum class Takes : std::uint8_t { kBitsAndValue, kBits, kBit } takes;
};
using TestTakes = TestName::Takes;
constexpr std::array kTests = {
    TestName{"eq", IndexTest::Kind::kBits, Comparison::kEq, TestTakes::kBitsAndValue},
    TestName{"ne", IndexTest::Kind::kBits, Comparison::kNe, TestTakes::kBitsAndValue},
    TestName{"lt", IndexTest::Kind::kBits, Comparison::kLt, TestTakes::kBitsAndValue},
    TestName{"le", IndexTest::Kind::kBits, Comparison::kLe, TestTakes::kBitsAndValue},
    TestName{"gt", IndexTest::Kind::kBits, Comparison::kGt, TestTakes::kBitsAndValue},
    TestName{"ge", IndexTest::Kind::kBits, Comparison::kGe, TestTakes::kBitsAndValue},
    TestName{"bit_count_eq", IndexTest::Kind::kBitCount, Comparison::kEq, TestTakes::kBitsAndValue},
    TestName{"bit_count_ne", IndexTest::Kind::kBitCount, Comparison::kNe, TestTakes::kBitsAndValue},
    TestName{"bit_count_lt", IndexTest::Kind::kBitCount, Comparison::kLt, TestTakes::kBitsAndValue},
    TestName{"bit_count_le", IndexTest::Kind::kBitCount, Comparison::kLe, TestTakes::kBitsAndValue},
    TestName{"bit_count_gt", IndexTest::Kind::kBitCount, Comparison::kGt, TestTakes::kBitsAndValue},
    TestName{"bit_count_ge", IndexTest::Kind::kBitCount, Comparison::kGe, TestTakes::kBitsAndValue},
    TestName{"is_zeros", IndexTest::Kind::kBits, Comparison::kEq, TestTakes::kBits},
    TestName{"is_ones", IndexTest::Kind::kBits, Comparison::kEq, TestTakes::kBits},
    TestName{"bit_clear", IndexTest::Kind::kBits, Comparison::kEq, TestTakes::kBit},
    TestName{"bit_set", IndexTest::Kind::kBits, Comparison::kEq, TestTakes::kBit},
};

absl::StatusOr<IndexTest> ReadTestArguments(const TestName& name, SourceReading& reading) {
  IndexTest test{.kind = name.kind, .comparison = name.comparison};
  if (name.takes == TestTakes::kBit) {
    const absl::StatusOr<std::uint32_t> bit = ReadBit(reading, 63);
    if (!bit.ok()) return bit.status();
    test.bits = {*bit, *bit + 1};
  } else {
    const absl::StatusOr<IndexBits> bits = ReadBits(reading);
    if (!bits.ok()) return bits.status();
    test.bits = *bits;
  }
  if (name.name == "is_ones" || name.name == "bit_set")
    test.value = test.bits.Of(std::numeric_limits<RuleIndex>::max());
  if (name.takes == TestTakes::kBitsAndValue) {
    if (absl::Status status = Pass(",", reading); !status.ok()) return status;
    const absl::StatusOr<RuleIndex> value = ReadValue(reading);
    if (!value.ok()) return value.status();
    test.value = *value;
  }
  return test;
}

template <typename Names>
auto FindName(const Names& names, absl::string_view word) {
  return std::find_if(names.begin(), names.end(),
                      [&](const auto& entry) { return entry.name == word; });
}

// and(, or( and not( that are open, with what each still takes.
struct OpenCondition {
  IndexTest::Kind kind;
  int missing;
};

class ConditionReader {
 public:
  explicit ConditionReader(SourceReading& reading) : reading_(reading) {}

  absl::StatusOr<IndexCondition> Read() {
    do {
      if (absl::Status status = reading_.budget.Spend(); !status.ok()) return status;
      if (absl::Status status = ReadNext(); !status.ok()) return status;
    } while (!open_.empty());
    return std::move(condition_);
  }

 private:
  absl::Status ReadNext() {
    const std::size_t at = reading_.cursor.at();
    const absl::string_view word = TakeWord(reading_);
    if (word == "and") return Open(IndexTest::Kind::kBoth, 2);
    if (word == "or") return Open(IndexTest::Kind::kEither, 2);
    if (word == "not") return Open(IndexTest::Kind::kNot, 1);
    if (word == "true") {
      condition_.push_back({});
      if (reading_.cursor.Take("(")) {
        if (absl::Status status = Pass(")", reading_); !status.ok()) return status;
      }
      return EndOperand();
    }
    const auto* const name = FindName(kTests, word);
    if (name == kTests.end()) return reading_.cursor.Invalid(at, "expected a condition");
    if (absl::Status status = Pass("(", reading_); !status.ok()) return status;
    const absl::StatusOr<IndexTest> test = ReadTestArguments(*name, reading_);
    if (!test.ok()) return test.status();
    if (absl::Status status = Pass(")", reading_); !status.ok()) return status;
    condition_.push_back(*test);
    return EndOperand();
  }

  absl::Status Open(IndexTest::Kind kind, int operands) {
    open_.push_back({kind, operands});
    const auto depth = static_cast<std::int64_t>(open_.size());
    const absl::Status status = reading_.CheckDepth(reading_.cursor.at(), depth);
    return status.ok() ? Pass("(", reading_) : status;
  }

  absl::Status EndOperand() {
    while (!open_.empty()) {
      if (--open_.back().missing > 0) return Pass(",", reading_);
      if (absl::Status status = Pass(")", reading_); !status.ok()) return status;
      condition_.push_back({.kind = open_.back().kind});
      open_.pop_back();
    }
    return absl::OkStatus();
  }

  SourceReading& reading_;
  IndexCondition condition_;
  std::vector<OpenCondition> open_;
};

}  // namespace

absl::StatusOr<IndexStep> ReadIndexStep(SourceReading& reading) {
  const std::size_t begin = reading.cursor.at();
  const std::uint32_t c = reading.cursor.Peek();
  if (c >= '0' && c <= '9') {
    const absl::StatusOr<RuleIndex> value = ReadValue(reading);
    if (!value.ok()) return value.status();
    return IndexStep{.kind = IndexStep::Kind::kValue, .value = *value};
  }
  const absl::string_view word = TakeWord(reading);
  if (word == "_") return IndexStep();
  const auto* const name = FindName(kSteps, word);
  if (name == kSteps.end()) {
    return reading.cursor.Invalid(
        begin, "expected an index: a number, _, incr, decr, set_bit, clear_bit, bit_or or bit_and");
  }
  if (absl::Status status = Pass("(", reading); !status.ok()) return status;
  const absl::StatusOr<IndexStep> step = ReadStepArgument(*name, reading);
  if (!step.ok()) return step.status();
  PassInlineSpace(reading.cursor);
  if (!reading.cursor.Take(")")) return reading.cursor.Expected("')'");
  return step;
}

absl::StatusOr<IndexCondition> ReadIndexCondition(SourceReading& reading) {
  return ConditionReader(reading).Read();
}

}  // namespace maskd
