// From the formats of a structural tag to IR.
//
// Ends     free text in a tag holds none of the tag's ends, so the first one that comes is the end;
//          the same of tokens. Only the innermost tag counts.
// Depth    no recursion: formats within are made before those around them.
// Errors   INVALID_ARGUMENT at a JSON Pointer, those of the grammars within, of the budget and of
//          the builder.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FORMAT_COMPILER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FORMAT_COMPILER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/frontend/structural_tag/embedded.h"
#include "grammar_core/frontend/structural_tag/format.h"
#include "grammar_core/frontend/structural_tag/marker_speller.h"
#include "grammar_core/frontend/structural_tag/text_dispatch.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

class FormatCompiler {
 public:
  // All must outlive this.
  FormatCompiler(const std::vector<Format>& formats, const GrammarSource& source,
                 const MarkerTable* markers, const Limits& limits, Budget& budget);

  absl::StatusOr<ReadResult> Compile() &&;

 private:
  using Made = absl::StatusOr<NodeId>;

  Made Make(FormatId id);
  Made ConstString(const Format& format);
  Made JsonSchema(const Format& format);
  Made QwenXmlParameter(const Format& format);
  Made StructureSchema(const Format& format);
  Made SchemaAt(const Format& format, absl::string_view key, const SchemaWriting& writing);
  Made Pattern(const Format& format);
  Made Rules(const Format& format);
  Made AnyText(const Format& format);
  Made Repeat(const Format& format);
  Made Tag(FormatId id);
  Made TriggeredTags(const Format& format);
  Made TagsWithSeparator(const Format& format);
  Made TextRules(const Format& format);
  Made Token(const Format& format);
  Made ExcludeToken(const Format& format);
  Made AnyTokens(const Format& format);
  Made TokenTriggeredTags(const Format& format);
  Made TokenRules(const Format& format);

  // How tags with triggers go on.
  struct Flow {
    bool at_least_one = false;
    bool stop_after_first = false;
  };
  static absl::StatusOr<Flow> FlowOf(const Format& format);
  // `dispatch`: free text with tags in it.
  Made WithFlow(const Flow& flow, NodeId one, NodeId dispatch);

  NodeId PartOf(const Format& format) const { return nodes_[format.parts.front()]; }
  // Of a type that says nothing but what is in it.
  NodeId Composite(const Format& format);
  NodeId AnyPart(const Format& format);
  absl::StatusOr<SchemaWriting> WritingOf(const Format& format);
  // A token that a format names.
  NodeId NamedToken(TokenSpec token);
  // What free text at `format` does not hold: what it says under "excludes", and the tag's ends.
  absl::StatusOr<std::vector<std::string>> ExcludedTexts(const Format& format);
  // The texts that end the innermost tag around it; those with a marker are in no text anyhow.
  std::vector<std::string> TagEnds(const Format& format) const;
  absl::StatusOr<TokenSpec> ExcludedTokens(const Format& format) const;
  NodeId AllTokensBut(TokenSpec excluded);

  const std::vector<Format>& formats_;
  const GrammarSource& source_;
  Budget& budget_;
  IrBuilder builder_;
  ReadResult result_;
  MarkerSpeller speller_;
  EmbeddedGrammars embedded_;
  std::vector<NodeId> nodes_;  // by format
  std::vector<NodeId> tails_;  // of tags: what stands behind the begin
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FORMAT_COMPILER_H_
