// Prints a node once: inside its only user where it is short, on a line of its own otherwise. Nodes
// stand behind their children, so one pass backwards counts the uses and one forwards prints.
//
// Invariant  a node's text is made before any of its users'.
// Cost       linear in the IR, whatever is shared.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"

#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/ir/ir_views.h"
#include "grammar_core/ir/payload_text.h"

namespace maskd {
namespace {

// A longer expression gets a line of its own.
constexpr std::size_t kMaxInlineBytes = 240;

class Printer {
 public:
  explicit Printer(const GrammarIr& ir) : ir_(ir), uses_(ir.nodes.size()), text_(ir.nodes.size()) {}

  std::string Print() {
    CountUses();
    for (NodeId node = 0; node < ir_.nodes.size(); ++node)
      if (uses_[node] > 0) PrintNode(node);
    std::string out = absl::StrCat("start = ", RuleName(ir_.start), "\n");
    for (RuleId rule = 0; rule < ir_.rules.size(); ++rule) {
      absl::StrAppend(&out, RuleName(rule), " ", QuotedText(ir_.rules[rule].name), " = ",
                      Use(ir_.rules[rule].body), "\n");
    }
    for (const std::string& line : lines_) absl::StrAppend(&out, line, "\n");
    return out;
  }

 private:
  static std::string RuleName(RuleId rule) { return absl::StrCat("r", rule); }

  absl::Span<const NodeId> Children(const IrNode& n) const {
    return absl::MakeConstSpan(ir_.children).subspan(n.first_child, n.child_count);
  }

  // Nodes that no rule reaches are not counted: parents come after their children.
  void CountUses() {
    for (const IrRule& rule : ir_.rules) ++uses_[rule.body];
    for (NodeId node = static_cast<NodeId>(ir_.nodes.size()); node-- > 0;) {
      if (uses_[node] == 0) continue;
      const IrNode& n = ir_.nodes[node];
      for (const NodeId child : Children(n)) ++uses_[child];
      if (n.kind == IrKind::kObject) CountObjectUses(ObjectOf(ir_, n));
    }
  }

  void CountObjectUses(const ObjectSpec& spec) {
    std::vector<NodeId> nodes;
    AppendNodes(spec, &nodes);
    for (const NodeId node : nodes) ++uses_[node];
  }

  void PrintNode(NodeId node) {
    std::string text = Expression(ir_.nodes[node]);
    const bool leaf = ir_.nodes[node].child_count == 0 && ir_.nodes[node].kind != IrKind::kObject;
    if (text.size() > kMaxInlineBytes || (uses_[node] > 1 && !leaf)) {
      std::string name = absl::StrCat("n", lines_.size());
      lines_.push_back(absl::StrCat(name, " = ", text));
      text = std::move(name);
    }
    text_[node] = std::move(text);
  }

  // The node's text, taken along where this is its only use.
  std::string Use(NodeId node) { return --uses_[node] == 0 ? std::move(text_[node]) : text_[node]; }

  std::string Joined(const IrNode& n, absl::string_view separator) {
    std::vector<std::string> parts;
    for (const NodeId child : Children(n)) parts.push_back(Use(child));
    return absl::StrCat("(", absl::StrJoin(parts, separator), ")");
  }

  static std::string Marks(const std::vector<ObjectSpec::Mark>& marks) {
    return marks.empty() ? "" : absl::StrCat(" +", absl::StrJoin(marks, "+"));
  }

  static std::string Conditions(const ObjectSpec& spec) {
    std::string out;
    for (const ObjectSpec::Condition& condition : spec.conditions) {
      const std::string some =
          condition.some.empty() ? "never" : absl::StrJoin(condition.some, " or ");
      const bool always = condition.unless_all.empty();
      const std::string when =
          always ? "" : absl::StrCat(" if ", absl::StrJoin(condition.unless_all, " and "));
      absl::StrAppend(&out, some, when, ", ");
    }
    if (spec.min_members > 0) absl::StrAppend(&out, "at least ", spec.min_members, ", ");
    if (spec.max_members != kUnbounded) absl::StrAppend(&out, "at most ", spec.max_members, ", ");
    return out;
  }

