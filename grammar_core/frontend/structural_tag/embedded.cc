// A grammar within the tag is read by its own front end and its rules are copied into the tag's.
// Texts that a format excludes are cut out during the copy: every string of JSON is met with "holds
// none of them", and a member with such a name goes.
//
// Invariant  one key, of schema, style and options, has one node, whatever stands around it.
// Cost       one reading for each key, or none where the store has the schema; the copy is linear.
#include "grammar_core/frontend/structural_tag/embedded.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/ebnf/ebnf.h"
#include "grammar_core/frontend/json_schema/json_schema.h"
#include "grammar_core/frontend/json_schema/schema_store.h"
#include "grammar_core/frontend/notation/splice.h"
#include "grammar_core/frontend/regex/regex.h"
#include "grammar_core/frontend/structural_tag/format.h"
#include "grammar_core/frontend/structural_tag/style_rules.h"
#include "grammar_core/frontend/structural_tag/text_dispatch.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/passes/ir_copier.h"

namespace maskd {
namespace {

// Makes copies so that no string of JSON, a name included, holds one of some texts.
class Excluding {
 public:
  Excluding(const std::vector<std::string>& excludes, const GrammarIr& from, const IrCopier& copier,
            IrBuilder& builder)
      : from_(from),
        copier_(copier),
        b_(builder),
        allowed_(FreeText(excludes, builder)),
        excludes_(excludes) {}

  // The copy of `node`; nothing where it is as any other.
  std::optional<NodeId> Copy(const IrNode& node) {
    if (node.kind == IrKind::kEncode && IsJsonString(node.spelling)) {
      const NodeId characters = copier_.CopyOf(from_.children[node.first_child]);
      return b_.Encode(node.spelling, b_.And({characters, allowed_}));
    }
    if (node.kind != IrKind::kObject) return std::nullopt;
    ObjectSpec spec = copier_.Mapped(ObjectOf(from_, node));
    for (ObjectSpec::Others& others : spec.others) others.name = b_.And({others.name, allowed_});
    for (ObjectSpec::Member& member : spec.members) {
      if (!HoldsAny(member.name, excludes_)) continue;
      if (member.required) return b_.Nothing();
      member.value = b_.Nothing();
      member.ways.clear();
    }
    return b_.Object(std::move(spec));
  }

