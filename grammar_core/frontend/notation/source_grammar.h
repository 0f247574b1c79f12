// A grammar as its text has it: definitions and their right-hand sides, before any of it is IR.
//
// Layout   expressions are numbered in the order of their making, so children have smaller numbers
//          than their parents; those of one definition are [first, body]. What is made of a
//          definition is made in a loop.
// Names    a name is a symbol from its first mention on; its definition may come later.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SOURCE_GRAMMAR_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SOURCE_GRAMMAR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/notation/rule_index.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

using ExprId = std::uint32_t;
using SymbolId = std::uint32_t;

// What an expression is. `a` and `b` of Expression mean what stands here.
enum class ExprKind : std::uint8_t {
  kCharacters,  // a node of characters: `a`; `b` as Part::size
  kBytes,       // a node of bytes: `a`
  kName,        // the symbol `a`; its arguments, where it is a template, are the children
  kIndexed,     // the symbol `a` with the index that index_steps[b] makes
  kParameter,   // the parameter `a` of the template around it
  kSequence,    // the children in order
  kChoice,      // any child
  kRepeat,      // the child, `a` to `b` times
  kIf,          // the child, of the expressions from `b` on, where index_conditions[a] holds
  kLexeme,      // the child, then what the grammar ignores
  kLimited,     // the child, ending within `a` tokens if it may
  // Characters only.
  kBoth,      // what every child matches
  kNot,       // what the child does not match
  kShortest,  // the texts of the child that do not begin with a shorter one
  kAtMost,    // the texts of the child that end at its first end from `a` characters on
};

// How what a kName, kIndexed or kParameter stands for may be used.
enum class ExprUse : std::uint8_t {
  kRule,        // as it is
  kCharacters,  // within characters: it must be characters
  kLexeme,      // it must be characters, and what the grammar ignores may follow
};

// One node of a right-hand side.
struct Expression {
  ExprKind kind;
  ExprUse use = ExprUse::kRule;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  // Children: [first_child, first_child + child_count) of SourceGrammar::children.
  std::uint32_t first_child = 0;
  std::uint32_t child_count = 0;
  // Its byte in the source.
  std::size_t at = 0;
};

// A rule, terminal or template.
struct Definition {
  SymbolId symbol;
  std::size_t at;  // the byte in the source where the name stands
  ExprId first;
  ExprId body;
  // A terminal's texts are characters, in which nothing is ignored; it may not contain itself.
  bool terminal = false;
  // How many parameters a template has; 0: it is none.
  std::uint32_t parameters = 0;
  // Whether it has an index.
  bool indexed = false;
};

// Filled by a reader, read by GrammarCompiler; no name need be defined before it is used.
struct SourceGrammar {
  std::vector<Expression> expressions;
  std::vector<ExprId> children;
  std::vector<std::string> names;  // by symbol
  absl::flat_hash_map<std::string, SymbolId> symbols;
  // The definition of each symbol that has one: an index into `definitions`.
  std::vector<std::optional<std::uint32_t>> definition_of;
  std::vector<Definition> definitions;
  std::vector<IndexStep> index_steps;
  std::vector<IndexCondition> index_conditions;
  // What may stand behind every lexeme, any number of times unless `ignore_once`, and, with
  // `ignore_first`, before the first. An index into `definitions`.
  std::optional<std::uint32_t> ignored;
  bool ignore_once = false;
  bool ignore_first = false;

  // The number of the name, given now where it has none.
  SymbolId Symbol(absl::string_view name);
  // The definition of `name`, or null.
  [[nodiscard]] const Definition* Find(absl::string_view name) const;

  // The expression's number. The children are copied.
  ExprId Add(Expression expression, const std::vector<ExprId>& expression_children = {});
  // Makes `definition` its symbol's.
  void Define(const Definition& definition);
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_SOURCE_GRAMMAR_H_