  std::string Object(const ObjectSpec& spec) {
    std::string out = spec.is_array    ? "distinct_items{"
                      : spec.any_order ? "object_any_order{"
                                       : "object{";
    for (const ObjectSpec::Member& member : spec.members) {
      if (member.bare) absl::StrAppend(&out, "bare ");
      absl::StrAppend(&out, QuotedText(member.name), member.required ? "!: " : ": ",
                      Use(member.value));
      for (const ObjectSpec::Way& way : member.ways)
        absl::StrAppend(&out, " ~ ", Use(way.value), Marks(way.marks));
      out += ", ";
    }
    for (const ObjectSpec::Others& others : spec.others) {
      absl::StrAppend(&out, "other ", Use(others.name), ": ");
      absl::StrAppend(&out, Use(others.value), Marks(others.marks), ", ");
    }
    absl::StrAppend(&out, Conditions(spec), "space ", Use(spec.space));
    const auto behind = [&](absl::string_view sign, NodeId space) {
      if (space != spec.space) absl::StrAppend(&out, ", after ", sign, " ", Use(space));
    };
    behind("colon", spec.space_after_colon());
    behind("comma", spec.space_after_comma());
    if (spec.is_block()) absl::StrAppend(&out, ", lines of ", spec.indent);
    if (spec.spelling != Spelling::kJsonString)
      absl::StrAppend(&out, ", names ", SpellingName(spec.spelling));
    return absl::StrCat(out, "}");
  }

  std::string Expression(const IrNode& n) {
    switch (n.kind) {
      case IrKind::kNothing:
        return "nothing";
      case IrKind::kEmpty:
        return "empty";
      case IrKind::kBytes:
        return absl::StrCat("b", QuotedText(BytesOf(ir_, n)));
      case IrKind::kByteSet:
        return absl::StrCat("b", ByteClassText(ByteSetOf(ir_, n)));
      case IrKind::kTokens:
        return TokenListText(TokensOf(ir_, n));
      case IrKind::kNumber:
        return ToString(NumberOf(ir_, n));
      case IrKind::kText:
        return QuotedText(TextOf(ir_, n));
      case IrKind::kTextSet:
        return TextListText(TextSetOf(ir_, n));
      case IrKind::kCharSet:
        return CharClassText(CharSetOf(ir_, n).ranges());
      case IrKind::kConcat:
        return Joined(n, " ");
      case IrKind::kAlt:
        return Joined(n, " | ");
      case IrKind::kRepeat:
        return Use(Children(n)[0]) + RepeatText(AsRepeat(n).min, AsRepeat(n).max);
      case IrKind::kAnd:
        return Joined(n, " & ");
      case IrKind::kNot:
        return absl::StrCat("!", Use(Children(n)[0]));
      case IrKind::kEncode:
        return absl::StrCat(SpellingName(n.spelling), "<", Use(Children(n)[0]), ">");
      case IrKind::kCall:
        return RuleName(CalledRuleOf(n));
      case IrKind::kObject:
        return Object(ObjectOf(ir_, n));
      case IrKind::kDistinct:
        return absl::StrCat("distinct<", Use(Children(n)[0]), ">");
      case IrKind::kLimited:
        return absl::StrCat("tokens[", MostTokensOf(n), "]<", Use(Children(n)[0]), ">");
      case IrKind::kBreak:
        return absl::StrCat("break<", BreakSpacesOf(n), ">");
      case IrKind::kBlock:
        return absl::StrCat("block", std::string(1, AsBlock(n).open), AsBlock(n).spaces, "<",
                            Use(Children(n)[0]), ">");
    }
    return "";
  }

  const GrammarIr& ir_;
  std::vector<int> uses_;
  std::vector<std::string> text_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string PrintIr(const GrammarIr& ir) { return Printer(ir).Print(); }

}  // namespace maskd
