// A schema's IR is rewritten value by value: each value within another is a rule there, and becomes
// a rule here. An array's brackets, commas and white space stay as they are; an object's members
// are put between commas by a chain of rules, two for each member: one where something stands
// before it, one where nothing does.
//
// Cost  linear in the IR; in any order, two to the number of members.
#include "grammar_core/frontend/structural_tag/argument_style.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/structural_tag/fields.h"
#include "grammar_core/frontend/structural_tag/style_rules.h"
#include "grammar_core/frontend/structural_tag/text_dispatch.h"
#include "grammar_core/frontend/structural_tag/value_parts.h"
#include "grammar_core/frontend/structural_tag/xml_style.h"
#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

// Characters of names that no quote, bracket or delimiter of a style can be taken for.
CharSet PlainNameChars() {
  return CharSet({{0, 0x20},
                  {'"', '"'},
                  {'&', ')'},
                  {',', ','},
                  {'/', '/'},
                  {':', ':'},
                  {'<', '>'},
                  {'[', ']'},
                  {'{', '}'},
                  {0x7F, 0x9F}})
      .Complement();
}

CharSet WordBegins() { return CharSet({{'A', 'Z'}, {'_', '_'}, {'a', 'z'}}); }
CharSet WordChars() { return CharSet({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}); }

bool IsPlainName(absl::string_view name) {
  const auto is_plain = [](char c) {
    return absl::string_view("\"&'(),/:<=>[\\]{|}\x7F").find(c) == absl::string_view::npos &&
           static_cast<unsigned char>(c) > ' ';
  };
  return !name.empty() && std::ranges::all_of(name, is_plain);
}

// Of Python, between single quotes.
CharSet PlainStringChars() { return CharSet({{0, 0x1F}, {'\'', '\''}, {'\\', '\\'}}).Complement(); }

class LiteralWriter {
 public:
  // No string ends with one of `last`.
  LiteralWriter(const ArgumentStyle& style, const std::vector<std::string>& excludes,
                const std::vector<std::string>& last, const GrammarOptions& options,
                const IrCopier& copier, MarkerSpeller& speller, IrBuilder& builder, Budget& budget,
                const ReadResult& read)
      : style_(style),
        excludes_(excludes),
        copier_(copier),
        speller_(speller),
        b_(builder),
        read_(read),
        parts_(read.ir, budget),
        place_(read.ir.rules[read.ir.start].place),
        rules_(read.ir, style.name, builder) {
    std::vector<std::string> without = excludes;
    if (!style.is_python() && !speller_.HasMarker(style.quote)) without.push_back(style.quote);
    is_free_ = without.empty();
    names_ = FreeText(without, b_);
    raw_ = FreeText(without, b_, last);
    const bool compact =
        options.white_space == WhiteSpace::kCompact || style.space == ArgumentStyle::Space::kNone;
    const auto most = static_cast<std::uint32_t>(compact ? 0 : options.max_whitespace);
    space_ = b_.Repeat(b_.AnyByteOf(" \t\n\r"), 0, most);
    around_ = style.space == ArgumentStyle::Space::kAroundSigns ? space_ : b_.Empty();
    comma_ = b_.Concat({b_.Bytes(","), space_});
  }

  absl::StatusOr<NodeId> Write() {
    const absl::StatusOr<std::vector<ValueParts::Part>> parts =
        parts_.Of(read_.ir.rules[read_.ir.start].body);
    if (!parts.ok()) return MovedHere(parts.status());
    std::vector<NodeId> objects;
    for (const ValueParts::Part& part : *parts) {
      if (part.type != ValueType::kObject) continue;
      const absl::StatusOr<NodeId> object = ObjectAt(part.node, true);
      if (!object.ok()) return object.status();
      objects.push_back(*object);
    }
    if (objects.empty() && !parts->empty()) return Unsupported("a value that is no object");
    if (absl::Status status = rules_.Define([this](NodeId values) { return Forms(values); });
        !status.ok())
      return status;
    return b_.Alt(std::move(objects));
  }

 private:
  absl::Status Unsupported(absl::string_view what) const {
    return UnsupportedAt(place_, what, absl::StrCat("in the style ", style_.name));
  }

  absl::Status MovedHere(const absl::Status& status) const {
    return ErrorReason(status) == "UNSUPPORTED" && ErrorPlace(status).empty()
               ? Unsupported("a value of this shape")
               : status;
  }

  absl::StatusOr<NodeId> Value(NodeId value) {
    const IrNode& n = read_.ir.nodes[value];
    if (n.kind == IrKind::kCall) return rules_.Call(CalledRuleOf(n));
    return Forms(value);
  }

