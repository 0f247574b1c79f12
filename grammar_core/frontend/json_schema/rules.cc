#include "grammar_core/frontend/json_schema/rules.h"

#include <utility>

namespace maskd {

RuleContext::RuleContext(const GrammarOptions& options, IrBuilder& builder, StringFacets& strings,
                         Refuse refuse,
                         std::function<NodeId(const std::vector<JsonId>& schemas)> value)
    : options(options),
      builder(builder),
      strings(strings),
      refuse(std::move(refuse)),
      value(std::move(value)),
      space(SpaceRule(options, builder)),
      number(AnyNumberRule(options, builder)) {}

NodeId SpaceRule(const GrammarOptions& options, IrBuilder& builder) {
  if (options.white_space == WhiteSpace::kCompact) return builder.Empty();
  return builder.Repeat(builder.AnyByteOf(" \t\n\r"), 0,
                        static_cast<std::uint32_t>(options.max_whitespace));
}

}  // namespace maskd
