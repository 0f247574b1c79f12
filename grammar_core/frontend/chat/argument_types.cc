// The types of an argument are read off the IR that its schema becomes, not off the schema: $ref,
// allOf and the like are resolved there already. Each value is split into parts of one type, and an
// argument's type is the union of its parts, over all objects that the schema allows.
//
// Invariant  a type is never too small: a name that one object declares has the others' type as
//            well where there are several objects.
// Cost       one reading of the schema; each number's nodes are walked once for a '.'.
#include "grammar_core/frontend/chat/argument_types.h"

#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/json_schema/json_schema.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

constexpr std::size_t Bit(ValueType type) { return static_cast<std::size_t>(type); }

ValueType TypeOf(const JsonValue& value) {
  switch (value.type()) {
    case JsonType::kString:
      return ValueType::kString;
    case JsonType::kNumber:
      return ValueType::kNumber;
    case JsonType::kNull:
      return ValueType::kNull;
    case JsonType::kArray:
      return ValueType::kArray;
    case JsonType::kObject:
      return ValueType::kObject;
    default:
      return ValueType::kBoolean;
  }
}

// Makes types of what a value consists of.
class TypeReader {
 public:
  TypeReader(const GrammarIr& ir, Budget& budget) : ir_(ir), parts_(ir, budget) {}

  absl::Status Add(NodeId value, ArgumentType* type) const {
    const absl::StatusOr<std::vector<ValueParts::Part>> parts = parts_.Of(value);
    if (!parts.ok()) return parts.status();
    for (const ValueParts::Part& part : *parts) {
      if (part.type == ValueType::kString && part.texts.empty()) {
        AddText(part.node, type);
        continue;
      }
      type->json.set(Bit(part.type));
      if (part.type != ValueType::kNumber) continue;
      type->fractions = type->fractions || !part.texts.empty() || MayHavePoint(part.node);
    }
    return absl::OkStatus();
  }

  [[nodiscard]] absl::StatusOr<std::vector<const ObjectSpec*>> Objects() const {
    const auto parts = parts_.Of(ir_.rules[ir_.start].body);
    if (!parts.ok()) return parts.status();
    std::vector<const ObjectSpec*> objects;
    for (const ValueParts::Part& part : *parts) {
      const IrNode& n = ir_.nodes[part.node];
      if (n.kind == IrKind::kObject && !ObjectOf(ir_, n).is_array)
        objects.push_back(&ObjectOf(ir_, n));
    }
    return objects;
  }

 private:
  void AddText(NodeId string, ArgumentType* type) const {
    type->text = true;
    const std::optional<NodeId> contents = parts_.Contents(string);
    if (!contents.has_value()) {
      type->listed.emplace();
      return;
    }
    for (const std::u32string& text : parts_.Listed(*contents))
      type->listed.insert(CodePointsToUtf8(text));
    type->endless = type->endless || IsEndless(ir_, *contents);
  }

  // Whether '.' may stand in a number.
  [[nodiscard]] bool MayHavePoint(NodeId number) const {
    absl::flat_hash_set<NodeId> seen = {number};
    std::vector<NodeId> open = {number};
    while (!open.empty()) {
      const IrNode& n = ir_.nodes[open.back()];
      open.pop_back();
      const bool here =
          (n.kind == IrKind::kNumber && NumberOf(ir_, n).fraction_digits > 0) ||
          (n.kind == IrKind::kBytes && absl::StrContains(BytesOf(ir_, n), '.')) ||
          (n.kind == IrKind::kByteSet && ByteSetOf(ir_, n).test('.')) ||
          (n.kind == IrKind::kText && TextOf(ir_, n).find(U'.') != std::u32string::npos);
      if (here) return true;
      for (std::uint32_t i = 0; i < n.child_count; ++i) {
        const NodeId child = ir_.children[n.first_child + i];
        if (seen.insert(child).second) open.push_back(child);
      }
    }
    return false;
  }

  const GrammarIr& ir_;
  ValueParts parts_;
};

}  // namespace

absl::string_view WithoutSpace(absl::string_view text) {
  constexpr absl::string_view kSpace = " \t\n\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == absl::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

void ArgumentType::Add(const ArgumentType& other) {
  json |= other.json;
  text = text || other.text;
  endless = endless || other.endless;
  fractions = fractions || other.fractions;
  listed.insert(other.listed.begin(), other.listed.end());
}

bool ArgumentType::IsJson(absl::string_view text) const {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(WithoutSpace(text), Limits());
  if (!document.ok()) return false;
  const ValueType type = TypeOf(document->root());
  if (!json.test(Bit(type))) return false;
  const bool is_whole = document->root().text().find_first_of(".eE") == absl::string_view::npos;
  return type != ValueType::kNumber || fractions || is_whole;
}

absl::StatusOr<ArgumentTypes> ArgumentTypes::Read(const std::string& schema,
                                                  const GrammarSource& source, const Limits& limits,
                                                  Budget& budget) {
  const GrammarSource of_schema = {"json_schema", schema, source.options, source.documents};
  const absl::StatusOr<ReadResult> read =
      ReadJsonSchema(of_schema, limits, budget, SchemaValues::kInline);
  if (!read.ok()) return read.status();
  const TypeReader reader(read->ir, budget);
  const absl::StatusOr<std::vector<const ObjectSpec*>> objects = reader.Objects();
  if (!objects.ok()) return objects.status();
  ArgumentTypes types;
  for (const ObjectSpec* const object : *objects) {
    for (const ObjectSpec::Others& others : object->others)
      if (absl::Status added = reader.Add(others.value, &types.others_); !added.ok()) return added;
    for (const ObjectSpec::Member& member : object->members) {
      const absl::Status added = reader.Add(member.value, &types.declared_[member.name]);
      if (!added.ok()) return added;
    }
  }
  // A name that one of several objects declares may be another's other.
  if (objects->size() > 1)
    for (auto& [name, type] : types.declared_) type.Add(types.others_);
  return types;
}

const ArgumentType& ArgumentTypes::Of(absl::string_view name) const {
  const auto found = declared_.find(name);
  return found == declared_.end() ? others_ : found->second;
}

}  // namespace maskd
