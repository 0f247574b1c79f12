// The brackets that are open while a right-hand side is read, with what stands in each so far.
//
// Depth    limits.source_depth brackets at most, which the caller checks by depth().
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_EXPRESSION_STACK_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_EXPRESSION_STACK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "grammar_core/frontend/notation/source_grammar.h"

namespace maskd {

// Shared by the readers of EBNF and Lark, which differ in tokens alone.
class ExpressionStack {
 public:
  // `grammar` must outlive the stack.
  explicit ExpressionStack(SourceGrammar* grammar) : grammar_(grammar) {}

  // Brackets that are open.
  [[nodiscard]] std::int64_t depth() const { return static_cast<std::int64_t>(open_.size()); }

  // Begins a bracket, with an empty sequence in it.
  void Open();
  // Appends to the sequence of the innermost bracket.
  void Push(ExprId expression);
  // The last of the sequence, if it may take an operator: it stands here and has none yet.
  [[nodiscard]] std::optional<ExprId> Last() const;
  // Whether the sequence holds nothing yet.
  [[nodiscard]] bool AtSequenceBegin() const { return open_.back().sequence.empty(); }
  // Makes `replacement` of the last, `sealed` against another operator.
  void Replace(ExprId replacement, bool sealed);
  // Ends the sequence; the next is another operand of the same intersection.
  void EndOperand(std::size_t at);
  // Ends the alternative, which counts only where `condition` holds.
  void EndAlternative(std::size_t at, std::optional<std::uint32_t> condition = {});
  // Ends the bracket: its alternatives as one expression.
  ExprId Close(std::size_t at, std::optional<std::uint32_t> condition = {});

 private:
  struct Bracket {
    // The first expression of the alternative that is being read.
    ExprId alternative_begin;
    std::vector<ExprId> alternatives;
    std::vector<ExprId> operands;
    std::vector<ExprId> sequence;
    bool sealed = false;
  };
  [[nodiscard]] ExprId NextExpression() const {
    return static_cast<ExprId>(grammar_->expressions.size());
  }
  ExprId TakeOperand(std::size_t at);
  ExprId TakeAlternative(std::size_t at, std::optional<std::uint32_t> condition);

  SourceGrammar* const grammar_;
  std::vector<Bracket> open_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_EXPRESSION_STACK_H_
