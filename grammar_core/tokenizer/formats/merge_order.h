// Whether a list of merges says no more than an order of what they make.
//
// Threads  functions without state.
#ifndef MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_MERGE_ORDER_H_
#define MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_MERGE_ORDER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/tokenizer/formats/format.h"

namespace maskd {

// Two pieces that become one, as a file spells them.
struct MergeRule {
  // The merge of a line "LEFT RIGHT"; no pair where it is none.
  static MergeRule FromLine(std::string line);

  [[nodiscard]] bool is_pair() const { return left_bytes > 0 && left_bytes < made.size(); }
  [[nodiscard]] absl::string_view left() const {
    return absl::string_view(made).substr(0, left_bytes);
  }
  [[nodiscard]] absl::string_view right() const {
    return absl::string_view(made).substr(left_bytes);
  }

  std::string made;
  std::size_t left_bytes = 0;
};

// Whether merging neighbours by the lowest id, or by `scores`, does for every text what the list
// says. `rules` say what a text is first cut into and which tokens no merge makes. Their scores are
// set where the list makes tokens in another order than that of ids.
bool ReadMergeOrder(const std::vector<MergeRule>& merges, const RawVocabulary& raw,
                    EncodingRules* rules);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TOKENIZER_FORMATS_MERGE_ORDER_H_
