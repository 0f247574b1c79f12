// Values in one spelling each, so that equality is equality of strings: JSON Schema compares
// numbers by value, and 1, 1.0 and 10e-1 are one number.
#include "grammar_core/unique_items/item_leaves.h"

#include <cassert>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/decimal.h"

namespace maskd {
// '#', the sign, the digits without zeros at either end, 'e', the exponent.
std::string NumberLeaf(absl::string_view spelling) {
  const Decimal number = ReadDecimal(spelling);
  return absl::StrCat(std::string(1, kNumberLeaf), number.negative ? "-" : "+", number.digits, "e",
                      number.exponent);
}

// The digits before an exponent, without zeros in front, begin with those of the value and go on
// with zeros only.
bool MayBecomeNumber(absl::string_view part, absl::string_view leaf) {
  assert(!leaf.empty() && leaf.front() == kNumberLeaf && "only numbers are compared as numbers");
  const absl::string_view digits = leaf.substr(2, leaf.find('e') - 2);
  if (!digits.empty() && !part.empty() && (part.front() == '-') != (leaf[1] == '-')) return false;
  std::size_t at = 0;
  for (const char c : part) {
    if (c == 'e' || c == 'E') break;
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c)) || (at == 0 && c == '0')) continue;
    // A digit behind all of the value's must be a zero, which an exponent can still take back.
    if (c != (at < digits.size() ? digits[at] : '0')) return false;
    ++at;
  }
  return true;
}

bool IsAtOrBelow(absl::string_view path, absl::string_view container) {
  if (!absl::StartsWith(path, container)) return false;
  // A name that begins with the container's is not below it: a marker must follow.
  const absl::string_view rest = path.substr(container.size());
  return rest.empty() || rest.front() == kMember || rest.front() == kElement;
}

}  // namespace maskd