 private:
  const GrammarIr& from_;
  const IrCopier& copier_;
  IrBuilder& b_;
  const NodeId allowed_;
  const std::vector<std::string>& excludes_;
};

std::string KeyOf(const SchemaWriting& writing) {
  std::string key = absl::StrCat(writing.style == nullptr ? "json" : writing.style->name(), " ",
                                 static_cast<int>(writing.options.property_order), " ",
                                 static_cast<int>(writing.options.spelling), " ",
                                 static_cast<int>(writing.options.white_space), " ",
                                 writing.options.max_whitespace, " ");
  for (const std::string& text : writing.excludes) AppendJsonString(text, &key);
  if (writing.style != nullptr) {
    key.push_back(' ');
    for (const std::string& text : writing.ends) AppendJsonString(text, &key);
    key.push_back(' ');
    for (const std::string& text : writing.last) AppendJsonString(text, &key);
  }
  return key;
}

}  // namespace

const EmbeddedGrammars::Writing& EmbeddedGrammars::WritingOf(SchemaWriting how) {
  const auto [made, is_new] = writings_.try_emplace(KeyOf(how));
  Writing& writing = made->second;
  if (!is_new) return writing;
  writing.how = std::move(how);
  writing.options = writing.how.options;
  if (writing.how.style != nullptr && writing.how.style->nests()) {
    writing.options.indent.reset();  // no container of JSON is written
    writing.values = SchemaValues::kRules;
  }
  if (source_.documents.empty())
    writing.settings = store_.SettingsOf(writing.options, writing.values, limits_);
  return writing;
}

// A known schema lies in many small pieces, and the request before has mostly driven it out of the
// caches: reading them one behind the other is most of what copying one takes.
void EmbeddedGrammars::LookAhead(const SharedText* schema, const Writing& writing) {
  if (ahead_[1] != nullptr) ahead_[1]->Fetch(2);
  if (ahead_[0] != nullptr) ahead_[0]->Fetch(1);
  ahead_[1] = std::move(ahead_[0]);
  const bool may_be_known = schema != nullptr && writing.settings != nullptr;
  ahead_[0] = may_be_known ? store_.Peek(*schema, *writing.settings) : nullptr;
  if (ahead_[0] != nullptr) ahead_[0]->Fetch(0);
}

absl::StatusOr<EmbeddedGrammars::SchemaRef> EmbeddedGrammars::ReadSchema(const SharedText& schema,
                                                                         const Writing& writing) {
  if (writing.settings != nullptr) return store_.Read(schema, *writing.settings, budget_);
  const GrammarSource source = {"json_schema", schema.text(), writing.options, source_.documents};
  absl::StatusOr<ReadResult> read = ReadJsonSchema(source, limits_, budget_, writing.values);
  if (!read.ok()) return read.status();
  return std::make_shared<const KnownSchema>(*std::move(read));
}

bool EmbeddedGrammars::IsKeptAsItIs(const Diagnostic& bound) const {
  if (MovesPlace(bound.place)) return false;
  return std::ranges::any_of(result_.bounds, [&](const Diagnostic& kept) {
    return kept.place == bound.place && kept.message == bound.message;
  });
}

// Most bounds are of options, the same for each schema.
void EmbeddedGrammars::KeepRemarks(const ReadResult& read, absl::string_view place) {
  for (const Diagnostic& warning : read.warnings)
    AddWarning({MovedPlace(place, warning.place), warning.message}, &result_.warnings);
  for (const Diagnostic& bound : read.bounds) {
    if (IsKeptAsItIs(bound)) continue;
    std::string moved = MovedPlace(place, bound.place);
    if (bounds_.insert(absl::StrCat(moved, "\n", bound.message)).second)
      AddWarning({std::move(moved), bound.message}, &result_.bounds);
  }
}

absl::StatusOr<NodeId> EmbeddedGrammars::Written(const SchemaWriting& writing,
                                                 const IrCopier& copier, ReadResult& read) {
  if (const ArgumentStyle* const literals = writing.style->literals(); literals != nullptr) {
    return WriteAsLiterals(*literals, writing.excludes, writing.options, copier, speller_, builder_,
                           budget_, read);
  }
  return WriteAsXml(*writing.style->elements(), {writing.excludes, writing.ends, writing.last},
                    writing.options, copier, speller_, builder_, budget_, read);
}

// What no string of JSON holds: where JSON stands in an element, what closes that, too.
std::vector<std::string> EmbeddedGrammars::ExcludedFromJson(const SchemaWriting& writing) const {
  std::vector<std::string> excludes = writing.excludes;
  const XmlStyle* const style = writing.style == nullptr ? nullptr : writing.style->elements();
  if (style != nullptr && !speller_.HasMarker(style->end_of_values()))
    excludes.emplace_back(style->end_of_values());
  return excludes;
}

absl::StatusOr<NodeId> EmbeddedGrammars::Schema(const SharedText& schema, const std::string& place,
                                                const Writing& writing) {
  const std::pair key(&writing, schema.hashed());
  if (const auto made = schemas_.find(key); made != schemas_.end()) return made->second.node;
  const absl::StatusOr<SchemaRef> known = ReadSchema(schema, writing);
  if (!known.ok()) return MovedStatus(known.status(), place);
  const ReadResult& read = (*known)->read;
  const bool is_plain =
      writing.how.style == nullptr && writing.how.excludes.empty() && read.ir.distinct.empty();
  absl::StatusOr<NodeId> node =
      is_plain ? MakeSchema(**known, place) : MakeWritten(read, place, writing.how);
  if (node.ok()) schemas_.emplace(key, Known{schema, *node});
  return node;
}

// As it is; copied from where it is kept.
absl::StatusOr<NodeId> EmbeddedGrammars::MakeSchema(const KnownSchema& known,
                                                    const std::string& place) {
  const ReadResult& read = known.read;
  IrCopier copier(read.ir, &builder_);
  PartHashes hashes = {known.hashes};
  // Nobody asks for places of a tool's rules but to find the tool that has no value. So tools may
  // have rules in common.
  if (IsPlaceInTool(place) && known.has_value) {
    copier.LeavePlacesOut();
    hashes.rules = known.rule_hashes;
  }
  const absl::Status status =
      SpliceRules(read, hashes, place, copier, builder_, budget_, result_.faults, made_);
  if (!status.ok()) return status;
  KeepRemarks(read, place);
  result_.has_empty_parts = result_.has_empty_parts || !known.has_value;
  return builder_.Call(copier.RuleOf(read.ir.start));
}

absl::StatusOr<NodeId> EmbeddedGrammars::MakeWritten(ReadResult read, const std::string& place,
                                                     const SchemaWriting& writing) {
  MovePlaces(place, &read);
  result_.has_empty_parts = true;
  IrCopier copier(read.ir, &builder_);
  const std::vector<std::string> excludes = ExcludedFromJson(writing);
  Excluding excluding(excludes, read.ir, copier, builder_);
  if (!excludes.empty()) copier.SetHook([&](const IrNode& node) { return excluding.Copy(node); });
  const absl::Status status = SpliceRules(read, copier, builder_, budget_, result_.faults);
  if (!status.ok()) return status;
  NodeId node = builder_.Call(copier.RuleOf(read.ir.start));
  if (writing.style != nullptr) {
    const absl::StatusOr<NodeId> written = Written(writing, copier, read);
    if (!written.ok()) return written.status();
    const RuleId rule = builder_.DeclareRule(writing.style->name(), place);
    builder_.DefineRule(rule, *written);
    node = builder_.Call(rule);
  }
  KeepRemarks(read, "");
  return node;
}

absl::StatusOr<NodeId> EmbeddedGrammars::Pattern(const JsonValue& pattern) {
  const RegexOptions options = {.place = pattern.Pointer()};
  speller_.WarnOfMarkersIn(pattern.text(), options.place, &result_.warnings);
  const absl::StatusOr<NodeId> characters =
      ReadRegex(pattern.text(), options, limits_, budget_, builder_);
  if (!characters.ok()) return characters.status();
  return builder_.Encode(Spelling::kUtf8, *characters);
}

absl::StatusOr<NodeId> EmbeddedGrammars::Rules(const JsonValue& rules) {
  const std::string place = rules.Pointer();
  speller_.WarnOfMarkersIn(rules.text(), place, &result_.warnings);
  constexpr absl::string_view kWhat = "in the grammar here: ";
  absl::StatusOr<ReadResult> read =
      ReadEbnf({"ebnf", std::string(rules.text()), source_.options}, limits_, budget_);
  if (!read.ok()) return EnclosedStatus(read.status(), place, kWhat);
  EnclosePlaces(place, kWhat, &*read);
  IrCopier copier(read->ir, &builder_);
  const absl::Status status = SpliceRules(*read, copier, builder_, budget_, result_.faults);
  if (!status.ok()) return status;
  if (read->temperature.has_value())
    AddWarning({place, "a temperature is given to the whole text only"}, &result_.warnings);
  KeepRemarks(*read, "");
  return builder_.Call(copier.RuleOf(read->ir.start));
}

}  // namespace maskd
