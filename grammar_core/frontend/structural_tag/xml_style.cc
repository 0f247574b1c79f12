// A style is a row of texts around names, types and values; one writer serves all. The object's IR
// is walked as a schema left it. Each member becomes an element whose value is the alternation of
// its types' forms: strings without quotes, the rest as JSON.
//
// Invariant  no value holds a text that closes its element, so the first close is the end. Only a
//            string in a CDATA section may; the first end of that is its end.
// Cost       linear in the IR; members in any order take a node for each set of them that is left.
// Bounds     kMaxFreeMembers members in any order; more are written as declared, with a warning.
// Source     the models' chat templates; xgrammar's names.
#include "grammar_core/frontend/structural_tag/xml_style.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/quoted.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/structural_tag/fields.h"
#include "grammar_core/frontend/structural_tag/style_rules.h"
#include "grammar_core/frontend/structural_tag/text_dispatch.h"
#include "grammar_core/frontend/structural_tag/value_parts.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

#define DSML     \
  "\xef\xbd\x9c" \
  "DSML"         \
  "\xef\xbd\x9c"

const std::vector<XmlStyle>& NamedStyles() {
  static const std::vector<XmlStyle>& styles = *new std::vector<XmlStyle>{
      XmlStyle{.name = "qwen_xml",
               .open = "<parameter=",
               .behind_name = ">",
               .close = "</parameter>",
               .pad = "\n"},
      XmlStyle{.name = "minimax_xml",
               .open = "<parameter name=\"",
               .behind_name = "\">",
               .close = "</parameter>"},
      XmlStyle{.name = "minimax_m3_xml",
               .open = "]<]minimax[>[<",
               .behind_name = ">",
               .close = "]<]minimax[>[</",
               .item_open = "]<]minimax[>[<item>",
               .item_close = "]<]minimax[>[</item>",
               .space_around_strings = false,
               .closes_by_name = true},
      XmlStyle{.name = "deepseek_xml",
               .open = "<" DSML "parameter name=\"",
               .behind_name = "\" string=\"",
               .type_names = {"true", "false", "false", "false", "false", "false"},
               .before_value = "\">",
               .close = "</" DSML "parameter>"},
      XmlStyle{.name = "deepseek_v4_1_xml",
               .open = "<" DSML " parameter name=\"",
               .behind_name = "\" string=\"",
               .type_names = {"true", "false", "false", "false", "false", "false"},
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
               .type_names = {"raw", "json", "json", "json", "list", "dict"},
               .before_value = "\">",
               .close = "</cofl:value>",
               .item_open = "<cofl:value type=\"",
               .item_close = "</cofl:value>",
               .escapes_names = true},
      XmlStyle{.name = "kimi_k3_xml",
               .open = "<|open|>argument key=\"",
               .behind_name = "\" type=\"",
               .type_names = {"string", "number", "boolean", "null", "array", "object"},
               .before_value = "\"<|sep|>",
               .close = "<|close|>argument<|sep|>"},
  };
  return styles;
}

absl::string_view TypeName(const XmlStyle& style, ValueType type) {
  return style.type_names[static_cast<std::size_t>(type)];
}

// Characters of names that need no escape in any of the styles.
CharSet PlainNameChars() {
  return CharSet({{0, 0x20}, {'"', '"'}, {'&', '\''}, {'/', '/'}, {'<', '>'}, {0x7F, 0x9F}})
      .Complement();
}

std::uint32_t FirstOf(absl::string_view text) {
  std::size_t at = 0;
  return DecodeUtf8(text, &at).value_or(0);
}

class XmlWriter {
 public:
  // What strings and the names of other members do not end with.
  struct Lasts {
    std::vector<std::string> of_strings;
    std::vector<std::string> of_names;
  };

