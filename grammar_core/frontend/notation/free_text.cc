#include "grammar_core/frontend/notation/free_text.h"

namespace maskd {

NodeId TextWithout(NodeId strings, IrBuilder& builder) {
  const NodeId anything = builder.Repeat(builder.AnyChar(), 0, kUnbounded);
  return builder.Not(builder.Concat({anything, strings, anything}));
}

NodeId TextUpTo(absl::string_view end, NodeId strings, IrBuilder& builder) {
  const NodeId anything = builder.Repeat(builder.AnyChar(), 0, kUnbounded);
  const NodeId something = builder.Repeat(builder.AnyChar(), 1, kUnbounded);
  const NodeId earlier = builder.Concat({anything, strings, something});
  return builder.And({builder.Concat({anything, builder.Text(end)}), builder.Not(earlier)});
}

}  // namespace maskd
