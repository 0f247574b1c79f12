// One schema object, keyword by keyword, in the order of the source.
//
// Drafts differ in spelling more than in meaning, so the differences end here: `dependencies`
// becomes dependentRequired and dependentSchemas, a list in `items` becomes prefixItems, draft 4's
// boolean bounds become numbers, an anyOf of one branch becomes that branch. What is left is
// `parts`, a conjunction, with the own assertions as its part kLocal.
//
// Invariant  `items` is one schema, never a list; `prefix_items` is what stands before it.
// Cost       linear in the members; each looks its keyword up in the table.
// Source     JSON Schema Core 2020-12, section 10, and Validation, section 6; draft 4, section 5.
#include "grammar_core/frontend/json_schema/reading/schema_view.h"

#include <cassert>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/decimal.h"
#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/formats/format.h"

namespace maskd {
namespace {

using K = Keyword;

// A keyword with a value or in a place where it excludes nothing and evaluates nothing.
bool AsksForNothing(const KeywordRow& row, const JsonValue& value, const JsonValue& schema) {
  switch (row.keyword) {
    case K::kUniqueItems:
      return value.type() == JsonType::kFalse;
    case K::kPatternProperties:
    case K::kDependencies:
    case K::kDependentRequired:
    case K::kDependentSchemas:
      return value.size() == 0;
    case K::kMinContains:
    case K::kMaxContains:
      return !schema.Find("contains").has_value();
    default:
      return false;
  }
}

bool IsTrue(const std::optional<JsonValue>& value) {
  return value.has_value() && value->type() == JsonType::kTrue;
}

TypeSet ReadTypes(const JsonValue& value) {
  if (value.is_string()) return *TypeByName(value.text());
  TypeSet types = kNoType;
  for (const JsonValue name : value.children()) types |= *TypeByName(name.text());
  return types;
}

// Reads the members in order, then settles what depends on several of them.
class ViewReader {
 public:
  ViewReader(const JsonValue& schema, const Dialect& dialect, Formats formats)
      : dialect_(dialect), formats_(formats), view_(schema) {}

  absl::StatusOr<SchemaView> Read() && {
    const JsonValue schema = view_.at;
    if (!schema.is_object()) {
      view_.is_false = schema.type() == JsonType::kFalse;
      if (view_.is_false) AddLocal();
      return std::move(view_);
    }
    const std::optional<JsonValue> ref = schema.Find("$ref");
    const bool alone = ref.has_value() && dialect_.ref_stands_alone();
    for (const JsonValue member : schema.children()) {
      const absl::Status status =
          alone && member.key() != "$ref" ? SkipBesideRef(member) : ReadMember(member);
      if (!status.ok()) return status;
    }
    if (absl::Status status = SettleItems(); !status.ok()) return status;
    if (dialect_.draft == SchemaDraft::k4) SettleDraft4Numbers();
    NoteEmptyRange(view_.length);
    NoteEmptyRange(view_.item_count);
    NoteEmptyRange(view_.member_count);
    SettleContains();
    return std::move(view_);
  }

 private:
  // Own assertions are one part, at the place of the first of them.
  void AddLocal() {
    if (!has_local_) view_.parts.push_back({SchemaPart::Kind::kLocal, view_.at.id()});
    has_local_ = true;
  }

  void Note(const JsonValue& at, std::string message) {
    view_.notes.push_back({at, std::move(message)});
  }

  // Annotations may stand beside a $ref; what would have asserted something is worth a note.
  absl::Status SkipBesideRef(const JsonValue& member) {
    const KeywordRow* row = FindKeyword(member.key(), dialect_);
    if (row == nullptr || row->domain != kNoType)
      Note(member, "ignored beside $ref, as drafts up to 7 say");
    return absl::OkStatus();
  }

