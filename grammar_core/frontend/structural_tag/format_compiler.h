// From the formats of a structural tag to IR.
//
// Ends     free text in a tag holds none of the tag's ends, nor begins one that ends before the end
//          behind it, so the first that comes is the end; the same of tokens. Only the innermost
//          tag counts.
// Depth    no recursion: formats within are made before those around them.
// Errors   INVALID_ARGUMENT at a JSON Pointer, those of the grammars within, of the budget and of
//          the builder.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FORMAT_COMPILER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FORMAT_COMPILER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/read_context.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/frontend/structural_tag/embedded.h"
#include "grammar_core/frontend/structural_tag/format.h"
#include "grammar_core/frontend/structural_tag/marker_speller.h"
#include "grammar_core/frontend/structural_tag/text_dispatch.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// For one structural tag: Compile() once.
class FormatCompiler {
 public:
  // All must outlive this.
  FormatCompiler(const std::vector<TagFormat>& formats, const GrammarSource& source,
                 const ReadContext& context, const Limits& limits, Budget& budget);

  // The grammar of the whole text.
  absl::StatusOr<ReadResult> Compile() &&;

 private:
  using Made = absl::StatusOr<NodeId>;

  Made Make(FormatId id);
  Made ConstString(const TagFormat& format);
  Made JsonSchema(const TagFormat& format);
  Made QwenXmlParameter(const TagFormat& format);
  Made StructureSchema(const TagFormat& format);
  Made SchemaAt(const TagFormat& format, absl::string_view key,
                const EmbeddedGrammars::Writing& writing);
  Made Pattern(const TagFormat& format);
  Made Rules(const TagFormat& format);
  Made AnyText(const TagFormat& format);
  Made Repeat(const TagFormat& format);
  Made Tag(FormatId id);
  Made TriggeredTags(const TagFormat& format);
  Made TagsWithSeparator(const TagFormat& format);
  Made TextRules(const TagFormat& format);
  Made Token(const TagFormat& format);
  Made ExcludeToken(const TagFormat& format);
  Made AnyTokens(const TagFormat& format);
  Made TokenTriggeredTags(const TagFormat& format);
  Made TokenRules(const TagFormat& format);

  // How tags with triggers go on.
  struct Flow {
    bool at_least_one = false;
    bool stop_after_first = false;
  };
  static absl::StatusOr<Flow> FlowOf(const TagFormat& format);
  // `dispatch`: free text with tags in it.
  Made WithFlow(const Flow& flow, NodeId one, NodeId dispatch);

  NodeId PartOf(const TagFormat& format) const { return nodes_[format.parts.front()]; }
  std::vector<NodeId> PartsOf(const TagFormat& format) const {
    std::vector<NodeId> parts;
    for (const FormatId part : format.parts) parts.push_back(nodes_[part]);
    return parts;
  }
  // For a type that says nothing but what is in it.
  NodeId Composite(const TagFormat& format);
  NodeId AnyPart(const TagFormat& format);
  void LookAhead(const TagFormat& format, const EmbeddedGrammars::Writing& writing);
  absl::StatusOr<SchemaWriting> WritingAt(const TagFormat& format);
  // With the ends of the tag around it.
  absl::StatusOr<const EmbeddedGrammars::Writing*> WritingOf(const TagFormat& format);
  // A token that a format names.
  NodeId NamedToken(TokenSpec token);
  // What free text at `format` does not hold: what it says under "excludes", and the tag's ends.
  absl::StatusOr<std::vector<std::string>> ExcludedTexts(const TagFormat& format);
  // The texts that end the innermost tag around it; those with a marker are in no text anyhow.
  std::vector<std::string> TagEnds(const TagFormat& format) const;
  // What stands behind the begin of a tag.
  Made TailOf(const TagFormat& tag);
  // The content of a tag; free text at its end does not end with one of `last`.
  Made ContentBefore(FormatId content, const std::vector<std::string>& last);
  absl::StatusOr<TokenSpec> ExcludedTokens(const TagFormat& format) const;
  NodeId AllTokensBut(TokenSpec excluded);

  const std::vector<TagFormat>& formats_;
  const GrammarSource& source_;
  Budget& budget_;
  IrBuilder builder_;
  ReadResult result_;
  MarkerSpeller speller_;
  EmbeddedGrammars embedded_;
  std::vector<NodeId> nodes_;  // by format
  std::vector<NodeId> tails_;  // of tags: what stands behind the begin
  // BeginningsOfSoonerEnds() by the ends, which many tags have in common.
  std::map<std::vector<std::string>, std::vector<std::vector<std::string>>> sooner_;
  // That of the schema met last, if it does not depend on what is around it: tools have one format
  // in common, and one comes behind the other.
  std::pair<JsonId, const EmbeddedGrammars::Writing*> writing_ = {};
  // What the free text that is made does not end with; of ContentBefore().
  std::vector<std::string> last_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FORMAT_COMPILER_H_