  XmlWriter(const XmlStyle& style, const XmlExcludes& excludes, const Lasts& lasts,
            const GrammarOptions& options, const IrCopier& copier, MarkerSpeller& speller,
            IrBuilder& builder, Budget& budget, ReadResult& read)
      : style_(style),
        excludes_(excludes.of_all),
        copier_(copier),
        speller_(speller),
        b_(builder),
        read_(read),
        parts_(read.ir, budget),
        place_(read.ir.rules[read.ir.start].place),
        rules_(read.ir, style.name, builder) {
    without_ = excludes.of_all;
    if (may_be_cdata_) in_cdata_ = Without(without_, style.cdata_end);
    if (!speller_.HasMarker(style.end_of_values())) without_.emplace_back(style.end_of_values());
    std::vector<std::string> of_names = without_;
    const bool may_hold_end = PlainNameChars().Contains(FirstOf(style.behind_name));
    if (may_hold_end && !speller_.HasMarker(style.behind_name))
      of_names.push_back(style.behind_name);
    names_ = FreeText(of_names, b_, lasts.of_names);
    raw_ = FreeText(without_, b_, lasts.of_strings);
    if (may_be_cdata_) raw_ = b_.And({raw_, NotBeginning(style.cdata_begin)});
    std::vector<std::string> of_whole = without_;
    of_whole.insert(of_whole.end(), excludes.of_a_whole_value.begin(),
                    excludes.of_a_whole_value.end());
    whole_ = FreeText(of_whole, b_, excludes.at_its_end);
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
      if (part.type != ValueType::kObject) continue;
      const absl::StatusOr<NodeId> object = ObjectAt(part.node);
      if (!object.ok()) return object.status();
      objects.push_back(*object);
    }
    if (objects.empty()) {
      const absl::StatusOr<std::vector<NodeId>> values = WholeValues(*parts);
      if (!values.ok()) return values.status();
      objects = *values;
    }
    if (absl::Status status = rules_.Define([this](NodeId values) { return Forms(values); });
        !status.ok())
      return status;
    return b_.Alt(std::move(objects));
  }

 private:
  // Of no objects. A string goes on until the tag around it ends.
  absl::StatusOr<std::vector<NodeId>> WholeValues(const std::vector<ValueParts::Part>& parts) {
    raw_ = whole_;
    may_be_cdata_ = false;
    std::vector<NodeId> values;
    for (const ValueParts::Part& part : parts) {
      const absl::StatusOr<NodeId> value = Form(part);
      if (!value.ok()) return MovedHere(value.status());
      values.push_back(*value);
    }
    return values;
  }

  absl::Status Unsupported(absl::string_view what) const {
    return UnsupportedAt(place_, what, absl::StrCat("in the style ", style_.name));
  }

  // Objects whose members are counted by their names are distinct members of others.
  absl::StatusOr<NodeId> ObjectAt(NodeId node) {
    const IrNode& n = read_.ir.nodes[node];
    if (n.kind == IrKind::kObject) return Object(ObjectOf(read_.ir, n));
    return Unsupported(n.kind == IrKind::kDistinct ? "counts and conditions of members"
                                                   : "a given object");
  }

  absl::StatusOr<NodeId> Object(const ObjectSpec& spec) {
    if (!spec.conditions.empty() || spec.max_members != kUnbounded || spec.min_members > 0)
      return Unsupported("counts and conditions of members");
    std::vector<NodeId> members;
    for (const ObjectSpec::Member& member : spec.members) {
      const absl::StatusOr<NodeId> element = Element(b_.Bytes(NameOf(member)), member.value);
      if (!element.ok()) return element.status();
      const absl::StatusOr<bool> is_written = IsWritten(member);
      if (!is_written.ok()) return is_written.status();
      members.push_back(*is_written ? *element : b_.Nothing());
    }
    const absl::StatusOr<NodeId> other = Others(spec);
    if (!other.ok()) return other.status();
    const bool free = spec.any_order && members.size() > 1;
    if (free && members.size() <= kMaxFreeMembers) {
      const MembersInAnyOrder all(spec, std::move(members), *other, b_.Empty(), place_, b_);
      return b_.Concat({space_, all.CallOfAll()});
    }
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

  // A name that ends sooner would be read back as another one. Such a member is left out, if it may
  // be.
  absl::StatusOr<bool> IsWritten(const ObjectSpec::Member& member) {
    if (HoldsAny(member.name, excludes_)) return false;
    if (!EndsSooner(NameOf(member))) return true;
    const std::string what = absl::StrCat("the name ", Quoted(member.name), ", which holds ",
                                          Quoted(style_.behind_name));
    if (member.required) return Unsupported(what);
    AddWarning({place_, absl::StrCat(what, ", is left out in the style ", style_.name)},
               &read_.warnings);
    return false;
  }

  // Whether what ends a name stands in it, or begins in it.
  bool EndsSooner(absl::string_view name) const {
    return !speller_.HasMarker(style_.behind_name) &&
           absl::StrCat(name, style_.behind_name).find(style_.behind_name) < name.size();
  }

  NodeId DeclaredOrder(const ObjectSpec& spec, const std::vector<NodeId>& members, NodeId other) {
    std::vector<NodeId> sequence = {space_};
    for (std::size_t i = 0; i < members.size(); ++i)
      sequence.push_back(spec.members[i].required ? members[i] : b_.Optional(members[i]));
    sequence.push_back(b_.Repeat(other, 0, kUnbounded));
    return b_.Concat(sequence);
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
          b_.And({copier_.CopyOf(others.name), plain, names_, b_.Not(b_.TextSet(declared))});
      const absl::StatusOr<NodeId> way = Element(b_.Encode(Spelling::kUtf8, name), others.value);
      if (!way.ok()) return way.status();
      ways.push_back(*way);
    }
    return b_.Alt(std::move(ways));
  }

  NodeId Spelled(absl::string_view text) { return speller_.Spell(text, place_); }

  // One with all that its value may be, and white space behind it.
  absl::StatusOr<NodeId> Element(NodeId name, NodeId value) {
    const IrNode& n = read_.ir.nodes[value];
    const bool called = style_.nests() && n.kind == IrKind::kCall;
    const absl::StatusOr<NodeId> forms = called ? rules_.Call(CalledRuleOf(n)) : Forms(value);
    if (!forms.ok()) return forms.status();
    const NodeId gap = style_.space_in_head ? space_ : b_.Empty();
    const NodeId end = style_.closes_by_name ? b_.Concat({name, b_.Bytes(">")}) : b_.Empty();
    return b_.Concat({Spelled(style_.open), name, Spelled(style_.behind_name), gap, *forms,
                      Spelled(style_.close), end, space_});
  }

  // What stands between the head of an element and its close.
  absl::StatusOr<NodeId> Forms(NodeId value) {
    const absl::StatusOr<std::vector<ValueParts::Part>> parts = parts_.Of(value);
    if (!parts.ok()) return MovedHere(parts.status());
    std::vector<NodeId> ways;
    for (const ValueParts::Part& part : *parts) {
      const absl::StatusOr<NodeId> form = Form(part);
      if (!form.ok()) return MovedHere(form.status());
      ways.push_back(
          b_.Concat({b_.Bytes(TypeName(style_, part.type)), Spelled(style_.before_value), *form}));
    }
    return b_.Alt(std::move(ways));
  }

  absl::StatusOr<NodeId> Form(const ValueParts::Part& part) {
    if (style_.nests() && part.type == ValueType::kArray) return Items(part.node);
    if (style_.nests() && part.type == ValueType::kObject) return ObjectAt(part.node);
    return Value(part);
  }

  // An array without its brackets and commas, each item an element.
  absl::StatusOr<NodeId> Items(NodeId array) {
    const absl::StatusOr<NodeId> items =
        parts_.Remade(array, [this](NodeId node, const std::vector<NodeId>& children) {
          return FramePart(read_.ir.nodes[node], children);
        });
    if (!items.ok()) return items.status();
    return b_.Concat({space_, *items});
  }

  NodeId FramePart(const IrNode& n, const std::vector<NodeId>& children) {
    switch (n.kind) {
      case IrKind::kConcat:
        return b_.Concat(children);
      case IrKind::kAlt:
        return b_.Alt(children);
      case IrKind::kRepeat:
        return b_.Repeat(children[0], AsRepeat(n).min, AsRepeat(n).max);
      case IrKind::kCall:
        return b_.Concat({Spelled(style_.item_open), rules_.Call(CalledRuleOf(n)),
                          Spelled(style_.item_close), space_});
      default:
        return b_.Empty();
    }
  }

  NodeId Value(const ValueParts::Part& part) {
    if (!part.texts.empty()) return Spaced(b_.Encode(Spelling::kUtf8, b_.CodePointSet(part.texts)));
    if (part.type != ValueType::kString) return Spaced(copier_.CopyOf(part.node));
    const std::optional<NodeId> contents = parts_.Contents(part.node);
    if (!contents.has_value()) return OrCdata(Padded(b_.Empty()), b_.Empty());
    const NodeId characters = copier_.CopyOf(*contents);
    if (!may_be_cdata_)
      for (const std::u32string& listed : parts_.Listed(*contents)) WarnOfEnds(listed);
    const NodeId text = b_.Encode(Spelling::kUtf8, b_.And({characters, raw_}));
    return OrCdata(IsEndless(read_.ir, *contents) ? text : Padded(text), characters);
  }

  // Listed strings that cannot be written are told.
  void WarnOfEnds(const std::u32string& listed) {
    const std::string text = CodePointsToUtf8(listed);
    for (const std::string& end : without_) {
      if (!absl::StrContains(text, end)) continue;
      AddWarning({place_, absl::StrCat(Quoted(text), " is left out: the style ", style_.name,
                                       " cannot write ", Quoted(end), " in a value")},
                 &read_.warnings);
    }
  }

  // `plain`, or the same string in a CDATA section; nothing stands around that.
  NodeId OrCdata(NodeId plain, NodeId characters) {
    if (!may_be_cdata_) return plain;
    const NodeId string = b_.Encode(Spelling::kUtf8, b_.And({characters, in_cdata_}));
    return b_.Alt(
        {plain, b_.Concat({Spelled(style_.cdata_begin), string, Spelled(style_.cdata_end)})});
  }

  // Characters without `texts` and, unless it is a marker, `end`.
  NodeId Without(std::vector<std::string> texts, absl::string_view end) {
    if (!end.empty() && !speller_.HasMarker(end)) texts.emplace_back(end);
    return FreeText(texts, b_);
  }

  NodeId NotBeginning(absl::string_view text) {
    return b_.Not(b_.Concat({b_.Text(text), b_.Repeat(b_.AnyChar(), 0, kUnbounded)}));
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
  const std::vector<std::string>& excludes_;
  const IrCopier& copier_;
  MarkerSpeller& speller_;
  IrBuilder& b_;
  ReadResult& read_;
  ValueParts parts_;
  const std::string place_;
  std::vector<std::string> without_;  // what no value holds
  NodeId names_;                      // characters: what the name of another member may be
  NodeId raw_;                        // the same of a string
  NodeId whole_;                      // the same of one that is the whole value
  NodeId in_cdata_{};                 // the same of one in a CDATA section
  bool may_be_cdata_ = !style_.cdata_begin.empty();
  NodeId space_;      // bytes
  StyleRules rules_;  // a rule's values in this style
};

}  // namespace

