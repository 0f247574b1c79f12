// A caller that knows all texts of its grammar.
#ifndef MASKD_TESTS_REASONS_BEGINS_ONE_OF_H_
#define MASKD_TESTS_REASONS_BEGINS_ONE_OF_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "reasons/viable_parts.h"

namespace maskd::reasons {

// Says what may follow by a list of whole texts.
inline IsViable BeginsOneOf(std::vector<std::string> texts) {
  return [texts = std::move(texts)](absl::string_view begin) {
    for (const std::string& text : texts)
      if (absl::string_view(text).substr(0, begin.size()) == begin) return true;
    return false;
  };
}

}  // namespace maskd::reasons

#endif  // MASKD_TESTS_REASONS_BEGINS_ONE_OF_H_
