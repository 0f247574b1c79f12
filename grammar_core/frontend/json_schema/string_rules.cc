#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/rules.h"

namespace maskd {

absl::StatusOr<NodeId> StringRule(const MergedSchema& schema, RuleContext& context) {
  const CountRange& length = schema.length;
  if (length.empty()) {
    return InvalidAt(length.max_at->Pointer(),
                     absl::StrCat(length.max, " is less than minLength ", length.min));
  }
  IrBuilder& b = context.builder;
  const NodeId characters = b.Repeat(b.AnyChar(), length.min, length.max);
  return b.Concat({b.Bytes("\""), b.Encode(Spelling::kJsonString, characters), b.Bytes("\"")});
}

}  // namespace maskd
