#include "grammar_core/frontend/notation/expression_stack.h"

#include <cassert>
#include <utility>

namespace maskd {

void ExpressionStack::Open() { open_.push_back({NextExpression(), {}, {}, {}}); }

void ExpressionStack::Push(ExprId expression) {
  assert(!open_.empty() && expression < grammar_->expressions.size());
  open_.back().sequence.push_back(expression);
  open_.back().sealed = false;
}

std::optional<ExprId> ExpressionStack::Last() const {
  assert(!open_.empty());
  const Bracket& bracket = open_.back();
  if (bracket.sequence.empty() || bracket.sealed) return std::nullopt;
  return bracket.sequence.back();
}

void ExpressionStack::Replace(ExprId replacement, bool sealed) {
  assert(!open_.empty() && !open_.back().sequence.empty());
  open_.back().sequence.back() = replacement;
  open_.back().sealed = sealed;
}

ExprId ExpressionStack::TakeOperand(std::size_t at) {
  assert(!open_.empty());
  const std::vector<ExprId> sequence = std::exchange(open_.back().sequence, {});
  open_.back().sealed = false;
  if (sequence.size() == 1) return sequence.front();
  const std::size_t begin = sequence.empty() ? at : grammar_->expressions[sequence.front()].at;
  return grammar_->Add({.kind = ExprKind::kSequence, .at = begin}, sequence);
}

ExprId ExpressionStack::TakeAlternative(std::size_t at, std::optional<std::uint32_t> condition) {
  ExprId alternative = TakeOperand(at);
  std::vector<ExprId> operands = std::exchange(open_.back().operands, {});
  if (!operands.empty()) {
    operands.push_back(alternative);
    alternative = grammar_->Add({.kind = ExprKind::kBoth, .at = at}, operands);
  }
  if (condition.has_value()) {
    alternative = grammar_->Add(
        {.kind = ExprKind::kIf, .a = *condition, .b = open_.back().alternative_begin, .at = at},
        {alternative});
  }
  return alternative;
}

void ExpressionStack::EndOperand(std::size_t at) {
  const ExprId operand = TakeOperand(at);
  open_.back().operands.push_back(operand);
}

void ExpressionStack::EndAlternative(std::size_t at, std::optional<std::uint32_t> condition) {
  const ExprId alternative = TakeAlternative(at, condition);
  open_.back().alternatives.push_back(alternative);
  open_.back().alternative_begin = NextExpression();
}

ExprId ExpressionStack::Close(std::size_t at, std::optional<std::uint32_t> condition) {
  assert(!open_.empty());
  const ExprId last = TakeAlternative(at, condition);
  std::vector<ExprId> alternatives = std::move(open_.back().alternatives);
  open_.pop_back();
  if (alternatives.empty()) return last;
  alternatives.push_back(last);
  return grammar_->Add({.kind = ExprKind::kChoice, .at = at}, alternatives);
}

}  // namespace maskd
