#include "grammar_core/frontend/json_schema/rules/number_sets.h"

namespace maskd {

namespace {

// An exponent that serializers write: of doubles up to 1e-5, and from 1e16 on.
NodeId WrittenExponent(IrBuilder& b) {
  const NodeId digit = b.AnyByteOf("0123456789");
  const NodeId nonzero = b.AnyByteOf("123456789");
  const NodeId more = b.Repeat(digit, 1, NumberSpec::kDefaultExponentDigits - 1);
  const NodeId small =
      b.Concat({b.Bytes("-"), b.Alt({b.Concat({b.Optional(b.Bytes("0")), b.AnyByteOf("56789")}),
                                     b.Concat({nonzero, more})})});
  const NodeId two_or_more = b.Repeat(digit, 2, NumberSpec::kDefaultExponentDigits - 1);
  const NodeId large =
      b.Concat({b.Optional(b.Bytes("+")), b.Alt({b.Concat({b.Bytes("1"), b.AnyByteOf("6789")}),
                                                 b.Concat({b.AnyByteOf("23456789"), digit}),
                                                 b.Concat({nonzero, two_or_more})})});
  return b.Concat({b.Bytes("e"), b.Alt({small, large})});
}

// See NumberNotation::kPlain and kScientific.
NodeId CanonicalNumber(std::uint32_t max_digits, IrBuilder& b) {
  const NodeId digit = b.AnyByteOf("0123456789");
  const NodeId nonzero = b.AnyByteOf("123456789");
  const NodeId sign = b.Optional(b.Bytes("-"));
  const NodeId some = b.Concat({b.Bytes("."), b.Repeat(digit, 0, max_digits - 1), nonzero});
  const NodeId none = b.Bytes(".0");
  const NodeId below_one =
      b.Alt({b.Concat({sign, b.Bytes("0"), some}), b.Concat({b.Bytes("0"), b.Optional(none)})});
  const NodeId integer = b.Concat({nonzero, b.Repeat(digit, 0, max_digits - 1)});
  const NodeId others = b.Concat({sign, integer, b.Optional(b.Alt({some, none}))});
  const NodeId scientific = b.Concat({sign, nonzero, b.Optional(some), WrittenExponent(b)});
  return b.Alt({below_one, others, scientific});
}

}  // namespace

// Any number is made of terms that every grammar shares.
absl::StatusOr<NodeId> NumberRule(const MergedSchema& schema, RuleContext& context) {
  absl::StatusOr<NumberSpec> numbers = NumbersOf(schema, context);
  if (!numbers.ok()) return numbers.status();
  const bool any = numbers->intervals == std::vector<NumberInterval>(1) &&
                   numbers->multiple_of.empty() && numbers->not_multiple_of.empty() &&
                   numbers->fraction_digits > 0;
  return any ? context.number : WrittenNumbers(*std::move(numbers), context);
}

// RFC 8259, section 6, with a bound on each run of digits.
NodeId AnyNumberRule(const GrammarOptions& options, IrBuilder& b) {
  const auto max_digits = static_cast<std::uint32_t>(options.max_number_digits);
  if (options.spelling == JsonSpelling::kCanonical) return CanonicalNumber(max_digits, b);
  const NodeId digit = b.AnyByteOf("0123456789");
  const NodeId positive = b.Concat({b.AnyByteOf("123456789"), b.Repeat(digit, 0, max_digits - 1)});
  const NodeId integer = b.Concat({b.Optional(b.Bytes("-")), b.Alt({b.Bytes("0"), positive})});
  const NodeId fraction = b.Concat({b.Bytes("."), b.Repeat(digit, 1, max_digits)});
  const NodeId exponent = b.Concat({b.AnyByteOf("eE"), b.Optional(b.AnyByteOf("+-")),
                                    b.Repeat(digit, 1, NumberSpec::kDefaultExponentDigits)});
  return b.Concat({integer, b.Optional(fraction), b.Optional(exponent)});
}

}  // namespace maskd
