#include "grammar_core/frontend/json_schema/schema_view.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/decimal.h"
#include "grammar_core/base/error.h"

namespace maskd {
namespace {

using K = Keyword;

bool IsTrueSchema(const JsonValue& schema) {
  return schema.type() == JsonType::kTrue || (schema.is_object() && schema.size() == 0);
}

bool IsZero(const JsonValue& number) {
  return number.is_number() && ReadDecimal(number.text()).is_zero();
}

// A keyword that we do not support, with a value or in a place where it excludes nothing.
bool AsksForNothing(const KeywordRow& row, const JsonValue& value, const JsonValue& schema) {
  switch (row.keyword) {
    case K::kUniqueItems:
      return value.type() == JsonType::kFalse;
    case K::kMinProperties:
      return IsZero(value);
    case K::kPatternProperties:
    case K::kDependencies:
    case K::kDependentRequired:
    case K::kDependentSchemas:
      return value.size() == 0;
    case K::kPropertyNames:
    case K::kUnevaluatedItems:
    case K::kUnevaluatedProperties:
      return IsTrueSchema(value);
    case K::kNot:
      return value.type() == JsonType::kFalse;
    case K::kThen:
    case K::kElse:
      return !schema.Find("if").has_value() || IsTrueSchema(value);
    case K::kIf:
      return !schema.Find("then").has_value() && !schema.Find("else").has_value();
    case K::kMinContains:
    case K::kMaxContains:
      return !schema.Find("contains").has_value();
    default:
      return false;
  }
}

TypeSet ReadTypes(const JsonValue& value) {
  if (value.is_string()) return *TypeByName(value.text());
  TypeSet types = kNoType;
  for (const JsonValue name : value.children()) types |= *TypeByName(name.text());
  return types;
}

std::uint32_t CountOf(const JsonValue& value) { return *AsCount(ReadDecimal(value.text())); }

class ViewReader {
 public:
  ViewReader(const JsonValue& schema, const Dialect& dialect) : dialect_(dialect), view_(schema) {}

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
    if (dialect_.draft == Draft::k4) SettleDraft4Numbers();
    NoteEmptyRange(view_.length);
    NoteEmptyRange(view_.item_count);
    return std::move(view_);
  }

 private:
  void AddLocal() {
    if (!has_local_) view_.parts.push_back({SchemaPart::Kind::kLocal, view_.at.id()});
    has_local_ = true;
  }

  void Note(const JsonValue& at, std::string message) {
    view_.notes.push_back({at, std::move(message)});
  }

  absl::Status SkipBesideRef(const JsonValue& member) {
    const KeywordRow* row = FindKeyword(member.key(), dialect_);
    if (row == nullptr || row->domain != kNoType) {
      Note(member, "ignored beside $ref, as drafts up to 7 say");
    }
    return absl::OkStatus();
  }

  absl::Status ReadMember(const JsonValue& member) {
    const KeywordRow* row = FindKeyword(member.key(), dialect_);
    if (row == nullptr) {
      Note(member, "unknown keyword, treated as an annotation");
      return absl::OkStatus();
    }
    if (absl::Status status = CheckShape(*row, member); !status.ok()) return status;
    for (const JsonValue& schema : SubschemasOf(row->shape, member)) {
      view_.subschemas.push_back(schema);
    }
    if (!row->supported) {
      ReadUnsupported(*row, member);
    } else {
      ReadSupported(row->keyword, member);
    }
    return absl::OkStatus();
  }

  void ReadUnsupported(const KeywordRow& row, const JsonValue& member) {
    if (row.keyword == K::kOneOf && member.size() == 1) {
      view_.parts.push_back({SchemaPart::Kind::kSchema, member.Nth(0)->id()});
    } else if (!AsksForNothing(row, member, view_.at)) {
      view_.unsupported.push_back({member, row.domain});
      AddLocal();
    }
  }

