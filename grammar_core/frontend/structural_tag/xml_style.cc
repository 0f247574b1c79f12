#include "grammar_core/frontend/structural_tag/xml_style.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/structural_tag/text_dispatch.h"

namespace maskd {
namespace {

#define DSML     \
  "\xef\xbd\x9c" \
  "DSML"         \
  "\xef\xbd\x9c"

constexpr std::array kStyles = {
    XmlStyle{
        .name = "qwen_xml", .open = "<parameter=", .behind_name = ">", .close = "</parameter>"},
    XmlStyle{.name = "minimax_xml",
             .open = "<parameter name=\"",
             .behind_name = "\">",
             .close = "</parameter>"},
    XmlStyle{.name = "minimax_m3_xml",
             .open = "]<]minimax[>[<",
             .behind_name = ">",
             .close = "]<]minimax[>[</",
             .space_around_strings = false,
             .nests = true,
             .closes_by_name = true},
    XmlStyle{.name = "deepseek_xml",
             .open = "<" DSML "parameter name=\"",
             .behind_name = "\" string=\"",
             .string_type = "true",
             .number_type = "false",
             .boolean_type = "false",
             .null_type = "false",
             .array_type = "false",
             .object_type = "false",
             .before_value = "\">",
             .close = "</" DSML "parameter>"},
    XmlStyle{.name = "deepseek_v4_1_xml",
             .open = "<" DSML " parameter name=\"",
             .behind_name = "\" string=\"",
             .string_type = "true",
             .number_type = "false",
             .boolean_type = "false",
             .null_type = "false",
             .array_type = "false",
             .object_type = "false",
             .before_value = "\">",
             .close = "</" DSML " parameter>",
             .space_around_strings = false},
    XmlStyle{.name = "glm_xml",
             .open = "<arg_key>",
             .behind_name = "</arg_key>",
             .before_value = "<arg_value>",
             .close = "</arg_value>",
             .space_in_head = true},
    XmlStyle{.name = "cohere_xml",
             .open = "<cofl:value name=\"",
             .behind_name = "\" type=\"",
             .string_type = "raw",
             .number_type = "json",
             .boolean_type = "json",
             .null_type = "json",
             .array_type = "list",
             .object_type = "dict",
             .before_value = "\">",
             .close = "</cofl:value>",
             .nests = true,
             .escapes_names = true},
    XmlStyle{.name = "kimi_k3_xml",
             .open = "<|open|>argument key=\"",
             .behind_name = "\" type=\"",
             .string_type = "string",
             .number_type = "number",
             .boolean_type = "boolean",
             .null_type = "null",
             .array_type = "array",
             .object_type = "object",
             .before_value = "\"<|sep|>",
             .close = "<|close|>argument<|sep|>"},
};

// What a part of a value's texts begins with, so what it is.
enum class ValueType : std::uint8_t { kString, kNumber, kBoolean, kNull, kArray, kObject };

std::optional<ValueType> TypeBegunBy(char byte) {
  switch (byte) {
    case '"':
      return ValueType::kString;
    case '[':
      return ValueType::kArray;
    case '{':
      return ValueType::kObject;
    case 't':
    case 'f':
      return ValueType::kBoolean;
    case 'n':
      return ValueType::kNull;
    default:
      if (byte == '-' || (byte >= '0' && byte <= '9')) return ValueType::kNumber;
      return std::nullopt;
  }
}

absl::string_view TypeName(const XmlStyle& style, ValueType type) {
  switch (type) {
    case ValueType::kString:
      return style.string_type;
    case ValueType::kNumber:
      return style.number_type;
    case ValueType::kBoolean:
      return style.boolean_type;
    case ValueType::kNull:
      return style.null_type;
    case ValueType::kArray:
      return style.array_type;
    case ValueType::kObject:
      return style.object_type;
  }
  return "";
}

// Characters of names that need no escape in any of the styles.
CharSet PlainNameChars() {
  return CharSet({{0, 0x20}, {'"', '"'}, {'&', '\''}, {'/', '/'}, {'<', '>'}, {0x7F, 0x9F}})
      .Complement();
}

// Values as the IR of JSON Schema has them, taken apart by their types.
class ValueParts {
 public:
  struct Part {
    ValueType type;
    NodeId node;
    // Those texts of `node` that are of the type, where it is a list of more than one type.
    std::vector<std::u32string> texts = {};
  };

