#include "grammar_core/frontend/json_schema/rules/layout.h"

#include <string>

#include "absl/strings/string_view.h"

namespace maskd {
namespace {

NodeId FreeSpace(const GrammarOptions& options, IrBuilder& builder) {
  if (options.white_space == WhiteSpace::kCompact) return builder.Empty();
  return builder.Repeat(builder.AnyByteOf(" \t\n\r"), 0,
                        static_cast<std::uint32_t>(options.max_whitespace));
}

// White space where no separator decides.
NodeId SpaceRule(const GrammarOptions& options, IrBuilder& builder) {
  const bool exact = options.item_separator.has_value() || options.key_separator.has_value() ||
                     options.indent.has_value();
  return exact ? builder.Empty() : FreeSpace(options, builder);
}

// That behind `separator`; `indented`: on lines, where it is not given.
NodeId SpaceBehind(const std::optional<std::string>& separator, absl::string_view indented,
                   const GrammarOptions& options, IrBuilder& builder) {
  if (separator.has_value()) return builder.Bytes(absl::string_view(*separator).substr(1));
  return options.indent.has_value() ? builder.Bytes(indented) : FreeSpace(options, builder);
}

}  // namespace

Layout::Layout(const GrammarOptions& options, IrBuilder& builder)
    : b_(builder),
      indent_(options.indent),
      spelling_(options.spelling == JsonSpelling::kCanonical ? Spelling::kCanonicalJson
                                                             : Spelling::kJsonString),
      space_(SpaceRule(options, builder)),
      after_colon_(SpaceBehind(options.key_separator, " ", options, builder)),
      after_comma_(SpaceBehind(options.item_separator, "", options, builder)) {}

NodeId Layout::Member(NodeId name, NodeId value) const {
  return b_.Concat({name, space_, b_.Bytes(":"), after_colon_, value});
}

NodeId Layout::First(NodeId element) const {
  std::vector<NodeId> parts;
  Append(element, &parts);
  return b_.Concat(parts);
}

NodeId Layout::Next(NodeId element) const {
  std::vector<NodeId> parts = {b_.Empty()};
  Append(element, &parts);
  return b_.Concat(parts);
}

// The comma belongs to the element behind it, and white space to what it follows. So a list of
// elements is a plain concatenation, and an element that is left out takes its comma with it.
void Layout::Append(NodeId element, std::vector<NodeId>* parts) const {
  if (!parts->empty()) parts->insert(parts->end(), {b_.Bytes(","), after_comma_});
  if (indent_.has_value()) parts->push_back(b_.Break(*indent_));
  parts->insert(parts->end(), {element, space_});
}

// An empty container has no line of its own. With an indentation it is one of two forms, which no
// element can decide, so the choice is made here.
NodeId Layout::Container(char open, const std::vector<NodeId>& elements, bool may_be_empty) const {
  const std::string brackets = {open, open == '{' ? '}' : ']'};
  if (indent_.has_value()) {
    const NodeId none = b_.Bytes(brackets);
    if (elements.empty()) return none;
    const NodeId some = b_.Block(open, b_.Concat(elements), *indent_);
    return may_be_empty ? b_.Alt({none, some}) : some;
  }
  std::vector<NodeId> parts = {b_.Bytes(brackets.substr(0, 1)), space_};
  if (may_be_empty)
    parts.push_back(b_.Optional(b_.Concat(elements)));
  else
    parts.insert(parts.end(), elements.begin(), elements.end());
  parts.push_back(b_.Bytes(brackets.substr(1)));
  return b_.Concat(parts);
}

void Layout::Apply(ObjectSpec* spec) const {
  spec->spelling = spelling_;
  spec->space = space_;
  spec->after_colon = after_colon_;
  spec->after_comma = after_comma_;
  if (indent_.has_value()) spec->indent = *indent_;
}

}  // namespace maskd
