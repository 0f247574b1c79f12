#include "grammar_core/frontend/json_schema/number_facets.h"

namespace maskd {

// Any number is made of terms that every grammar shares.
absl::StatusOr<NodeId> NumberRule(const MergedSchema& schema, RuleContext& context) {
  absl::StatusOr<NumberSpec> numbers = NumbersOf(schema, context);
  if (!numbers.ok()) return numbers.status();
  const bool any = numbers->intervals == std::vector<NumberInterval>(1) &&
                   numbers->multiple_of.empty() && numbers->not_multiple_of.empty() &&
                   numbers->fraction_digits > 0;
  return any ? context.number : context.builder.Number(*std::move(numbers));
}

NodeId AnyNumberRule(const GrammarOptions& options, IrBuilder& b) {
  const auto max_digits = static_cast<std::uint32_t>(options.max_number_digits);
  const NodeId digit = b.AnyByteOf("0123456789");
  const NodeId positive = b.Concat({b.AnyByteOf("123456789"), b.Repeat(digit, 0, max_digits - 1)});
  const NodeId integer = b.Concat({b.Optional(b.Bytes("-")), b.Alt({b.Bytes("0"), positive})});
  const NodeId fraction = b.Concat({b.Bytes("."), b.Repeat(digit, 1, max_digits)});
  const NodeId exponent = b.Concat({b.AnyByteOf("eE"), b.Optional(b.AnyByteOf("+-")),
                                    b.Repeat(digit, 1, NumberSpec::kDefaultExponentDigits)});
  return b.Concat({integer, b.Optional(fraction), b.Optional(exponent)});
}

}  // namespace maskd
