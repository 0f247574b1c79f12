#include "grammar_core/frontend/notation/rule_index.h"

#include <bit>
#include <cassert>

namespace maskd {
namespace {

bool Compare(RuleIndex left, IndexTest::Comparison comparison, RuleIndex right) {
  switch (comparison) {
    case IndexTest::Comparison::kEq:
      return left == right;
    case IndexTest::Comparison::kNe:
      return left != right;
    case IndexTest::Comparison::kLt:
      return left < right;
    case IndexTest::Comparison::kLe:
      return left <= right;
    case IndexTest::Comparison::kGt:
      return left > right;
    case IndexTest::Comparison::kGe:
      return left >= right;
  }
  return false;
}

void Evaluate(const IndexTest& test, RuleIndex index, std::vector<bool>* values) {
  const auto pop = [&] {
    assert(!values->empty());
    const bool value = values->back();
    values->pop_back();
    return value;
  };
  switch (test.kind) {
    case IndexTest::Kind::kTrue:
      values->push_back(true);
      break;
    case IndexTest::Kind::kBits:
      values->push_back(Compare(test.bits.Of(index), test.comparison, test.value));
      break;
    case IndexTest::Kind::kBitCount:
      values->push_back(Compare(static_cast<RuleIndex>(std::popcount(test.bits.Of(index))),
                                test.comparison, test.value));
      break;
    case IndexTest::Kind::kBoth: {
      const bool right = pop();
      values->back() = values->back() && right;
      break;
    }
    case IndexTest::Kind::kEither: {
      const bool right = pop();
      values->back() = values->back() || right;
      break;
    }
    case IndexTest::Kind::kNot:
      assert(!values->empty());
      values->back() = !values->back();
      break;
  }
}

}  // namespace

RuleIndex IndexBits::Mask() const {
  assert(first < end && end <= 64);
  const std::uint32_t count = end - first;
  const RuleIndex ones = count == 64 ? ~RuleIndex{0} : (RuleIndex{1} << count) - 1;
  return ones << first;
}

RuleIndex IndexStep::Apply(RuleIndex caller) const {
  switch (kind) {
    case Kind::kValue:
      return value;
    case Kind::kSame:
      return caller;
    case Kind::kOr:
      return caller | value;
    case Kind::kAnd:
      return caller & value;
    case Kind::kIncrement:
      return (caller & bits.Mask()) == bits.Mask() ? caller : caller + (RuleIndex{1} << bits.first);
    case Kind::kDecrement:
      return (caller & bits.Mask()) == 0 ? caller : caller - (RuleIndex{1} << bits.first);
  }
  return caller;
}

bool Holds(const IndexCondition& condition, RuleIndex index) {
  std::vector<bool> values;
  for (const IndexTest& test : condition) Evaluate(test, index, &values);
  assert(values.size() == 1);
  return values.back();
}

}  // namespace maskd
