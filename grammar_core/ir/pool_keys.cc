#include "grammar_core/ir/pool_keys.h"

#include <utility>

namespace maskd {

void AppendNumber(std::uint32_t value, std::string* key) {
  key->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendText(absl::string_view text, std::string* key) {
  AppendNumber(static_cast<std::uint32_t>(text.size()), key);
  key->append(text.data(), text.size());
}

void AppendText(const std::u32string& text, std::string* key) {
  AppendText(
      absl::string_view(reinterpret_cast<const char*>(text.data()), text.size() * sizeof(char32_t)),
      key);
}

// The key of a pool entry begins with its kind, so that one map serves all pools.
std::string PoolKey(IrKind kind, std::string memory) {
  memory.assign(1, static_cast<char>(kind));
  return memory;
}

namespace {

void AppendNumbers(const std::vector<std::uint32_t>& values, std::string* key) {
  AppendNumber(static_cast<std::uint32_t>(values.size()), key);
  for (const std::uint32_t value : values) AppendNumber(value, key);
}

void AppendDecimal(const Decimal& number, std::string* key) {
  const auto& [negative, digits, exponent] = number;
  key->push_back(negative ? 1 : 0);
  key->append(reinterpret_cast<const char*>(&exponent), sizeof(exponent));
  AppendText(digits, key);
}

void AppendMember(const ObjectSpec::Member& member, std::string* key) {
  AppendText(member.name, key);
  AppendNumber(member.value, key);
  key->push_back(static_cast<char>((member.required ? 1 : 0) | (member.bare ? 2 : 0)));
  AppendNumber(static_cast<std::uint32_t>(member.ways.size()), key);
  for (const ObjectSpec::Way& way : member.ways) {
    AppendNumber(way.value, key);
    AppendNumbers(way.marks, key);
  }
}

}  // namespace

std::string ObjectKey(const ObjectSpec& spec, std::string memory) {
  constexpr std::size_t kFixedBytes = 64;
  constexpr std::size_t kBytesAMember = 32;
  std::string key = PoolKey(IrKind::kObject, std::move(memory));
  key.reserve(kFixedBytes + kBytesAMember * (spec.members.size() + spec.others.size()));
  for (const std::uint32_t number : {spec.space, spec.space_after_colon(), spec.space_after_comma(),
                                     spec.min_members, spec.max_members, spec.indent}) {
    AppendNumber(number, &key);
  }
  key.push_back(static_cast<char>((spec.any_order ? 1 : 0) | (spec.is_array ? 2 : 0)));
  key.push_back(static_cast<char>(spec.spelling));
  AppendNumber(static_cast<std::uint32_t>(spec.members.size()), &key);
  for (const ObjectSpec::Member& member : spec.members) AppendMember(member, &key);
  AppendNumber(static_cast<std::uint32_t>(spec.others.size()), &key);
  for (const ObjectSpec::Others& others : spec.others) {
    AppendNumber(others.name, &key);
    AppendNumber(others.value, &key);
    AppendNumbers(others.marks, &key);
  }
  for (const ObjectSpec::Condition& condition : spec.conditions) {
    AppendNumbers(condition.some, &key);
    AppendNumbers(condition.unless_all, &key);
  }
  return key;
}

std::string NumberKey(const NumberSpec& spec, std::string memory) {
  const auto& [intervals, multiple_of, not_multiple_of, integer_digits, fraction_digits,
               exponent_digits, notation] = spec;
  constexpr std::size_t kUsualBytes = 96;
  std::string key = PoolKey(IrKind::kNumber, std::move(memory));
  key.reserve(kUsualBytes);
  key.push_back(static_cast<char>(notation));
  AppendNumber(integer_digits, &key);
  AppendNumber(fraction_digits, &key);
  AppendNumber(exponent_digits, &key);
  AppendNumber(static_cast<std::uint32_t>(intervals.size()), &key);
  for (const auto& [min, max, min_open, max_open] : intervals) {
    key.push_back(static_cast<char>((min_open ? 1 : 0) | (max_open ? 2 : 0) |
                                    (min.has_value() ? 4 : 0) | (max.has_value() ? 8 : 0)));
    if (min.has_value()) AppendDecimal(*min, &key);
    if (max.has_value()) AppendDecimal(*max, &key);
  }
  AppendNumber(static_cast<std::uint32_t>(multiple_of.size()), &key);
  for (const Decimal& step : multiple_of) AppendDecimal(step, &key);
  for (const Decimal& step : not_multiple_of) AppendDecimal(step, &key);
  return key;
}

std::string TokensKey(const TokenSpec& spec) {
  std::string key = PoolKey(IrKind::kTokens);
  key.push_back(static_cast<char>((spec.negated ? 1 : 0) | (spec.any_name ? 2 : 0)));
  AppendText(spec.place, &key);
  AppendNumber(static_cast<std::uint32_t>(spec.ids.size()), &key);
  for (const auto& [first, last] : spec.ids) {
    AppendNumber(first, &key);
    AppendNumber(last, &key);
  }
  for (const std::string& name : spec.names) AppendText(name, &key);
  return key;
}

}  // namespace maskd
