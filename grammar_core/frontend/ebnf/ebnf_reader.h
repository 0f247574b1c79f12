// Reads the text of a GBNF or EBNF grammar into a SourceGrammar. No recursion: open groups are on a
// stack.
//
// Errors   see ebnf.h.
// Threads  one thread an object.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_EBNF_EBNF_READER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_EBNF_EBNF_READER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/ebnf/dialect.h"
#include "grammar_core/frontend/notation/expression_stack.h"
#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

// Appends definitions to a grammar that GrammarCompiler makes rules of.
class EbnfReader {
 public:
  // Both must outlive the reader.
  EbnfReader(EbnfDialect dialect, SourceReading* reading, SourceGrammar* grammar);

  // Reads the whole text; call it once.
  absl::Status Read();

 private:
  struct Group {
    std::size_t at;
    // "(= ...)": what follows the rule.
    bool lookahead;
  };

  absl::Status ReadRule();
  absl::StatusOr<ExprId> ReadBody();
  // Reads the next element or operator.
  absl::Status ReadNext();
  absl::Status ReadElement(std::uint32_t c);
  absl::Status ReadLiteral();
  absl::Status ReadClass();
  absl::Status ReadToken();
  absl::Status ReadName();
  absl::Status ReadGroupOpening();
  absl::Status CloseGroup();
  absl::Status ReadRepetition(std::uint32_t c);
  absl::Status ReadCounts(std::uint32_t* min, std::uint32_t* max);
  absl::Status CheckNotEmpty() const;

  // Whether the rule that is being read ends here.
  [[nodiscard]] bool AtRuleEnd();
  // Whether a name with "::=" behind it stands here (EBNF).
  [[nodiscard]] bool AtRuleBegin();
  [[nodiscard]] bool AtLineBegin() const;
  // Passes spaces and comments, and ends of lines where they are but space.
  void PassSpace(bool newlines);
  void PassSpaceInRule();
  absl::string_view TakeName();

  [[nodiscard]] bool ebnf() const { return dialect_ == EbnfDialect::kEbnf; }

  const EbnfDialect dialect_;
  SourceReading& reading_;
  PatternCursor& cursor_;
  SourceGrammar& grammar_;
  ExpressionStack stack_;
  std::vector<Group> groups_;
  // How names of rules may be used in the rule that is being read.
  ExprUse use_ = ExprUse::kRule;
  // A lookahead has ended the rule.
  bool ended_ = false;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_EBNF_EBNF_READER_H_