  ValueParts(const GrammarIr& ir, Budget& budget) : ir_(ir), budget_(budget) {}

  // The parts that `value` is a choice of, through calls of rules.
  absl::StatusOr<std::vector<Part>> Of(NodeId value) const {
    std::vector<Part> parts;
    absl::flat_hash_set<NodeId> seen = {value};
    std::vector<NodeId> open = {value};
    while (!open.empty()) {
      if (absl::Status status = budget_.Spend(); !status.ok()) return status;
      const NodeId node = open.back();
      open.pop_back();
      const IrNode& n = ir_.nodes[node];
      if (n.kind == IrKind::kNothing) continue;
      if (n.kind == IrKind::kCall) {
        if (const NodeId body = ir_.rules[n.a].body; seen.insert(body).second) open.push_back(body);
      } else if (n.kind == IrKind::kAlt) {
        for (std::uint32_t i = n.child_count; i-- > 0;) open.push_back(Child(n, i));
      } else if (IsList(n)) {
        AddListed(node, &parts);
      } else {
        const std::optional<ValueType> type = TypeOf(node);
        if (!type.has_value()) return UnsupportedAt("", "a value of this shape in an XML style");
        parts.push_back({*type, node});
      }
    }
    return parts;
  }

  // The characters of a string's contents; nothing where it is empty.
  [[nodiscard]] std::optional<NodeId> Contents(NodeId string) const {
    const IrNode& n = ir_.nodes[string];
    if (n.kind != IrKind::kConcat || n.child_count != 3) return std::nullopt;
    const IrNode& encoded = ir_.nodes[Child(n, 1)];
    return encoded.kind == IrKind::kEncode ? std::optional(Child(encoded, 0)) : std::nullopt;
  }

 private:
  [[nodiscard]] NodeId Child(const IrNode& n, std::uint32_t i) const {
    return ir_.children[n.first_child + i];
  }

  // Whether a node is a list of scalars as JSON spells them.
  [[nodiscard]] bool IsList(const IrNode& n) const {
    return n.kind == IrKind::kEncode && ir_.nodes[Child(n, 0)].kind == IrKind::kTextSet;
  }

  void AddListed(NodeId list, std::vector<Part>* parts) const {
    std::map<ValueType, std::vector<std::u32string>> by_type;
    for (const std::u32string& text : ir_.text_sets[ir_.nodes[Child(ir_.nodes[list], 0)].a]) {
      const std::optional<ValueType> type = TypeBegunBy(static_cast<char>(text.front()));
      by_type[type.value_or(ValueType::kNumber)].push_back(text);
    }
    for (auto& [type, texts] : by_type) parts->push_back({type, list, std::move(texts)});
  }

  // By the first byte, which tells the types of JSON apart.
  [[nodiscard]] std::optional<ValueType> TypeOf(NodeId node) const {
    for (;;) {
      const IrNode& n = ir_.nodes[node];
      switch (n.kind) {
        case IrKind::kBytes:
          return TypeBegunBy(ir_.byte_strings[n.a].front());
        case IrKind::kByteSet:
        case IrKind::kNumber:
          return ValueType::kNumber;
        case IrKind::kObject:
          return ir_.objects[n.a].is_array ? ValueType::kArray : ValueType::kObject;
        case IrKind::kText:
          return TypeBegunBy(static_cast<char>(ir_.texts[n.a].front()));
        case IrKind::kConcat:
        case IrKind::kAlt:
        case IrKind::kRepeat:
        case IrKind::kEncode:
          node = Child(n, 0);
          break;
        default:
          return std::nullopt;
      }
    }
  }

  const GrammarIr& ir_;
  Budget& budget_;
};

class XmlWriter {
 public:
  XmlWriter(const XmlStyle& style, const std::vector<std::string>& excludes,
            const GrammarOptions& options, const IrCopier& copier, IrBuilder& builder,
            Budget& budget, ReadResult& read)
      : style_(style),
        copier_(copier),
        b_(builder),
        budget_(budget),
        read_(read),
        parts_(read.ir, budget),
        place_(read.ir.rules[read.ir.start].place) {
    std::vector<std::string> without = excludes;
    without.emplace_back(absl::StripSuffix(style.close, style.closes_by_name ? "</" : ""));
    raw_ = FreeText(without, b_);
    const bool compact = options.white_space == WhiteSpace::kCompact;
    const auto most = static_cast<std::uint32_t>(compact ? 0 : options.max_whitespace);
    space_ = b_.Repeat(b_.AnyByteOf(" \t\n\r"), 0, most);
  }

