#include "grammar_core/frontend/json_schema/rules.h"

#include <utility>

namespace maskd {

namespace {

NodeId FreeSpace(const GrammarOptions& options, IrBuilder& builder) {
  if (options.white_space == WhiteSpace::kCompact) return builder.Empty();
  return builder.Repeat(builder.AnyByteOf(" \t\n\r"), 0,
                        static_cast<std::uint32_t>(options.max_whitespace));
}

}  // namespace

NodeId SpaceRule(const GrammarOptions& options, IrBuilder& builder) {
  const bool exact = options.item_separator.has_value() || options.key_separator.has_value();
  return exact ? builder.Empty() : FreeSpace(options, builder);
}

NodeId SpaceBehind(const std::optional<std::string>& separator, const GrammarOptions& options,
                   IrBuilder& builder) {
  if (!separator.has_value()) return FreeSpace(options, builder);
  return separator->size() > 1 ? builder.Bytes(separator->substr(1)) : builder.Empty();
}

}  // namespace maskd
