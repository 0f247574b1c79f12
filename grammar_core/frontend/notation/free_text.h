// Texts without certain strings in them, and texts that end with the first of them: what stands
// before and between tags.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_FREE_TEXT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_FREE_TEXT_H_

#include <string>
#include <vector>

#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// The texts (characters) in which none of `strings` occurs.
NodeId TextWithout(const std::vector<std::string>& strings, IrBuilder& builder);

// The texts that end with `end`, in which none of `strings`, `end` included, occurs earlier.
NodeId TextUpTo(const std::string& end, const std::vector<std::string>& strings,
                IrBuilder& builder);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_FREE_TEXT_H_
