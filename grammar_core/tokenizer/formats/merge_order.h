// Whether a list of merges says no more than the ids of what they make.
//
// Threads  a function without state.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_MERGE_ORDER_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_MERGE_ORDER_H_

#include <string>
#include <vector>

#include "grammar_core/tokenizer/formats/format.h"

namespace maskd {

// Whether merging neighbours by the lowest id does what the list says: it is in the order of ids,
// and makes every piece that two others spell. `made` has the piece that each merge makes.
bool MergesAreByIds(const std::vector<std::string>& made, const RawVocabulary& raw,
                    EncodingRules::Symbols symbols);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_MERGE_ORDER_H_
