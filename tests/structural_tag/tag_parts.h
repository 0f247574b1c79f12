// What the parts of a structural tag are given, each by its name, and the grammar of one node.
#ifndef MASKD_TESTS_STRUCTURAL_TAG_TAG_PARTS_H_
#define MASKD_TESTS_STRUCTURAL_TAG_TAG_PARTS_H_

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/structural_tag/embedded.h"
#include "grammar_core/tokenizer/marker_table.h"
#include "tests/frontend/ir_recognizer.h"

namespace maskd {

inline constexpr TokenId kCallToken = 256;
inline constexpr TokenId kEndToken = 257;

// Bytes without '~', and the markers <call> and </call>.
inline const MarkerTable& CallMarkers() {
  static const auto* const table = [] {
    std::vector<Vocabulary::Token> tokens;
    for (int byte = 0; byte < 256; ++byte)
      tokens.push_back({std::string(1, static_cast<char>(byte))});
    tokens['~'].bytes.clear();
    tokens.insert(tokens.end(), {{"<call>", true}, {"</call>", true}, {"the end", true}});
    return new MarkerTable(*Vocabulary::Create("calls", std::move(tokens), {258}, {}));
  }();
  return *table;
}

// Of one tag; nothing can be made any more behind GrammarOf().
struct TagParts {
  Limits limits;
  Budget budget = Budget::Unlimited();
  GrammarSource source = {"structural_tag", "{}"};
  IrBuilder builder{limits};
  ReadResult result;
  MarkerSpeller speller;
  EmbeddedGrammars embedded;
  std::deque<JsonDocument> documents;

  explicit TagParts(const MarkerTable* markers = nullptr)
      : speller(markers, builder),
        embedded(source, nullptr, limits, budget, builder, speller, result) {}
  TagParts(const TagParts&) = delete;
  TagParts& operator=(const TagParts&) = delete;

  // The JSON text as a value, which lives as long as this.
  JsonValue Value(absl::string_view json) {
    documents.push_back(*JsonDocument::Parse(json, limits));
    return documents.back().root();
  }

  GrammarIr GrammarOf(NodeId node) {
    const RuleId rule = builder.DeclareRule("all", "");
    builder.DefineRule(rule, node);
    return *std::move(builder).Build(rule);
  }
};

// Every text of up to `length` of the bytes of `alphabet`, the empty one first.
inline std::vector<std::string> TextsOver(absl::string_view alphabet, std::size_t length) {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size() && texts[i].size() < length; ++i) {
    for (const char byte : alphabet) {
      std::string longer = texts[i];
      longer.push_back(byte);
      texts.push_back(std::move(longer));
    }
  }
  return texts;
}

}  // namespace maskd

#endif  // MASKD_TESTS_STRUCTURAL_TAG_TAG_PARTS_H_
