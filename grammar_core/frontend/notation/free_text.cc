#include "grammar_core/frontend/notation/free_text.h"

namespace maskd {

NodeId TextWithout(const std::vector<std::string>& strings, IrBuilder& builder) {
  const NodeId anything = builder.Repeat(builder.AnyChar(), 0, kUnbounded);
  return builder.Not(builder.Concat({anything, builder.TextSet(strings), anything}));
}

NodeId TextUpTo(const std::string& end, const std::vector<std::string>& strings,
                IrBuilder& builder) {
  const NodeId anything = builder.Repeat(builder.AnyChar(), 0, kUnbounded);
  const NodeId something = builder.Repeat(builder.AnyChar(), 1, kUnbounded);
  const NodeId earlier = builder.Concat({anything, builder.TextSet(strings), something});
  return builder.And({builder.Concat({anything, builder.Text(end)}), builder.Not(earlier)});
}

}  // namespace maskd
