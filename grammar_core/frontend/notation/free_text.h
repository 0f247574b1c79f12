// Texts without certain strings in them, and texts that end with the first of them: what stands
// before and between tags.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_FREE_TEXT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_FREE_TEXT_H_

#include "absl/strings/string_view.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// The texts (characters) in which no text of `strings` occurs. `strings` is a TextSet.
NodeId TextWithout(NodeId strings, IrBuilder& builder);

// The texts that end with `end`, in which no text of `strings` occurs that ends earlier.
NodeId TextUpTo(absl::string_view end, NodeId strings, IrBuilder& builder);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_FREE_TEXT_H_