const XmlStyle* FindXmlStyle(absl::string_view name) {
  for (const XmlStyle& style : NamedStyles())
    if (style.name == name) return &style;
  return nullptr;
}

std::vector<absl::string_view> XmlStyleNames() {
  std::vector<absl::string_view> names;
  for (const XmlStyle& style : NamedStyles()) names.emplace_back(style.name);
  return names;
}

absl::StatusOr<XmlStyle> ReadXmlStyle(const JsonValue& at) {
  const absl::Status keys = CheckKeys(
      at, {"open", "behind_name", "before_value", "close", "pad", "cdata_begin", "cdata_end"});
  if (!keys.ok()) return keys;
  XmlStyle style;
  style.name = at.Compact();
  for (const auto& [key, text] :
       {std::pair{"open", &style.open}, std::pair{"behind_name", &style.behind_name},
        std::pair{"close", &style.close}}) {
    const absl::StatusOr<absl::string_view> read = RequiredText(at, key);
    if (!read.ok()) return read.status();
    if (read->empty()) return InvalidMember(at, key, "must not be empty");
    *text = std::string(*read);
  }
  for (const auto& [key, text] :
       {std::pair{"before_value", &style.before_value}, std::pair{"pad", &style.pad},
        std::pair{"cdata_begin", &style.cdata_begin}, std::pair{"cdata_end", &style.cdata_end}}) {
    const std::optional<JsonValue> read = at.Find(key);
    if (!read.has_value()) continue;
    if (!read->is_string()) return InvalidMember(at, key, "must be a string");
    *text = std::string(read->text());
  }
  if (style.cdata_begin.empty() != style.cdata_end.empty())
    return InvalidAt(at.Pointer(), "cdata_begin and cdata_end must be said together");
  if (!style.cdata_begin.empty() && !style.pad.empty())
    return InvalidMember(at, "pad", "is not supported beside cdata_begin");
  // What stands before the value may have white space before it, as where keys and values are
  // elements of their own.
  style.space_in_head = !style.before_value.empty();
  return style;
}

absl::StatusOr<NodeId> WriteAsXml(const XmlStyle& style, const XmlExcludes& excludes,
                                  const GrammarOptions& options, const IrCopier& copier,
                                  MarkerSpeller& speller, IrBuilder& builder, Budget& budget,
                                  ReadResult& read) {
  const auto of_strings =
      BeginningsOfSoonerEnds({std::string(style.end_of_values())}, speller, budget);
  if (!of_strings.ok()) return of_strings.status();
  const auto of_names = BeginningsOfSoonerEnds({style.behind_name}, speller, budget);
  if (!of_names.ok()) return of_names.status();
  const XmlWriter::Lasts lasts = {of_strings->front(), of_names->front()};
  return XmlWriter(style, excludes, lasts, options, copier, speller, builder, budget, read).Write();
}

}  // namespace maskd
