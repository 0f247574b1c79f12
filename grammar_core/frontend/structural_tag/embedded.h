// Grammars of other kinds within a structural tag: JSON Schemas, patterns and rules.
//
// Places   those of a schema become JSON Pointers of the tag's text; a pattern's or a rule's is the
//          pointer of its text, and the line and column within it are in the message.
// Sharing  an equal schema with equal options is read once.
// Errors   those of their front ends.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_EMBEDDED_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_EMBEDDED_H_

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/base/shared_text.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/schema_store.h"
#include "grammar_core/frontend/notation/splice.h"
#include "grammar_core/frontend/read_result.h"
#include "grammar_core/frontend/structural_tag/marker_speller.h"
#include "grammar_core/frontend/structural_tag/written_style.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/ir/passes/ir_copier.h"

namespace maskd {

// How the values of a schema are written.
struct SchemaWriting {
  GrammarOptions options;
  WrittenStyleRef style = nullptr;  // null: JSON
  // Texts that no string holds, names of members included.
  std::vector<std::string> excludes = {};
  // Ends of the tag around: texts that no string holds that is the whole value and is written as it
  // is.
  std::vector<std::string> ends = {};
  // What such a string does not end with.
  std::vector<std::string> last = {};
};

// One for each structural tag, as equal schemas in it are shared.
class EmbeddedGrammars {
 public:
  // All must outlive this; what is read becomes nodes of `builder`, warnings and the like go to
  // `result`.
  // `schemas` may be null.
  EmbeddedGrammars(const GrammarSource& source, SchemaStore* schemas, const Limits& limits,
                   Budget& budget, IrBuilder& builder, MarkerSpeller& speller, ReadResult& result)
      : source_(source),
        store_(schemas == nullptr ? none_ : *schemas),
        limits_(limits),
        budget_(budget),
        builder_(builder),
        speller_(speller),
        result_(result) {}

  // A way to write schemas, for many of them; good as long as this.
  struct Writing {
    SchemaWriting how;
    // How they are read.
    GrammarOptions options;
    SchemaValues values = SchemaValues::kInline;
    SchemaStore::SettingsRef settings;  // null where there are documents
  };
  const Writing& WritingOf(SchemaWriting how);

  // The node of each kind, in bytes. `schema`, `pattern` and `rules` are values of the tag's text;
  // or a schema is a text without white space, read as if it stood at `place` of that.
  absl::StatusOr<NodeId> Schema(const SharedText& schema, const std::string& place,
                                const Writing& writing);
  absl::StatusOr<NodeId> Schema(const JsonValue& schema, SchemaWriting how) {
    return Schema(SharedText(schema.Compact()), schema.Pointer(), WritingOf(std::move(how)));
  }
  // Says that `schema`, if there is one, is the third to come, and what was said before comes.
  void LookAhead(const SharedText* schema, const Writing& writing);
  absl::StatusOr<NodeId> Pattern(const JsonValue& pattern);
  absl::StatusOr<NodeId> Rules(const JsonValue& rules);

 private:
  using SchemaRef = std::shared_ptr<const KnownSchema>;

  // In what is read places are those of the schema's own text.
  absl::StatusOr<SchemaRef> ReadSchema(const SharedText& schema, const Writing& writing);
  absl::StatusOr<NodeId> MakeSchema(const KnownSchema& known, const std::string& place);
  absl::StatusOr<NodeId> MakeWritten(ReadResult read, const std::string& place,
                                     const SchemaWriting& writing);
  [[nodiscard]] std::vector<std::string> ExcludedFromJson(const SchemaWriting& writing) const;
  absl::StatusOr<NodeId> Written(const SchemaWriting& writing, const IrCopier& copier,
                                 ReadResult& read);
  // Whether it is in `result_`, and its place is none of its schema.
  [[nodiscard]] bool IsKeptAsItIs(const Diagnostic& bound) const;
  // Their places are moved behind `place`.
  void KeepRemarks(const ReadResult& read, absl::string_view place);

  const GrammarSource& source_;
  SchemaStore none_{0};
  SchemaStore& store_;
  const Limits& limits_;
  Budget& budget_;
  IrBuilder& builder_;
  MarkerSpeller& speller_;
  ReadResult& result_;
  // By what KeyOf() says of them.
  std::map<std::string, Writing> writings_;
  struct Known {
    SharedText schema;
    NodeId node;
  };
  // Those that were made, by their writing and text.
  absl::flat_hash_map<std::pair<const Writing*, HashedText>, Known> schemas_;
  MadeParts made_;
  // Those that LookAhead() knows, the next one last.
  std::array<SchemaRef, 2> ahead_;
  // Bounds that are in `result_` already: place and message.
  absl::flat_hash_set<std::string> bounds_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_EMBEDDED_H_
