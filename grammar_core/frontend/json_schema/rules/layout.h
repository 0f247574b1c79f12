// Where white space stands in the JSON of one grammar, and how its strings are written.
//
// On a line   the same space may stand behind each token, so that what may follow an element, a
//             comma or a bracket, is decided by one byte; behind ':' and ',' there may be other.
//             The options white_space, max_whitespace, item_separator and key_separator say which.
// On lines    with the option indent: as json.dumps of Python's standard library lays out values.
//             Each element stands on its own line, indented by its depth; an empty container
//             is two brackets. Exact: no other white space stands anywhere.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_LAYOUT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// One for each grammar; all rules ask it, so that none spells white space itself.
class Layout {
 public:
  // `builder` must outlive this.
  Layout(const GrammarOptions& options, IrBuilder& builder);
  // The same in a builder that goes on from where that of `begun` was.
  Layout(const Layout& begun, IrBuilder& builder)
      : b_(builder),
        indent_(begun.indent_),
        spelling_(begun.spelling_),
        space_(begun.space_),
        after_colon_(begun.after_colon_),
        after_comma_(begun.after_comma_) {}

  // A member of an object, as an element: `name` with its quotes.
  NodeId Member(NodeId name, NodeId value) const;
  // The first element of a container, and one behind another.
  NodeId First(NodeId element) const;
  NodeId Next(NodeId element) const;
  // The same appended to `parts`, behind elements where there are some.
  void Append(NodeId element, std::vector<NodeId>* parts) const;
  // The container that `open`, '[' or '{', begins, of elements made as above. `may_be_empty`: or
  // without them.
  NodeId Container(char open, const std::vector<NodeId>& elements, bool may_be_empty) const;
  // Lays out the members of `spec`,
  // and says how its names are written.
  void Apply(ObjectSpec* spec) const;

  // How the inside of strings is written.
  [[nodiscard]] Spelling spelling() const { return spelling_; }

 private:
  IrBuilder& b_;
  const std::optional<std::uint32_t> indent_;
  const Spelling spelling_;
  NodeId space_;
  NodeId after_colon_;
  NodeId after_comma_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_RULES_LAYOUT_H_