  void ReadSupported(Keyword keyword, const JsonValue& member) {
    switch (keyword) {
      case K::kAnnotation:
        return;
      case K::kFormat:
        return Note(member, "format is an annotation and not asserted");
      case K::kRef:
        view_.ref = member;
        // The place in the order is kept; the target is filled in when the reference is resolved.
        return view_.parts.push_back({SchemaPart::Kind::kSchema, member.id()});
      case K::kAllOf:
        for (const JsonValue schema : member.children()) {
          view_.parts.push_back({SchemaPart::Kind::kSchema, schema.id()});
        }
        return;
      case K::kAnyOf:
        return view_.parts.push_back({SchemaPart::Kind::kAnyOf, member.id()});
      default:
        AddLocal();
        ReadAssertion(keyword, member);
    }
  }

  void ReadAssertion(Keyword keyword, const JsonValue& member) {
    switch (keyword) {
      case K::kType:
        view_.type = member;
        view_.types = ReadTypes(member);
        break;
      case K::kConst:
        view_.const_value = member;
        break;
      case K::kEnum:
        view_.enum_values = member;
        break;
      case K::kProperties:
        view_.properties = member;
        break;
      case K::kRequired:
        view_.required = member;
        break;
      case K::kAdditionalProperties:
        view_.additional_properties = member;
        break;
      case K::kItems:
        view_.items = member;
        break;
      case K::kPrefixItems:
        SetPrefix(member);
        break;
      case K::kMinItems:
        SetMin(member, &view_.item_count);
        break;
      case K::kMaxItems:
        SetMax(member, &view_.item_count);
        break;
      case K::kMinLength:
        SetMin(member, &view_.length);
        break;
      case K::kMaxLength:
        SetMax(member, &view_.length);
        break;
      case K::kPattern:
      case K::kMultipleOf:
      case K::kMinimum:
      case K::kMaximum:
      case K::kExclusiveMinimum:
      case K::kExclusiveMaximum:
        view_.facets.push_back({keyword, member});
        break;
      default:
        break;
    }
  }

  void SetPrefix(const JsonValue& list) {
    for (const JsonValue schema : list.children()) view_.prefix_items.push_back(schema.id());
  }

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
      return absl::OkStatus();
    }
    if (dialect_.named && dialect_.draft == Draft::k2020) {
      return InvalidAt(view_.items->Pointer(), "must be a schema; a list is prefixItems here");
    }
    if (!view_.prefix_items.empty()) {
      return InvalidAt(view_.items->Pointer(), "must be a schema beside prefixItems");
    }
    SetPrefix(*view_.items);
    view_.items = more;
    return absl::OkStatus();
  }

  // In draft 4 an exclusive bound is a boolean beside the bound, and 1.0 is no integer.
  void SettleDraft4Numbers() {
    std::erase_if(view_.facets, [](const Facet& facet) { return facet.at.is_bool(); });
    const auto exclude = [&](Keyword bound, Keyword exclusive, absl::string_view name) {
      const std::optional<JsonValue> flag = view_.at.Find(name);
      if (!flag.has_value() || flag->type() != JsonType::kTrue) return;
      for (Facet& facet : view_.facets) {
        if (facet.keyword == bound) facet.keyword = exclusive;
      }
    };
    exclude(K::kMinimum, K::kExclusiveMinimum, "exclusiveMinimum");
    exclude(K::kMaximum, K::kExclusiveMaximum, "exclusiveMaximum");
    if ((view_.types & kNumberType) == kIntegerType)
      view_.facets.push_back({K::kType, *view_.type});
  }

  void NoteEmptyRange(const CountRange& range) {
    if (!range.empty()) return;
    Note(*range.max_at, absl::StrCat(range.max, " is less than ", range.min_at->key(), " ",
                                     range.min, ", so this matches nothing"));
  }

  const Dialect dialect_;
  SchemaView view_;
  bool has_local_ = false;
};

}  // namespace

absl::StatusOr<SchemaView> ReadSchemaView(const JsonValue& schema, const Dialect& dialect) {
  return ViewReader(schema, dialect).Read();
}

}  // namespace maskd