  absl::StatusOr<NodeId> Write() {
    const absl::StatusOr<std::vector<ValueParts::Part>> parts =
        parts_.Of(read_.ir.rules[read_.ir.start].body);
    if (!parts.ok()) return parts.status();
    std::vector<NodeId> objects;
    for (const ValueParts::Part& part : *parts) {
      const IrNode& n = read_.ir.nodes[part.node];
      if (n.kind != IrKind::kObject || part.type != ValueType::kObject) continue;
      const absl::StatusOr<NodeId> object = Object(read_.ir.objects[n.a]);
      if (!object.ok()) return object.status();
      objects.push_back(*object);
    }
    if (objects.empty() && !parts->empty()) {
      return InvalidAt(place_, absl::StrCat("the style ", style_.name,
                                            " writes objects, and the schema has none"));
    }
    return b_.Alt(std::move(objects));
  }

 private:
  absl::StatusOr<NodeId> Object(const ObjectSpec& spec) {
    if (!spec.conditions.empty() || spec.max_members != kUnbounded || spec.min_members > 0) {
      return UnsupportedAt(place_, "counts and conditions of members",
                           absl::StrCat("in the style ", style_.name));
    }
    std::vector<NodeId> members;
    for (const ObjectSpec::Member& member : spec.members) {
      const absl::StatusOr<NodeId> element = Element(b_.Bytes(NameOf(member)), member.value);
      if (!element.ok()) return element.status();
      members.push_back(*element);
    }
    const absl::StatusOr<NodeId> other = Others(spec);
    if (!other.ok()) return other.status();
    const bool free = spec.any_order && members.size() > 1;
    if (free && members.size() <= kMaxFreeMembers) return AnyOrder(spec, members, *other);
    if (free) {
      AddWarning({place_, absl::StrCat("more than ", kMaxFreeMembers, " members in the style ",
                                       style_.name, " are written in their order")},
                 &read_.warnings);
    }
    return DeclaredOrder(spec, members, *other);
  }

  std::string NameOf(const ObjectSpec::Member& member) const {
    if (!style_.escapes_names) return member.name;
    return absl::StrReplaceAll(member.name,
                               {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
  }

  NodeId DeclaredOrder(const ObjectSpec& spec, const std::vector<NodeId>& members, NodeId other) {
    std::vector<NodeId> sequence = {space_};
    for (std::size_t i = 0; i < members.size(); ++i) {
      sequence.push_back(spec.members[i].required ? members[i] : b_.Optional(members[i]));
    }
    sequence.push_back(b_.Repeat(other, 0, kUnbounded));
    return b_.Concat(sequence);
  }

  // A rule for each set of members that are behind.
  NodeId AnyOrder(const ObjectSpec& spec, const std::vector<NodeId>& members, NodeId other) {
    const std::size_t sets = std::size_t{1} << members.size();
    std::size_t required = 0;
    std::vector<RuleId> rules;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (spec.members[i].required) required |= std::size_t{1} << i;
    }
    for (std::size_t set = 0; set < sets; ++set) rules.push_back(b_.DeclareRule("members", place_));
    for (std::size_t set = 0; set < sets; ++set) {
      std::vector<NodeId> ways = {b_.Concat({other, b_.Call(rules[set])})};
      if ((set & required) == required) ways.push_back(b_.Empty());
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::size_t bit = std::size_t{1} << i;
        if ((set & bit) == 0) ways.push_back(b_.Concat({members[i], b_.Call(rules[set | bit])}));
      }
      b_.DefineRule(rules[set], b_.Alt(std::move(ways)));
    }
    return b_.Concat({space_, b_.Call(rules.front())});
  }

