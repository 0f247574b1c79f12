// Reads the text of a Lark grammar and makes its rules. No recursion, except for grammars in
// grammars (%lark): open brackets are on a stack.
//
// Errors   see lark.h.
// Threads  one thread an object.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_READER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/lark/expansion_reader.h"
#include "grammar_core/frontend/lark/rule_attributes.h"
#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/frontend/notation/source_reading.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// For one grammar, the whole text or one in braces.
class LarkReader {
 public:
  // `depth` is that of the brackets around the grammar: 0 for the whole text, which ends with the
  // text; a grammar deeper in ends with a '}', which is passed. `reading` must outlive the reader.
  LarkReader(const GrammarOptions& options, std::int64_t depth, SourceReading* reading);

  // Reads the grammar; the rule of its start. Call it once.
  absl::StatusOr<RuleId> Read();
  // What was read, behind Read().
  [[nodiscard]] const SourceGrammar& grammar() const { return grammar_; }

 private:
  // What stands before the ':' of a definition.
  struct Header {
    std::string name;
    std::size_t at;
    std::vector<std::string> parameters;
    bool indexed = false;
    RuleAttributes attributes;
  };
  // What a definition does to one of the same name.
  enum class Mode : std::uint8_t { kNew, kOverride, kExtend };

  [[nodiscard]] bool AtEnd() const;
  absl::Status ReadItem();
  absl::Status ReadDirective();
  absl::Status ReadImport();
  absl::Status ReadImportedNames();
  absl::Status ImportTerminal(absl::string_view name, std::size_t at, absl::string_view as);
  absl::Status ReadIgnore(std::size_t at);
  absl::Status EndIgnored();

  absl::Status ReadDefinition(Mode mode);
  absl::StatusOr<Header> ReadHeader();
  // The temperature of the rule that the text begins with; a warning for any other's.
  void BookTemperature(const Header& header);
  absl::Status ReadParameters(Header* header);
  absl::Status ReadPriority();
  absl::Status CheckMode(Mode mode, const Header& header) const;
  absl::StatusOr<ExprId> ReadBody(const Header& header);
  // The right-hand side that the text goes on with, and the grammars in it.
  absl::StatusOr<ExprId> ReadExpansion(const ExpansionContext& context);
  // The alternatives of `header` and, after them, those of its definition before.
  ExprId Extended(ExprId body, const Header& header);
  absl::Status PassItemEnd() const;

  const GrammarOptions& options_;
  const std::int64_t depth_;
  SourceReading& reading_;
  PatternCursor& cursor_;
  SourceGrammar grammar_;
  // Definitions of what is ignored, and of terminals that were imported.
  std::vector<SymbolId> ignored_;
  absl::flat_hash_map<std::string, std::string> imported_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_LARK_LARK_READER_H_
