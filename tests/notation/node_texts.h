// The short texts of a node of characters, for tests of what makes such nodes.
#ifndef MASKD_TESTS_NOTATION_NODE_TEXTS_H_
#define MASKD_TESTS_NOTATION_NODE_TEXTS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/text_match.h"

namespace maskd {

// Every text of up to `max_length` of the letters, which are ASCII.
inline std::vector<std::string> LetterTexts(absl::string_view letters, std::size_t max_length) {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() == max_length) break;
    for (const char letter : letters) texts.push_back(texts[i] + letter);
  }
  return texts;
}

// Those of them that the node has.
inline std::set<std::string> TextsOfNode(const IrBuilder& builder, NodeId node,
                                         const std::vector<std::string>& candidates) {
  std::set<std::string> texts;
  Budget budget = Budget::Unlimited();
  for (const std::string& text : candidates)
    if (*MatchesText(builder.ir(), node, *Utf8ToCodePoints(text), budget)) texts.insert(text);
  return texts;
}

}  // namespace maskd

#endif  // MASKD_TESTS_NOTATION_NODE_TEXTS_H_
