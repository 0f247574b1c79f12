#include "grammar_core/frontend/json_schema/rules.h"

#include <utility>

namespace maskd {

NodeId SpaceRule(const GrammarOptions& options, IrBuilder& builder) {
  if (options.white_space == WhiteSpace::kCompact) return builder.Empty();
  return builder.Repeat(builder.AnyByteOf(" \t\n\r"), 0,
                        static_cast<std::uint32_t>(options.max_whitespace));
}

}  // namespace maskd
