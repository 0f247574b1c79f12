// Where the lines of a text begin: line:column of any byte, without a walk over the text.
//
// Units    lines and columns from 1; columns count bytes.
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_LINE_INDEX_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_LINE_INDEX_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace maskd {

// Eight bytes a line; a place costs a binary search.
class LineIndex {
 public:
  // One pass; the text is not kept.
  explicit LineIndex(absl::string_view text);

  // "line:column" of the byte at `at`.
  [[nodiscard]] std::string Place(std::size_t at) const;

 private:
  std::vector<std::size_t> begins_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_LINE_INDEX_H_