  // Checks one member and takes it. Its subschemas are read later, also those of a keyword that
  // asks for nothing: an error in them must be found.
  absl::Status ReadMember(const JsonValue& member) {
    const KeywordRow* row = FindKeyword(member.key(), dialect_);
    if (row == nullptr) {
      Note(member, "unknown keyword, treated as an annotation");
      return absl::OkStatus();
    }
    if (absl::Status status = CheckShape(*row, member); !status.ok()) return status;
    for (const JsonValue& schema : SubschemasOf(row->shape, member))
      view_.subschemas.push_back(schema);
    if (!AsksForNothing(*row, member, view_.at)) Take(*row, member);
    return absl::OkStatus();
  }

  // Sorts a keyword into parts (other schemas on the same value) or own assertions.
  void Take(const KeywordRow& row, const JsonValue& member) {
    switch (row.keyword) {
      case K::kAnnotation:
        return;
      case K::kFormat:
        return TakeFormat(member);
      case K::kRef:
        view_.ref = member;
        // The place in the order is kept; the target is filled in when the reference is resolved.
        return AddPart(SchemaPart::Kind::kSchema, member);
      case K::kDynamicRef:
      case K::kRecursiveRef:
        view_.dynamic_ref = member;
        return AddPart(SchemaPart::Kind::kSchema, member);
      case K::kAllOf:
        for (const JsonValue schema : member.children()) AddPart(SchemaPart::Kind::kSchema, schema);
        return;
      case K::kNot:
        return AddPart(SchemaPart::Kind::kNot, member);
      case K::kAnyOf:
      case K::kOneOf:
        if (member.size() == 1) return AddPart(SchemaPart::Kind::kSchema, *member.Nth(0));
        return AddChoice(row.keyword, member);
      case K::kIf:
        return TakeIf(member);
      case K::kThen:
      case K::kElse:
        if (!view_.at.Find("if").has_value()) Note(member, "means nothing without if");
        return;
      case K::kDependencies:
        TakeDependencies(member);
        [[fallthrough]];
      case K::kDependentSchemas:
        for (const JsonValue entry : member.children())
          if (!entry.is_array()) AddChoice(K::kDependentSchemas, entry);
        return;
      default:
        AddLocal();
        ReadAssertion(row.keyword, member);
    }
  }

  void TakeFormat(const JsonValue& member) {
    if (!dialect_.asserts_formats(formats_))
      return Note(member, "format is an annotation and not asserted");
    if (FindFormat(member.text()) == nullptr)
      return Note(member, "unknown format, treated as an annotation");
    AddLocal();
    ReadAssertion(K::kFormat, member);
  }

  void AddPart(SchemaPart::Kind kind, const JsonValue& at) {
    view_.parts.push_back({kind, at.id()});
  }
  void AddChoice(Keyword keyword, const JsonValue& at) {
    view_.parts.push_back({SchemaPart::Kind::kChoice, at.id(), keyword});
  }

  // Without then and else, what `if` evaluates may still matter to unevaluated keywords.
  void TakeIf(const JsonValue& member) {
    const bool decides = view_.at.Find("then").has_value() || view_.at.Find("else").has_value();
    if (decides || dialect_.draft >= SchemaDraft::k2019) AddChoice(K::kIf, member);
  }

  // The lists among `dependencies` are dependentRequired, one assertion for all of them.
  void TakeDependencies(const JsonValue& member) {
    for (const JsonValue entry : member.children()) {
      if (!entry.is_array()) continue;
      AddLocal();
      view_.dependent_required.push_back(member);
      Assert(K::kDependentRequired, member);
      return;
    }
  }

  void Assert(Keyword keyword, const JsonValue& member) {
    view_.assertions.push_back({keyword, member});
  }

