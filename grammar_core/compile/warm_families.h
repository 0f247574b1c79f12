// Masks of what families of models write before anything of a request comes: free text and
// reasoning, the marker that begins a call, what ends reasoning. The names of tools are in no such
// mask, so a request with tools that nobody has sent finds what its first steps are made of.
//
// Bounds   one compile for each family and mode of reasoning, and a mask for each token of a few
//          markers: work that only a new family adds to. The masks are the store's, and go with it.
// Errors   none: a family that a vocabulary cannot write is left out.
// Threads  any.
#ifndef MASKD_GRAMMAR_CORE_COMPILE_WARM_FAMILIES_H_
#define MASKD_GRAMMAR_CORE_COMPILE_WARM_FAMILIES_H_

#include <memory>

#include "grammar_core/compile/tokenizer_space.h"

namespace maskd {

// The number of states whose masks it made or found. For a space that no grammar uses yet: its
// store of schemas is empty afterwards.
int WarmFamilies(const std::shared_ptr<TokenizerSpace>& tokenizer);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_WARM_FAMILIES_H_