  absl::StatusOr<NodeId> Forms(NodeId value) {
    const absl::StatusOr<std::vector<ValueParts::Part>> parts = parts_.Of(value);
    if (!parts.ok()) return MovedHere(parts.status());
    std::vector<NodeId> ways;
    for (const ValueParts::Part& part : *parts) {
      const absl::StatusOr<NodeId> form = Form(part);
      if (!form.ok()) return MovedHere(form.status());
      ways.push_back(*form);
    }
    return b_.Alt(std::move(ways));
  }

  absl::StatusOr<NodeId> Form(const ValueParts::Part& part) {
    switch (part.type) {
      case ValueType::kString:
        return part.texts.empty() ? String(part.node) : ListedStrings(part.texts);
      case ValueType::kNumber:
        if (!part.texts.empty()) return b_.Encode(Spelling::kUtf8, b_.CodePointSet(part.texts));
        return copier_.CopyOf(part.node);
      case ValueType::kBoolean:
        return Booleans(part);
      case ValueType::kNull:
        return style_.has_python_words ? b_.Alt({b_.Bytes("None"), b_.Bytes("null")})
                                       : b_.Bytes("null");
      case ValueType::kArray:
        return Items(part.node);
      case ValueType::kObject:
        return ObjectAt(part.node, false);
    }
    return Unsupported("a value of this shape");
  }

  absl::StatusOr<NodeId> Booleans(const ValueParts::Part& part) {
    std::vector<std::string> words;
    for (const std::u32string& text : part.texts) words.push_back(CodePointsToUtf8(text));
    const IrNode* n = &read_.ir.nodes[part.node];
    while (n->kind == IrKind::kEncode) n = &read_.ir.nodes[read_.ir.children[n->first_child]];
    if (part.texts.empty() && n->kind == IrKind::kBytes) words = {BytesOf(read_.ir, *n)};
    if (part.texts.empty() && n->kind == IrKind::kText)
      words = {CodePointsToUtf8(TextOf(read_.ir, *n))};
    if (words.empty()) return Unsupported("a value of this shape");
    std::vector<NodeId> ways;
    for (const std::string& word : words) {
      ways.push_back(b_.Bytes(word));
      if (style_.has_python_words) ways.push_back(b_.Bytes(word == "true" ? "True" : "False"));
    }
    return b_.Alt(std::move(ways));
  }

  NodeId String(NodeId string) {
    const std::optional<NodeId> contents = parts_.Contents(string);
    return Quoted(contents.has_value() ? copier_.CopyOf(*contents) : b_.Text(""));
  }

  // Strings as JSON spells them.
  NodeId ListedStrings(const std::vector<std::u32string>& spelled) {
    std::vector<std::string> texts;
    for (const std::u32string& text : spelled) {
      const auto document = JsonDocument::Parse(CodePointsToUtf8(text), Limits());
      if (document.ok()) texts.emplace_back(document->root().text());
    }
    return Quoted(b_.TextSet(texts));
  }

  NodeId Quoted(NodeId characters) {
    const NodeId held = b_.And({characters, raw_});
    if (!style_.is_python()) {
      const NodeId quote = speller_.Spell(style_.quote, place_);
      return b_.Concat({quote, b_.Encode(Spelling::kUtf8, held), quote});
    }
    const NodeId single = b_.Bytes("'");
    const NodeId in_double =
        b_.Concat({b_.Bytes("\""), b_.Encode(Spelling::kCanonicalJson, held), b_.Bytes("\"")});
    const bool is_any = is_free_ && characters == b_.Repeat(b_.AnyChar(), 0, kUnbounded);
    if (is_any) return b_.Alt({in_double, b_.Concat({single, AnyInSingle(), single})});
    const CharSet no_quote = CharSet({{'\'', '\''}}).Complement();
    const NodeId unquoted = b_.And({held, b_.Repeat(b_.Chars(no_quote), 0, kUnbounded)});
    const NodeId plain = b_.And({held, b_.Repeat(b_.Chars(PlainStringChars()), 0, kUnbounded)});
    return b_.Alt({in_double,
                   b_.Concat({single, b_.Encode(Spelling::kCanonicalJson, unquoted), single}),
                   b_.Concat({single, b_.Encode(Spelling::kUtf8, plain), single})});
  }

  // Any text between single quotes.
  NodeId AnyInSingle() {
    const NodeId plain = b_.Encode(Spelling::kUtf8, b_.Chars(PlainStringChars()));
    const NodeId escaped = b_.Concat({b_.Bytes("\\"), b_.AnyByteOf("'\"\\bfnrt")});
    const NodeId control =
        b_.Concat({b_.Bytes("\\u00"), b_.AnyByteOf("01"), b_.AnyByteOf("0123456789abcdef")});
    return b_.Repeat(b_.Alt({plain, escaped, control}), 0, kUnbounded);
  }

