#include "grammar_core/ir/ir_bytes.h"

#include <optional>

#include "grammar_core/base/held_bytes.h"

namespace maskd {
namespace {

std::int64_t OfDecimal(const Decimal& number) { return HeldBytes(number.digits); }

std::int64_t OfInterval(const NumberInterval& interval) {
  std::int64_t bytes = 0;
  for (const std::optional<Decimal>* const end : {&interval.min, &interval.max})
    if (end->has_value()) bytes += OfDecimal(**end);
  return bytes;
}

std::int64_t OfNumber(const NumberSpec& spec) {
  return HeldBytes(spec.intervals, OfInterval) + HeldBytes(spec.multiple_of, OfDecimal) +
         HeldBytes(spec.not_multiple_of, OfDecimal);
}

std::int64_t OfTokens(const TokenSpec& spec) {
  return HeldBytes(spec.names, [](const std::string& name) { return HeldBytes(name); }) +
         HeldBytes(spec.ids) + HeldBytes(spec.place);
}

std::int64_t OfMember(const ObjectSpec::Member& member) {
  return HeldBytes(member.name) +
         HeldBytes(member.ways, [](const ObjectSpec::Way& way) { return HeldBytes(way.marks); });
}

std::int64_t OfObject(const ObjectSpec& spec) {
  return HeldBytes(spec.members, OfMember) +
         HeldBytes(spec.others,
                   [](const ObjectSpec::Others& others) { return HeldBytes(others.marks); }) +
         HeldBytes(spec.conditions, [](const ObjectSpec::Condition& condition) {
           return HeldBytes(condition.some) + HeldBytes(condition.unless_all);
         });
}

}  // namespace

std::int64_t HeldBytes(const GrammarIr& ir) {
  const auto of_text = [](const auto& text) { return HeldBytes(text); };
  const auto of_rule = [](const IrRule& rule) {
    return HeldBytes(rule.name) + HeldBytes(rule.place);
  };
  const auto of_text_set = [&](const auto& texts) { return HeldBytes(texts, of_text); };
  const auto of_char_set = [](const CharSet& set) { return HeldBytes(set.ranges()); };
  const auto of_distinct = [](const DistinctSpec& spec) {
    return HeldBytes(spec.place) + HeldBytes(spec.keyword);
  };
  return HeldBytes(ir.nodes) + HeldBytes(ir.children) + HeldBytes(ir.rules, of_rule) +
         HeldBytes(ir.byte_strings, of_text) + HeldBytes(ir.byte_sets) +
         HeldBytes(ir.token_specs, OfTokens) + HeldBytes(ir.texts, of_text) +
         HeldBytes(ir.text_sets, of_text_set) + HeldBytes(ir.char_sets, of_char_set) +
         HeldBytes(ir.numbers, OfNumber) + HeldBytes(ir.objects, OfObject) +
         HeldBytes(ir.distinct, of_distinct);
}

}  // namespace maskd