  // Facets of strings and numbers are kept as they stand; all else has a field of the view.
  void ReadAssertion(Keyword keyword, const JsonValue& member) {
    switch (keyword) {
      case K::kFormat:
      case K::kPattern:
      case K::kMultipleOf:
      case K::kMinimum:
      case K::kMaximum:
      case K::kExclusiveMinimum:
      case K::kExclusiveMaximum:
        view_.facets.push_back({keyword, member});
        return;
      case K::kItems:
        // Asserted when it is settled what it means.
        view_.items = member;
        return;
      case K::kAdditionalItems:
        return;
      case K::kMinContains:
        return SetMin(member, &view_.contains_count);
      case K::kMaxContains:
        return SetMax(member, &view_.contains_count);
      default:
        Assert(keyword, member);
        SetField(keyword, member);
    }
  }

  void SetField(Keyword keyword, const JsonValue& member) {
    switch (keyword) {
      case K::kType:
        view_.type = member;
        view_.types = ReadTypes(member);
        // OpenAPI 3.0, which names no dialect.
        if (!dialect_.named && IsTrue(view_.at.Find("nullable"))) view_.types |= kNullType;
        return;
      case K::kConst:
        view_.const_value = member;
        return;
      case K::kEnum:
        view_.enum_values = member;
        return;
      case K::kPrefixItems:
        return SetPrefix(member);
      case K::kContains:
        view_.contains = member;
        return;
      case K::kUniqueItems:
        view_.unique_items = member;
        return;
      case K::kUnevaluatedItems:
        view_.unevaluated_items = member;
        return;
      default:
        SetObjectField(keyword, member);
        SetBound(keyword, member);
    }
  }

  // Objects keep their keywords as they stand: what they mean for one member depends on its name,
  // which is asked for later, one name at a time (MemberSchemas()).
  void SetObjectField(Keyword keyword, const JsonValue& member) {
    switch (keyword) {
      case K::kProperties:
        view_.properties = member;
        return;
      case K::kRequired:
        view_.required = member;
        return;
      case K::kPatternProperties:
        view_.pattern_properties = member;
        return;
      case K::kAdditionalProperties:
        view_.additional_properties = member;
        return;
      case K::kPropertyNames:
        view_.property_names = member;
        return;
      case K::kDependentRequired:
        view_.dependent_required.push_back(member);
        return;
      case K::kUnevaluatedProperties:
        view_.unevaluated_properties = member;
        return;
      default:
        return;
    }
  }

  void SetBound(Keyword keyword, const JsonValue& member) {
    switch (keyword) {
      case K::kMinItems:
        return SetMin(member, &view_.item_count);
      case K::kMaxItems:
        return SetMax(member, &view_.item_count);
      case K::kMinLength:
        return SetMin(member, &view_.length);
      case K::kMaxLength:
        return SetMax(member, &view_.length);
      case K::kMinProperties:
        return SetMin(member, &view_.member_count);
      case K::kMaxProperties:
        return SetMax(member, &view_.member_count);
      default:
        return;
    }
  }

  void SetPrefix(const JsonValue& list) {
    for (const JsonValue schema : list.children()) view_.prefix_items.push_back(schema.id());
  }

  // The keyword is kept beside the number: an error about an empty range names both its ends.
  static void SetMin(const JsonValue& member, CountRange* range) {
    range->min = CountOf(member);
    range->min_at = member;
  }

  // A bound over 32 bits is none.
  static void SetMax(const JsonValue& member, CountRange* range) {
    const std::uint32_t max = CountOf(member);
    range->max = max == kUnbounded - 1 ? kUnbounded : max;
    range->max_at = member;
  }