  absl::StatusOr<NodeId> Items(NodeId array) {
    return parts_.Remade(array, [this](NodeId node, const std::vector<NodeId>& children) {
      return FramePart(node, children);
    });
  }

  NodeId FramePart(NodeId node, const std::vector<NodeId>& children) {
    const IrNode& n = read_.ir.nodes[node];
    switch (n.kind) {
      case IrKind::kConcat:
        return b_.Concat(children);
      case IrKind::kAlt:
        return b_.Alt(children);
      case IrKind::kRepeat:
        return b_.Repeat(children[0], AsRepeat(n).min, AsRepeat(n).max);
      case IrKind::kCall:
        return rules_.Call(CalledRuleOf(n));
      default:
        return copier_.CopyOf(node);
    }
  }

  absl::StatusOr<NodeId> ObjectAt(NodeId node, bool is_outermost) {
    const IrNode& n = read_.ir.nodes[node];
    if (n.kind == IrKind::kObject && !ObjectOf(read_.ir, n).is_array)
      return Object(ObjectOf(read_.ir, n), is_outermost);
    return Unsupported(n.kind == IrKind::kDistinct ? "counts and conditions of members"
                                                   : "a given object");
  }

  absl::StatusOr<NodeId> Object(const ObjectSpec& spec, bool is_outermost) {
    if (!spec.conditions.empty() || spec.max_members != kUnbounded || spec.min_members > 0)
      return Unsupported("counts and conditions of members");
    std::vector<NodeId> members;
    for (const ObjectSpec::Member& member : spec.members) {
      if (!IsPlainName(member.name)) return Unsupported("a name that needs quotes or escapes");
      if (style_.names == ArgumentStyle::Names::kWord && !IsWordName(member.name))
        return Unsupported("a name of more than letters, digits and _");
      const absl::StatusOr<NodeId> value = Value(member.value);
      if (!value.ok()) return value.status();
      members.push_back(HoldsAny(member.name, excludes_)
                            ? b_.Nothing()
                            : Member(b_.Bytes(member.name), is_outermost, *value));
    }
    const absl::StatusOr<NodeId> other = Others(spec, is_outermost);
    if (!other.ok()) return other.status();
    const bool is_free = spec.any_order && members.size() > 1 && members.size() <= kMaxFreeMembers;
    const NodeId all =
        is_free ? MembersInAnyOrder(spec, members, *other, comma_, place_, b_).After(0, b_.Empty())
                : DeclaredOrder(spec, members, *other);
    if (is_outermost && !style_.has_outer_braces) return all;
    return b_.Concat({b_.Bytes("{"), around_, all, b_.Bytes("}")});
  }

  NodeId Member(NodeId name, bool is_outermost, NodeId value) {
    if (is_outermost || !style_.is_python()) {
      const NodeId end = b_.Bytes(std::string(1, style_.name_end));
      return b_.Concat({name, around_, end, around_, value, around_});
    }
    const NodeId quoted = b_.Alt({b_.Concat({b_.Bytes("\""), name, b_.Bytes("\"")}),
                                  b_.Concat({b_.Bytes("'"), name, b_.Bytes("'")})});
    return b_.Concat({quoted, b_.Bytes(":"), space_, value});
  }

  absl::StatusOr<NodeId> Others(const ObjectSpec& spec, bool is_outermost) {
    std::vector<std::string> declared;
    for (const ObjectSpec::Member& member : spec.members) declared.push_back(member.name);
    const NodeId plain = OtherNames();
    std::vector<NodeId> ways;
    for (const ObjectSpec::Others& others : spec.others) {
      const NodeId name =
          b_.And({copier_.CopyOf(others.name), plain, names_, b_.Not(b_.TextSet(declared))});
      const absl::StatusOr<NodeId> value = Value(others.value);
      if (!value.ok()) return value.status();
      ways.push_back(Member(b_.Encode(Spelling::kUtf8, name), is_outermost, *value));
    }
    return b_.Alt(std::move(ways));
  }

  // What names may be that no schema declares: characters.
  NodeId OtherNames() {
    switch (style_.other_names) {
      case ArgumentStyle::Names::kPlain:
        return b_.Repeat(b_.Chars(PlainNameChars()), 1, kUnbounded);
      case ArgumentStyle::Names::kWord:
        return b_.Repeat(b_.Chars(WordChars()), 1, kUnbounded);
      case ArgumentStyle::Names::kIdentifier:
        return b_.Concat({b_.Chars(WordBegins()), b_.Repeat(b_.Chars(WordChars()), 0, kUnbounded)});
    }
    return b_.Nothing();
  }

