// The types of an argument are read off the IR that its schema becomes, not off the schema: $ref,
// allOf and the like are resolved there already. A type is made of a set of values of the IR, as a
// state of a deterministic automaton is made of a set of states: each value is split into parts of
// one type, and what is within the parts makes sets again.
//
// Invariant  a type is never too small: a name has its type from each object that declares it, and
//            the others' type from each that does not.
// Cost       a type for each set of values that is met, which the budget bounds; each number's
//            nodes are walked once a type for a '.'.
#include "grammar_core/frontend/chat/argument_types.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
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

// Makes the types of all values that are met from one of them on.
class TypeGraph {
 public:
  TypeGraph(const GrammarIr& ir, ArgumentTypes::Within within, Budget& budget)
      : ir_(ir), parts_(ir, budget), within_(within), budget_(budget) {}

  // By their numbers; `root` is the first.
  absl::StatusOr<std::vector<ArgumentType>> Make(NodeId root) {
    keys_ = {{BodyOf(root)}, {}};
    numbers_ = {{keys_[0], ArgumentTypes::kRoot}, {keys_[1], ArgumentType::kNothing}};
    std::vector<ArgumentType> types;
    while (types.size() < keys_.size()) {
      const bool has_within = types.empty() || within_ == ArgumentTypes::Within::kElements;
      absl::StatusOr<ArgumentType> type = TypeOfAll(Values(keys_[types.size()]), has_within);
      if (!type.ok()) return type.status();
      types.push_back(*std::move(type));
    }
    return types;
  }

 private:
  using Number = ArgumentType::Number;
  using Values = std::vector<NodeId>;
  // The members of one object by their names.
  using MembersByName = absl::flat_hash_map<absl::string_view, NodeId>;

  absl::StatusOr<ArgumentType> TypeOfAll(const Values& values, bool has_within) {
    ArgumentType type;
    Values items;
    std::vector<const ObjectSpec*> objects;
    for (const NodeId value : values) {
      const absl::StatusOr<std::vector<ValueParts::Part>> parts = parts_.Of(value);
      if (!parts.ok()) return parts.status();
      for (const ValueParts::Part& part : *parts) {
        AddPart(part, &type);
        if (!has_within) continue;
        if (const ObjectSpec* const object = ObjectIn(part)) objects.push_back(object);
        if (absl::Status added = AddItems(part, &items); !added.ok()) return added;
      }
    }
    type.items = NumberFor(std::move(items));
    if (absl::Status added = AddMembers(objects, &type); !added.ok()) return added;
    return type;
  }

  void AddPart(const ValueParts::Part& part, ArgumentType* type) const {
    if (part.type == ValueType::kString && part.texts.empty()) return AddText(part.node, type);
    type->json.set(Bit(part.type));
    if (part.type == ValueType::kNumber)
      type->fractions = type->fractions || !part.texts.empty() || MayHavePoint(part.node);
  }

  [[nodiscard]] const ObjectSpec* ObjectIn(const ValueParts::Part& part) const {
    const IrNode& n = ir_.nodes[part.node];
    const bool is_object = part.type == ValueType::kObject && n.kind == IrKind::kObject;
    return is_object ? &ObjectOf(ir_, n) : nullptr;
  }

  absl::Status AddItems(const ValueParts::Part& part, Values* items) const {
    const bool is_array = part.type == ValueType::kArray && part.texts.empty();
    if (within_ == ArgumentTypes::Within::kJson || !is_array) return absl::OkStatus();
    return parts_
        .Remade(part.node,
                [&](NodeId node, const std::vector<NodeId>&) {
                  if (ir_.nodes[node].kind == IrKind::kCall) items->push_back(node);
                  return node;
                })
        .status();
  }

  absl::Status AddMembers(const std::vector<const ObjectSpec*>& objects, ArgumentType* type) {
    Values others;
    std::vector<MembersByName> declared;
    for (const ObjectSpec* const object : objects) {
      for (const ObjectSpec::Others& other : object->others) others.push_back(other.value);
      MembersByName& members = declared.emplace_back();
      for (const ObjectSpec::Member& member : object->members) {
        members.emplace(member.name, member.value);
        type->members.emplace(member.name, ArgumentType::kNothing);
      }
    }
    type->others = NumberFor(std::move(others));
    for (auto& [name, number] : type->members) {
      if (absl::Status status = budget_.Spend(static_cast<std::int64_t>(objects.size()));
          !status.ok())
        return status;
      Values values;
      for (std::size_t i = 0; i < objects.size(); ++i) {
        const auto member = declared[i].find(name);
        if (member != declared[i].end())
          values.push_back(member->second);
        else
          for (const ObjectSpec::Others& other : objects[i]->others) values.push_back(other.value);
      }
      number = NumberFor(std::move(values));
    }
    return absl::OkStatus();
  }

  // The number of the type of `values`, which is to be made if it is a new one.
  Number NumberFor(Values values) {
    for (NodeId& value : values) value = BodyOf(value);
    absl::c_sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const auto [at, is_new] = numbers_.try_emplace(values, static_cast<Number>(keys_.size()));
    if (is_new) keys_.push_back(std::move(values));
    assert(keys_.size() == numbers_.size());
    return at->second;
  }

  // What is called, so that two calls of a rule are one value.
  [[nodiscard]] NodeId BodyOf(NodeId value) const {
    for (std::size_t calls = 0; calls < ir_.rules.size(); ++calls) {
      const IrNode& n = ir_.nodes[value];
      if (n.kind != IrKind::kCall) break;
      value = ir_.rules[CalledRuleOf(n)].body;
    }
    return value;
  }

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
  ArgumentTypes::Within within_;
  Budget& budget_;
  std::vector<Values> keys_;  // by number
  absl::flat_hash_map<Values, Number> numbers_;
};

}  // namespace

absl::string_view WithoutSpace(absl::string_view text) {
  constexpr absl::string_view kSpace = " \t\n\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == absl::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

bool ArgumentType::IsJson(absl::string_view text, ValueTypes among) const {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(WithoutSpace(text), Limits());
  if (!document.ok()) return false;
  const ValueType type = TypeOf(document->root());
  if (!(json & among).test(Bit(type))) return false;
  const bool is_whole = document->root().text().find_first_of(".eE") == absl::string_view::npos;
  return type != ValueType::kNumber || fractions || is_whole;
}

absl::StatusOr<ArgumentTypes> ArgumentTypes::Read(const std::string& schema, Within within,
                                                  const GrammarSource& source, const Limits& limits,
                                                  Budget& budget) {
  const GrammarSource of_schema = {"json_schema", schema, source.options, source.documents};
  const SchemaValues values =
      within == Within::kElements ? SchemaValues::kRules : SchemaValues::kInline;
  const absl::StatusOr<ReadResult> read = ReadJsonSchema(of_schema, limits, budget, values);
  if (!read.ok()) return read.status();
  absl::StatusOr<std::vector<ArgumentType>> types =
      TypeGraph(read->ir, within, budget).Make(read->ir.rules[read->ir.start].body);
  if (!types.ok()) return types.status();
  ArgumentTypes made;
  made.types_ = *std::move(types);
  return made;
}

ArgumentTypes::Number ArgumentTypes::MemberOf(Number object, absl::string_view name) const {
  const ArgumentType& type = types_[object];
  const auto found = type.members.find(name);
  return found == type.members.end() ? type.others : found->second;
}

}  // namespace maskd
