#include "grammar_core/frontend/json/decimal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace maskd {
namespace {

constexpr std::int64_t kMaxExponent = 100'000'000'000'000'000;
constexpr std::uint32_t kMaxCount = 0xFFFFFFFE;
// A plain spelling is not made of more digits.
constexpr std::size_t kMaxPlainDigits = 21;

// The digits after 'e', clamped.
std::int64_t ReadExponent(absl::string_view digits) {
  std::int64_t exponent = 0;
  if (absl::SimpleAtoi(digits, &exponent)) {
    return std::clamp(exponent, -kMaxExponent, kMaxExponent);
  }
  return digits.front() == '-' ? -kMaxExponent : kMaxExponent;
}

// Moves zeros at both ends of the digits into the exponent.
void DropZeros(Decimal* number) {
  std::string& digits = number->digits;
  const std::size_t last = digits.find_last_not_of('0');
  if (last == std::string::npos) {
    *number = Decimal();
    return;
  }
  number->exponent += static_cast<std::int64_t>(digits.size() - last - 1);
  digits.resize(last + 1);
  digits.erase(0, digits.find_first_not_of('0'));
}

// Digits of the number without an exponent, or nothing where they are too many.
std::optional<std::string> Plain(const Decimal& number) {
  const std::string sign = number.negative ? "-" : "";
  const auto size = static_cast<std::int64_t>(number.digits.size());
  const auto limit = static_cast<std::int64_t>(kMaxPlainDigits);
  if (number.is_zero()) return "0";
  if (std::max(size, size + number.exponent) > limit || number.exponent < -limit) {
    return std::nullopt;
  }
  if (number.exponent >= 0) {
    return absl::StrCat(sign, number.digits, std::string(number.exponent, '0'));
  }
  const std::int64_t point = size + number.exponent;
  if (point <= 0) return absl::StrCat(sign, "0.", std::string(-point, '0'), number.digits);
  return absl::StrCat(sign, number.digits.substr(0, point), ".", number.digits.substr(point));
}

std::string ScalarKey(const JsonValue& value) {
  if (!value.is_number()) return value.Compact();
  const Decimal number = ReadDecimal(value.text());
  return absl::StrCat(number.negative ? "-" : "", number.digits, "e", number.exponent);
}

std::string ContainerKey(const JsonValue& value, std::vector<std::string> children) {
  if (value.is_array()) return absl::StrCat("[", absl::StrJoin(children, ","), "]");
  std::sort(children.begin(), children.end());
  return absl::StrCat("{", absl::StrJoin(children, ","), "}");
}

}  // namespace

Decimal ReadDecimal(absl::string_view spelling) {
  Decimal number;
  number.negative = spelling.front() == '-';
  if (number.negative) spelling.remove_prefix(1);
  const std::size_t e = spelling.find_first_of("eE");
  if (e != absl::string_view::npos) {
    number.exponent = ReadExponent(spelling.substr(e + 1));
    spelling = spelling.substr(0, e);
  }
  const std::size_t point = spelling.find('.');
  number.digits = std::string(spelling.substr(0, point));
  if (point != absl::string_view::npos) {
    const absl::string_view fraction = spelling.substr(point + 1);
    absl::StrAppend(&number.digits, fraction);
    number.exponent -= static_cast<std::int64_t>(fraction.size());
  }
  DropZeros(&number);
  return number;
}

std::optional<std::uint32_t> AsCount(const Decimal& number) {
  if (number.negative || !number.is_integer()) return std::nullopt;
  if (number.is_zero()) return 0;
  if (static_cast<std::int64_t>(number.digits.size()) + number.exponent > 10) return kMaxCount;
  std::uint64_t count = 0;
  if (!absl::SimpleAtoi(*Plain(number), &count)) return kMaxCount;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, kMaxCount));
}

std::vector<std::string> Spellings(absl::string_view spelling) {
  std::vector<std::string> spellings = {std::string(spelling)};
  std::optional<std::string> plain = Plain(ReadDecimal(spelling));
  if (plain.has_value() && *plain != spelling) spellings.push_back(*std::move(plain));
  return spellings;
}

// Children stand behind their parent in the document, so they are ready when it is reached from the
// back.
std::string EqualityKey(const JsonValue& value) {
  std::vector<std::string> keys(value.subtree_end() - value.id());
  for (JsonId id = value.subtree_end(); id-- > value.id();) {
    const JsonValue node = value.at(id);
    std::string& key = keys[id - value.id()];
    if (!node.is_array() && !node.is_object()) {
      key = ScalarKey(node);
      continue;
    }
    std::vector<std::string> children;
    for (const JsonValue child : node.children()) {
      std::string name;
      if (node.is_object()) AppendJsonString(child.key(), &name);
      children.push_back(
          absl::StrCat(name, node.is_object() ? ":" : "", keys[child.id() - value.id()]));
      keys[child.id() - value.id()].clear();
    }
    key = ContainerKey(node, std::move(children));
  }
  return std::move(keys.front());
}

}  // namespace maskd
