#include "grammar_core/frontend/notation/line_index.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/str_cat.h"

namespace maskd {

LineIndex::LineIndex(absl::string_view text) : begins_{0} {
  for (std::size_t at = text.find('\n'); at != absl::string_view::npos;
       at = text.find('\n', at + 1)) {
    begins_.push_back(at + 1);
  }
}

std::string LineIndex::Place(std::size_t at) const {
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), at);
  assert(next != begins_.begin());
  return absl::StrCat(next - begins_.begin(), ":", at - *(next - 1) + 1);
}

}  // namespace maskd