  // Up to 2019-09 a list in `items` is what prefixItems is now, and additionalItems speaks of the
  // rest; without such a list additionalItems means nothing.
  absl::Status SettleItems() {
    const std::optional<JsonValue> more = view_.at.Find("additionalItems");
    const bool list = view_.items.has_value() && view_.items->is_array();
    if (!list) {
      const bool older = FindKeyword("additionalItems", dialect_) != nullptr;
      if (more.has_value() && older) Note(*more, "means nothing without a list in items");
      if (view_.items.has_value()) Assert(K::kItems, *view_.items);
      return absl::OkStatus();
    }
    if (dialect_.named && dialect_.draft == SchemaDraft::k2020)
      return InvalidAt(view_.items->Pointer(), "must be a schema; a list is prefixItems here");
    if (!view_.prefix_items.empty())
      return InvalidAt(view_.items->Pointer(), "must be a schema beside prefixItems");
    SetPrefix(*view_.items);
    Assert(K::kPrefixItems, *view_.items);
    if (more.has_value()) Assert(K::kItems, *more);
    view_.items = more;
    return absl::OkStatus();
  }

  // In draft 4 an exclusive bound is a boolean beside the bound, and 1.0 is no integer.
  void SettleDraft4Numbers() {
    std::erase_if(view_.facets, [](const Facet& facet) { return facet.at.is_bool(); });
    const auto exclude = [&](Keyword bound, Keyword exclusive, absl::string_view name) {
      const std::optional<JsonValue> flag = view_.at.Find(name);
      if (!flag.has_value() || flag->type() != JsonType::kTrue) return;
      for (Facet& facet : view_.facets)
        if (facet.keyword == bound) facet.keyword = exclusive;
    };
    exclude(K::kMinimum, K::kExclusiveMinimum, "exclusiveMinimum");
    exclude(K::kMaximum, K::kExclusiveMaximum, "exclusiveMaximum");
    if ((view_.types & kNumberType) == kIntegerType)
      view_.facets.push_back({K::kType, *view_.type});
  }

  // `contains` alone asks for one match.
  void SettleContains() {
    if (view_.contains.has_value() && !view_.contains_count.min_at.has_value()) {
      view_.contains_count.min = 1;
      view_.contains_count.min_at = view_.contains;
    }
  }

  // A range without a number is no error of the schema: elsewhere it may be the branch that nobody
  // takes. It is worth a note, as it is nearly always a slip.
  void NoteEmptyRange(const CountRange& range) {
    if (!range.empty()) return;
    Note(*range.max_at, absl::StrCat(range.max, " is less than ", range.min_at->key(), " ",
                                     range.min, ", so this matches nothing"));
  }

  const Dialect dialect_;
  const Formats formats_;
  SchemaView view_;
  bool has_local_ = false;
};

}  // namespace

// CheckShape() has seen that it is a count.
std::uint32_t CountOf(const JsonValue& keyword) {
  const std::optional<std::uint32_t> count = AsCount(ReadDecimal(keyword.text()));
  assert(count.has_value());
  return *count;
}

// A name may match several patterns. additionalProperties is for names that neither `properties`
// nor `patternProperties` of the same schema speaks of.
std::vector<JsonId> SchemaView::MemberSchemas(Keyword keyword, const MemberName& name) const {
  std::vector<JsonId> schemas;
  if (keyword == K::kProperties) {
    if (!properties.has_value() || !name.text.has_value()) return schemas;
    const std::optional<JsonValue> schema = properties->Find(*name.text);
    if (schema.has_value()) schemas.push_back(schema->id());
  } else if (keyword == K::kPatternProperties) {
    if (!pattern_properties.has_value()) return schemas;
    for (const JsonValue schema : pattern_properties->children())
      if (name.matches(schema)) schemas.push_back(schema.id());
  } else if (additional_properties.has_value() && MemberSchemas(K::kProperties, name).empty() &&
             MemberSchemas(K::kPatternProperties, name).empty()) {
    schemas.push_back(additional_properties->id());
  }
  return schemas;
}

bool IsBareSchema(const JsonValue& schema) {
  return schema.is_bool() || (schema.is_object() && schema.size() == 0);
}

absl::StatusOr<SchemaView> ReadSchemaView(const JsonValue& schema, const Dialect& dialect,
                                          Formats formats) {
  return ViewReader(schema, dialect, formats).Read();
}

}  // namespace maskd
