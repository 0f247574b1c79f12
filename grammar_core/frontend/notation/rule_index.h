// Rules with an index: a number of 64 bits that calls carry along (`rule::incr([0:3])`) and that
// alternatives may ask for (`%if lt([0:3], 5)`), after llguidance's parametric grammars.
//
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_RULE_INDEX_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_RULE_INDEX_H_

#include <cstdint>
#include <vector>

namespace maskd {

using RuleIndex = std::uint64_t;

// The bits [first, end) of an index, end > first.
struct IndexBits {
  std::uint32_t first = 0;
  std::uint32_t end = 64;

  // Ones at these bits; and those bits of an index as a number.
  [[nodiscard]] RuleIndex Mask() const;
  [[nodiscard]] RuleIndex Of(RuleIndex index) const { return (index & Mask()) >> first; }
};

// The index of a call, from the caller's.
struct IndexStep {
  // How it is made.
  enum class Kind : std::uint8_t {
    kValue,      // `value`
    kSame,       // the caller's
    kOr,         // the caller's or `value`
    kAnd,        // the caller's and `value`
    kIncrement,  // `bits` of it one higher, but for the highest value
    kDecrement,  // `bits` of it one lower, but for zero
  };
  Kind kind = Kind::kSame;
  IndexBits bits = {};
  RuleIndex value = 0;

  // The index that the called rule has.
  [[nodiscard]] RuleIndex Apply(RuleIndex caller) const;
};

// A step in the evaluation of a condition: the tests of a number push true or false, the others
// take what was pushed last.
struct IndexTest {
  // What the step does; kTrue pushes, and takes nothing.
  enum class Kind : std::uint8_t { kTrue, kBits, kBitCount, kBoth, kEither, kNot };
  enum class Comparison : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };
  Kind kind = Kind::kTrue;
  // kBits compares `bits`, kBitCount the number of ones in them, with `value`.
  Comparison comparison = Comparison::kEq;
  IndexBits bits = {};
  RuleIndex value = 0;
};
// In postfix order; leaves exactly one value.
using IndexCondition = std::vector<IndexTest>;

// Whether a rule with this `index` may take the alternative. Linear in the tests.
bool Holds(const IndexCondition& condition, RuleIndex index);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_RULE_INDEX_H_