  absl::StatusOr<NodeId> Others(const ObjectSpec& spec) {
    std::vector<std::string> declared;
    for (const ObjectSpec::Member& member : spec.members) declared.push_back(member.name);
    std::vector<NodeId> ways;
    for (const ObjectSpec::Others& others : spec.others) {
      if (style_.closes_by_name) {
        AddBound(absl::StrCat("the style ", style_.name, " has declared members only"));
        continue;
      }
      const NodeId plain = b_.Repeat(b_.Chars(PlainNameChars()), 1, kUnbounded);
      const NodeId name =
          b_.And({copier_.CopyOf(others.name), plain, raw_, b_.Not(b_.TextSet(declared))});
      const absl::StatusOr<NodeId> way = Element(b_.Encode(Spelling::kUtf8, name), others.value);
      if (!way.ok()) return way.status();
      ways.push_back(*way);
    }
    return b_.Alt(std::move(ways));
  }

  // One with all that its value may be, and white space behind it.
  absl::StatusOr<NodeId> Element(NodeId name, NodeId value) {
    const absl::StatusOr<std::vector<ValueParts::Part>> parts = parts_.Of(value);
    if (!parts.ok()) return MovedHere(parts.status());
    std::vector<NodeId> ways;
    for (const ValueParts::Part& part : *parts) {
      const bool nested = part.type == ValueType::kArray || part.type == ValueType::kObject;
      if (style_.nests && nested) {
        return UnsupportedAt(place_, "arrays and objects within an object",
                             absl::StrCat("in the style ", style_.name));
      }
      ways.push_back(b_.Concat(
          {b_.Bytes(TypeName(style_, part.type)), b_.Bytes(style_.before_value), Value(part)}));
    }
    const NodeId gap = style_.space_in_head ? space_ : b_.Empty();
    const NodeId end = style_.closes_by_name ? b_.Concat({name, b_.Bytes(">")}) : b_.Empty();
    return b_.Concat({b_.Bytes(style_.open), name, b_.Bytes(style_.behind_name), gap,
                      b_.Alt(std::move(ways)), b_.Bytes(style_.close), end, space_});
  }

  NodeId Value(const ValueParts::Part& part) {
    if (!part.texts.empty()) {
      return Spaced(b_.Encode(Spelling::kUtf8, b_.CodePointSet(part.texts)));
    }
    if (part.type != ValueType::kString) return Spaced(copier_.CopyOf(part.node));
    const std::optional<NodeId> contents = parts_.Contents(part.node);
    if (!contents.has_value()) return Padded(b_.Empty());
    const NodeId text = b_.Encode(Spelling::kUtf8, b_.And({copier_.CopyOf(*contents), raw_}));
    return IsEndless(read_.ir, *contents) ? text : Padded(text);
  }

  NodeId Padded(NodeId string) { return style_.space_around_strings ? Spaced(string) : string; }

  NodeId Spaced(NodeId value) {
    return style_.closes_by_name ? value : b_.Concat({space_, value, space_});
  }

  absl::Status MovedHere(const absl::Status& status) const {
    return ErrorReason(status) == "UNSUPPORTED"
               ? UnsupportedAt(place_, "a value of this shape", style_.name)
               : status;
  }

  void AddBound(std::string message) {
    const Diagnostic bound = {place_, std::move(message)};
    const auto same = [&](const Diagnostic& one) {
      return one.place == bound.place && one.message == bound.message;
    };
    if (std::none_of(read_.bounds.begin(), read_.bounds.end(), same)) read_.bounds.push_back(bound);
  }

  const XmlStyle& style_;
  const IrCopier& copier_;
  IrBuilder& b_;
  Budget& budget_;
  ReadResult& read_;
  ValueParts parts_;
  const std::string place_;
  NodeId raw_;    // characters: what a string may be
  NodeId space_;  // bytes
};

}  // namespace

const XmlStyle* FindXmlStyle(absl::string_view name) {
  const auto* const found = std::find_if(kStyles.begin(), kStyles.end(),
                                         [&](const XmlStyle& one) { return one.name == name; });
  return found == kStyles.end() ? nullptr : found;
}

std::vector<absl::string_view> XmlStyleNames() {
  std::vector<absl::string_view> names;
  for (const XmlStyle& style : kStyles) names.push_back(style.name);
  return names;
}

absl::StatusOr<NodeId> WriteAsXml(const XmlStyle& style, const std::vector<std::string>& excludes,
                                  const GrammarOptions& options, const IrCopier& copier,
                                  IrBuilder& builder, Budget& budget, ReadResult& read) {
  return XmlWriter(style, excludes, options, copier, builder, budget, read).Write();
}

}  // namespace maskd