  NodeId AsRule(NodeId node) {
    const RuleId rule = b_.DeclareRule("members", place_);
    b_.DefineRule(rule, node);
    return b_.Call(rule);
  }

  NodeId DeclaredOrder(const ObjectSpec& spec, const std::vector<NodeId>& members, NodeId other) {
    // What may follow behind another member, and where there is none before.
    NodeId behind = b_.Repeat(b_.Concat({comma_, other}), 0, kUnbounded);
    NodeId first = b_.Optional(b_.Concat({other, behind}));
    for (std::size_t i = members.size(); i-- > 0;) {
      const NodeId with = AsRule(b_.Concat({members[i], behind}));
      const NodeId more = b_.Concat({comma_, with});
      const bool required = spec.members[i].required;
      behind = AsRule(required ? more : b_.Alt({more, behind}));
      first = required ? with : AsRule(b_.Alt({with, first}));
    }
    return first;
  }

  const ArgumentStyle& style_;
  const std::vector<std::string>& excludes_;
  const IrCopier& copier_;
  MarkerSpeller& speller_;
  IrBuilder& b_;
  const ReadResult& read_;
  ValueParts parts_;
  const std::string place_;
  NodeId names_;      // characters: what the name of another member may be
  NodeId raw_;        // the same of a string
  bool is_free_;      // that is any text
  NodeId space_;      // bytes
  NodeId around_;     // the same, around names and values
  NodeId comma_;      // with the white space behind it
  StyleRules rules_;  // a rule's values in this style
};

}  // namespace

bool IsWordName(absl::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c));
  });
}

const ArgumentStyle* FindArgumentStyle(absl::string_view name) {
  static const auto& styles =
      *new std::vector<ArgumentStyle>{{.name = "python",
                                       .quote = "",
                                       .has_python_words = true,
                                       .has_outer_braces = false,
                                       .name_end = '=',
                                       .names = ArgumentStyle::Names::kPlain,
                                       .other_names = ArgumentStyle::Names::kPlain,
                                       .space = ArgumentStyle::Space::kBehindSigns},
                                      {.name = "gemma",
                                       .quote = "<|\"|>",
                                       .has_python_words = false,
                                       .has_outer_braces = true,
                                       .name_end = ':',
                                       .names = ArgumentStyle::Names::kPlain,
                                       .other_names = ArgumentStyle::Names::kIdentifier,
                                       .space = ArgumentStyle::Space::kAroundSigns}};
  const auto found = std::ranges::find(styles, name, &ArgumentStyle::name);
  return found == styles.end() ? nullptr : &*found;
}

absl::StatusOr<ArgumentStyle> ReadArgumentStyle(const JsonValue& at) {
  if (absl::Status keys = CheckKeys(at, {"quote", "words", "names"}); !keys.ok()) return keys;
  const absl::StatusOr<absl::string_view> quote = RequiredText(at, "quote");
  if (!quote.ok()) return quote.status();
  if (quote->empty()) return InvalidMember(at, "quote", "must not be empty");
  for (const auto& [key, known] : {std::pair{"words", "json"}, std::pair{"names", "word"}}) {
    const std::optional<JsonValue> member = at.Find(key);
    if (member.has_value() && (!member->is_string() || member->text() != known))
      return InvalidMember(at, key, absl::StrCat("must be \"", known, "\", or left out"));
  }
  const auto names =
      at.Find("names").has_value() ? ArgumentStyle::Names::kWord : ArgumentStyle::Names::kPlain;
  return ArgumentStyle{.name = at.Compact(),
                       .quote = std::string(*quote),
                       .has_python_words = !at.Find("words").has_value(),
                       .names = names,
                       .other_names = names};
}

absl::StatusOr<NodeId> WriteAsLiterals(const ArgumentStyle& style,
                                       const std::vector<std::string>& excludes,
                                       const GrammarOptions& options, const IrCopier& copier,
                                       MarkerSpeller& speller, IrBuilder& builder, Budget& budget,
                                       const ReadResult& read) {
  const std::vector<std::string> ends = {style.quote};
  const auto last = BeginningsOfSoonerEnds(ends, speller, budget);
  if (!last.ok()) return last.status();
  return LiteralWriter(style, excludes, last->front(), options, copier, speller, builder, budget,
                       read)
      .Write();
}

}  // namespace maskd
