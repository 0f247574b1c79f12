#include "grammar_core/frontend/json_schema/rules.h"

namespace maskd {
namespace {

constexpr absl::string_view kDigits = "0123456789";

// [.][0-9]+, then [eE][+-]?[0-9]+, either or both left out.
NodeId FractionAndExponent(std::uint32_t max_digits, IrBuilder& b) {
  const NodeId digit = b.AnyByteOf(kDigits);
  const NodeId fraction = b.Concat({b.Bytes("."), b.Repeat(digit, 1, max_digits)});
  const NodeId exponent = b.Concat(
      {b.AnyByteOf("eE"), b.Optional(b.AnyByteOf("+-")), b.Repeat(digit, 1, kMaxExponentDigits)});
  return b.Concat({b.Optional(fraction), b.Optional(exponent)});
}

}  // namespace

NodeId NumberRule(bool fraction, const GrammarOptions& options, IrBuilder& b) {
  const auto max_digits = static_cast<std::uint32_t>(options.max_number_digits);
  const NodeId positive =
      b.Concat({b.AnyByteOf("123456789"), b.Repeat(b.AnyByteOf(kDigits), 0, max_digits - 1)});
  const NodeId integer = b.Concat({b.Optional(b.Bytes("-")), b.Alt({b.Bytes("0"), positive})});
  return fraction ? b.Concat({integer, FractionAndExponent(max_digits, b)}) : integer;
}

}  // namespace maskd
