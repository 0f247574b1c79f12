// Reads the right-hand side of a definition in a Lark grammar. No recursion: open brackets are on a
// stack.
//
// Errors   see lark.h.
// Threads  one thread an object.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_LARK_EXPANSION_READER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_LARK_EXPANSION_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/notation/expression_stack.h"
#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// Reads a grammar that stands in this one (%lark), behind its '{' and to past its '}', with so many
// brackets around it; the rule of its start. Who reads definitions hands it in, as a grammar is
// made of definitions.
using NestedGrammarReader = absl::FunctionRef<absl::StatusOr<RuleId>(std::int64_t depth)>;

// Where the right-hand side stands.
struct ExpansionContext {
  // That of a terminal: characters, in which nothing is ignored.
  bool terminal = false;
  // Whether the rules that a rule names must be characters.
  bool needs_characters = false;
  // Whether the rule has an index, which calls and conditions may use.
  bool indexed = false;
  // Those of the template.
  std::vector<std::string> parameters = {};
  // Brackets around it.
  std::int64_t depth = 0;
};

// For one right-hand side.
class ExpansionReader {
 public:
  // All must outlive the reader.
  ExpansionReader(const ExpansionContext& context, const GrammarOptions& options,
                  NestedGrammarReader read_nested, SourceReading* reading, SourceGrammar* grammar);

  // Reads to the end of the definition: a line's end behind which no '|' stands, a '}' that was
  // not opened, or the end of the text. Call it once.
  absl::StatusOr<ExprId> Read();

 private:
  enum class BracketKind : std::uint8_t { kBody, kGroup, kMaybe, kArguments };
  struct Bracket {
    BracketKind kind;
    std::size_t at;
    // What stands in it is part of a terminal.
    bool terminal;
    // A '~' stands before the next value.
    bool negated = false;
    // The alternative has ended; its condition may follow.
    bool ended = false;
    std::optional<std::uint32_t> condition = {};
    // Of kArguments: the template, and its arguments so far.
    SymbolId symbol = 0;
    ExprUse use = ExprUse::kRule;
    std::vector<ExprId> arguments = {};
  };

  [[nodiscard]] Bracket& bracket() { return brackets_.back(); }
  [[nodiscard]] bool InTerminal() const {
    return brackets_.back().terminal || brackets_.back().negated;
  }

  // False at the end of the definition.
  absl::StatusOr<bool> PassToNext();
  absl::Status ReadNext();
  absl::Status ReadOperator(std::uint32_t c);
  absl::Status ReadValue(std::uint32_t c);
  absl::Status ReadCharacters(absl::StatusOr<ExprId> characters);
  absl::Status ReadBytes(std::size_t at, absl::StatusOr<ExprId> bytes);
  absl::Status ReadName();
  absl::Status ReadIndexed(absl::string_view name, std::size_t at);
  absl::Status ReadPercent();
  absl::Status ReadNestedGrammar(std::size_t at);
  absl::Status ReadCondition(std::size_t at);
  absl::Status ReadAlias();
  absl::Status ReadTilde();
  absl::Status ReadCounts(std::size_t at);
  absl::Status ReadRange(std::size_t at, bool braces);

  absl::Status Open(BracketKind kind, std::size_t at);
  absl::Status OpenArguments(absl::string_view name, std::size_t at);
  absl::Status CloseGroup(std::uint32_t closing);
  absl::Status CloseArgument(bool last);
  absl::Status EndAlternative();
  // Adds a value to the sequence.
  absl::Status Push(ExprId value);
  absl::Status Repeat(std::size_t at, std::uint32_t min, std::uint32_t max);
  [[nodiscard]] std::optional<std::uint32_t> ParameterOf(absl::string_view name) const;
  [[nodiscard]] ExprUse UseOf(absl::string_view name) const;

  const ExpansionContext& context_;
  const GrammarOptions& options_;
  const NestedGrammarReader read_nested_;
  SourceReading& reading_;
  PatternCursor& cursor_;
  SourceGrammar& grammar_;
  ExpressionStack stack_;
  std::vector<Bracket> brackets_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_EXPANSION_READER_H_
