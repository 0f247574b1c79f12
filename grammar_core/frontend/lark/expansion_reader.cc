// One loop with a stack of brackets, each of which knows how it ends, whether it stands in a
// terminal, and what is pending in it: a '~', an alias, a condition. A line's end is space before a
// '|' and ends the definition anywhere else outside of brackets.
//
// Invariant  brackets_ and the stack's open levels match; nothing follows an alias or a condition
//            in its alternative.
// Cost       linear in the text.
// Bounds     limits.source_depth, over all grammars around this one; only %lark recurses, and each
//            counts as kLevelsOfAGrammar.
// Source     Lark's grammar, and llguidance's extensions of it.
#include "grammar_core/frontend/lark/expansion_reader.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/lark/embedded_json.h"
#include "grammar_core/frontend/lark/index_reader.h"
#include "grammar_core/frontend/lark/lark_names.h"
#include "grammar_core/frontend/lark/lark_values.h"
#include "grammar_core/frontend/notation/literal.h"

namespace maskd {
namespace {

// Levels of limits.source_depth that a grammar in a grammar takes: it is read by a call of its own.
constexpr std::int64_t kLevelsOfAGrammar = 8;

bool IsDigit(std::uint32_t c) { return c >= '0' && c <= '9'; }

bool BeginsName(std::uint32_t c) {
  return c < 0x80 && (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_');
}

}  // namespace

ExpansionReader::ExpansionReader(const ExpansionContext& context, const GrammarOptions& options,
                                 NestedGrammarReader read_nested, SourceReading* reading,
                                 SourceGrammar* grammar)
    : context_(context),
      options_(options),
      read_nested_(read_nested),
      reading_(*reading),
      cursor_(reading->cursor),
      grammar_(*grammar),
      stack_(grammar) {}

absl::StatusOr<ExprId> ExpansionReader::Read() {
  assert(brackets_.empty());
  brackets_.push_back({BracketKind::kBody, cursor_.at(), context_.terminal});
  stack_.Open();
  while (true) {
    if (absl::Status status = reading_.budget.Spend(); !status.ok()) return status;
    if (!reading_.builder.status().ok()) return reading_.builder.status();
    const absl::StatusOr<bool> more = PassToNext();
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::Status status = ReadNext(); !status.ok()) return status;
  }
  if (bracket().negated) return cursor_.Expected("a value behind '~'");
  return stack_.Close(cursor_.at(), bracket().condition);
}

// The end of a line is space before a '|'.
absl::StatusOr<bool> ExpansionReader::PassToNext() {
  assert(!brackets_.empty());
  PassInlineSpace(cursor_);
  const std::size_t line_end = cursor_.at();
  const bool in_body = bracket().kind == BracketKind::kBody;
  if (in_body && cursor_.Peek() == '}') return false;
  if (!cursor_.done() && cursor_.Peek() != '\n' && cursor_.Peek() != '\r') return true;
  PassLines(cursor_);
  if (cursor_.Peek() == '|') return true;
  cursor_.MoveTo(line_end);
  if (in_body) return false;
  if (cursor_.done()) return cursor_.Invalid(bracket().at, "the bracket has no end");
  return cursor_.Expected(bracket().kind == BracketKind::kMaybe       ? "']'"
                          : bracket().kind == BracketKind::kArguments ? "'}'"
                                                                      : "')'");
}

absl::Status ExpansionReader::ReadNext() {
  const std::uint32_t c = cursor_.Peek();
  switch (c) {
    case '|':
    case ')':
    case ']':
    case '}':
    case ',':
    case '&':
    case '*':
    case '+':
    case '?':
    case '~':
    case '{':
    case '-':
      return ReadOperator(c);
    default:
      return ReadValue(c);
  }
}

absl::Status ExpansionReader::ReadOperator(std::uint32_t c) {
  const std::size_t at = cursor_.at();
  switch (c) {
    case '|':
      return EndAlternative();
    case ')':
    case ']':
      return CloseGroup(c);
    case '}':
    case ',':
      return CloseArgument(c == '}');
    case '~':
      return ReadTilde();
    case '{':
      return ReadCounts(at);
    case '-':
      return ReadAlias();
    default:
      break;
  }
  if (c == '&' && !bracket().terminal) return cursor_.Invalid(at, "'&' stands in terminals only");
  if (c == '&' && bracket().negated) return cursor_.Expected("a value behind '~'");
  cursor_.Next();
  if (c != '&') return Repeat(at, c == '+' ? 1 : 0, c == '?' ? 1 : kUnbounded);
  stack_.EndOperand(at);
  return absl::OkStatus();
}

absl::Status ExpansionReader::ReadValue(std::uint32_t c) {
  const std::size_t at = cursor_.at();
  switch (c) {
    case '"':
      return ReadCharacters(ReadLarkString(reading_, grammar_));
    case '/':
      return ReadCharacters(ReadLarkPattern(reading_, grammar_));
    case '<':
      return ReadBytes(at, ReadLarkToken(reading_, grammar_));
    case '%':
      return ReadPercent();
    case '(':
      return Open(BracketKind::kGroup, at);
    case '[':
      return Open(BracketKind::kMaybe, at);
    case '@':
      return cursor_.Unsupported(at, "a named grammar (@)");
    default:
      break;
  }
  if (BeginsName(c)) return ReadName();
  return cursor_.Expected("a string, a pattern, a name, a bracket or the end of the definition");
}

// In a rule a string or a pattern is a terminal of its own; "" is none.
absl::Status ExpansionReader::ReadCharacters(absl::StatusOr<ExprId> characters) {
  if (!characters.ok()) return characters.status();
  const Expression& read = grammar_.expressions[*characters];
  assert(read.kind == ExprKind::kCharacters);
  if (!InTerminal() && read.b > 0)
    characters = grammar_.Add({.kind = ExprKind::kLexeme, .at = read.at}, {*characters});
  return Push(*characters);
}

// Tokens and embedded grammars.
absl::Status ExpansionReader::ReadBytes(std::size_t at, absl::StatusOr<ExprId> bytes) {
  if (!bytes.ok()) return bytes.status();
  if (InTerminal()) return cursor_.Invalid(at, "a terminal holds characters only");
  return Push(grammar_.Add({.kind = ExprKind::kLexeme, .at = at}, {*bytes}));
}

absl::Status ExpansionReader::ReadName() {
  const std::size_t at = cursor_.at();
  const absl::StatusOr<absl::string_view> name = ReadLarkName(reading_, "a name");
  if (!name.ok()) return name.status();
  if (const std::optional<std::uint32_t> parameter = ParameterOf(*name)) {
    if (InTerminal() && !context_.terminal)
      return cursor_.Unsupported(at, "a parameter of a rule within a terminal");
    const ExprUse use = InTerminal() ? ExprUse::kCharacters : ExprUse::kRule;
    return Push(
        grammar_.Add({.kind = ExprKind::kParameter, .use = use, .a = *parameter, .at = at}));
  }
  if (InTerminal() && IsRuleName(*name)) {
    return cursor_.Invalid(
        at, absl::StrCat("a terminal cannot hold the rule \"", name->substr(0, 64), "\""));
  }
  const std::size_t name_end = cursor_.at();
  PassInlineSpace(cursor_);
  if (cursor_.Take("::")) return ReadIndexed(*name, at);
  if (cursor_.Take("{")) {
    PassInlineSpace(cursor_);
    const bool counts = IsDigit(cursor_.Peek()) || cursor_.Peek() == ',';
    if (!counts) return OpenArguments(*name, at);
  }
  cursor_.MoveTo(name_end);
  return Push(grammar_.Add(
      {.kind = ExprKind::kName, .use = UseOf(*name), .a = grammar_.Symbol(*name), .at = at}));
}

// Behind "name::".
absl::Status ExpansionReader::ReadIndexed(absl::string_view name, std::size_t at) {
  PassInlineSpace(cursor_);
  const std::size_t step_at = cursor_.at();
  const absl::StatusOr<IndexStep> step = ReadIndexStep(reading_);
  if (!step.ok()) return step.status();
  if (!context_.indexed && step->kind != IndexStep::Kind::kValue)
    return cursor_.Invalid(step_at, "this rule has no index to go on from");
  const auto index = static_cast<std::uint32_t>(grammar_.index_steps.size());
  grammar_.index_steps.push_back(*step);
  return Push(grammar_.Add({.kind = ExprKind::kIndexed,
                            .use = UseOf(name),
                            .a = grammar_.Symbol(name),
                            .b = index,
                            .at = at}));
}

absl::Status ExpansionReader::ReadPercent() {
  assert(cursor_.Peek() == '%');
  const std::size_t at = cursor_.at();
  cursor_.Next();
  const absl::string_view word = TakeWord(reading_);
  if (word == "json") return ReadBytes(at, ReadEmbeddedSchema(options_, reading_, grammar_));
  if (word == "regex") return ReadCharacters(ReadStructuredPattern(reading_, grammar_));
  if (word == "lark") return ReadNestedGrammar(at);
  if (word == "if") return ReadCondition(at);
  return cursor_.Invalid(at, "expected %json, %regex, %lark or %if");
}

absl::Status ExpansionReader::ReadNestedGrammar(std::size_t at) {
  PassLines(cursor_);
  if (!cursor_.Take("{")) return cursor_.Expected("'{' and a grammar");
  const std::int64_t depth =
      context_.depth + static_cast<std::int64_t>(brackets_.size()) + kLevelsOfAGrammar;
  if (absl::Status status = reading_.CheckDepth(at, depth); !status.ok()) return status;
  const absl::StatusOr<RuleId> start = read_nested_(depth);
  if (!start.ok()) return start.status();
  const NodeId call = reading_.builder.Call(*start);
  return ReadBytes(at, grammar_.Add({.kind = ExprKind::kBytes, .a = call, .at = at}));
}

absl::Status ExpansionReader::ReadCondition(std::size_t at) {
  if (!context_.indexed) return cursor_.Invalid(at, "a condition needs a rule with an index");
  if (bracket().kind == BracketKind::kArguments || bracket().condition.has_value())
    return cursor_.Invalid(at, "a condition stands once, at the end of an alternative");
  PassInlineSpace(cursor_);
  absl::StatusOr<IndexCondition> condition = ReadIndexCondition(reading_);
  if (!condition.ok()) return condition.status();
  bracket().condition = static_cast<std::uint32_t>(grammar_.index_conditions.size());
  bracket().ended = true;
  grammar_.index_conditions.push_back(*std::move(condition));
  return absl::OkStatus();
}

// The name of an alternative shapes a tree, and says nothing of texts.
absl::Status ExpansionReader::ReadAlias() {
  const std::size_t at = cursor_.at();
  if (!cursor_.Take("->")) return cursor_.Expected("a value or '->'");
  if (bracket().terminal || bracket().kind == BracketKind::kArguments || bracket().ended)
    return cursor_.Invalid(at, "an alias stands at the end of a rule's alternative");
  PassInlineSpace(cursor_);
  const std::size_t name_at = cursor_.at();
  const absl::StatusOr<absl::string_view> name = ReadLarkName(reading_, "the name of an alias");
  if (!name.ok()) return name.status();
  if (!IsRuleName(*name)) return cursor_.Invalid(name_at, "an alias is in lower case");
  bracket().ended = true;
  return absl::OkStatus();
}

// "~ 2", "~ 2..3", or "~" before what is not to match.
absl::Status ExpansionReader::ReadTilde() {
  assert(cursor_.Peek() == '~');
  const std::size_t at = cursor_.at();
  cursor_.Next();
  PassInlineSpace(cursor_);
  if (IsDigit(cursor_.Peek())) return ReadRange(at, false);
  if (bracket().negated) return cursor_.Invalid(at, "put a bracket around what is negated twice");
  bracket().negated = true;
  return absl::OkStatus();
}

// "{2}", "{2,}", "{,3}", "{2,3}".
absl::Status ExpansionReader::ReadCounts(std::size_t at) {
  assert(cursor_.Peek() == '{');
  cursor_.Next();
  PassInlineSpace(cursor_);
  return ReadRange(at, true);
}

absl::Status ExpansionReader::ReadRange(std::size_t at, bool braces) {
  std::uint32_t min = 0;
  if (!braces || cursor_.Peek() != ',') {
    const absl::StatusOr<std::uint32_t> count = ReadRepeatCount(cursor_);
    if (!count.ok()) return count.status();
    min = *count;
  }
  const std::size_t min_end = cursor_.at();
  std::uint32_t max = min;
  PassInlineSpace(cursor_);
  if (cursor_.Take(braces ? "," : "..")) {
    PassInlineSpace(cursor_);
    max = kUnbounded;
    if (!braces || cursor_.Peek() != '}') {
      const absl::StatusOr<std::uint32_t> count = ReadRepeatCount(cursor_);
      if (!count.ok()) return count.status();
      max = *count;
    }
    PassInlineSpace(cursor_);
  } else if (!braces) {
    cursor_.MoveTo(min_end);
  }
  if (braces && !cursor_.Take("}")) return cursor_.Expected("'}'");
  if (max < min) return cursor_.Invalid(at, absl::StrCat(max, " is less than ", min));
  return Repeat(at, min, max);
}

absl::Status ExpansionReader::Repeat(std::size_t at, std::uint32_t min, std::uint32_t max) {
  assert(min <= max);
  const std::optional<ExprId> last = stack_.Last();
  if (bracket().kind == BracketKind::kArguments) return cursor_.Invalid(at, "expected ',' or '}'");
  if (!last.has_value() || bracket().ended || bracket().negated) {
    return cursor_.Invalid(at, stack_.AtSequenceBegin() || bracket().negated
                                   ? "there is nothing to repeat"
                                   : "an operator stands before; put a bracket around its operand");
  }
  stack_.Replace(grammar_.Add({.kind = ExprKind::kRepeat, .a = min, .b = max, .at = at}, {*last}),
                 true);
  return absl::OkStatus();
}

absl::Status ExpansionReader::Open(BracketKind kind, std::size_t at) {
  cursor_.Next();
  const std::int64_t depth = context_.depth + static_cast<std::int64_t>(brackets_.size());
  if (absl::Status status = reading_.CheckDepth(at, depth); !status.ok()) return status;
  brackets_.push_back({kind, at, InTerminal()});
  stack_.Open();
  return absl::OkStatus();
}

// Behind "name{".
absl::Status ExpansionReader::OpenArguments(absl::string_view name, std::size_t at) {
  const std::int64_t depth = context_.depth + static_cast<std::int64_t>(brackets_.size());
  if (absl::Status status = reading_.CheckDepth(at, depth); !status.ok()) return status;
  const ExprUse use = UseOf(name);
  brackets_.push_back({BracketKind::kArguments, at, InTerminal() || IsTerminalName(name)});
  bracket().symbol = grammar_.Symbol(name);
  bracket().use = use;
  stack_.Open();
  return absl::OkStatus();
}

absl::Status ExpansionReader::CloseGroup(std::uint32_t closing) {
  assert(closing == ')' || closing == ']');
  const std::size_t at = cursor_.at();
  const BracketKind expected = closing == ')' ? BracketKind::kGroup : BracketKind::kMaybe;
  if (bracket().kind != expected) return cursor_.Invalid(at, "no such bracket is open here");
  if (bracket().negated) return cursor_.Expected("a value behind '~'");
  cursor_.Next();
  ExprId group = stack_.Close(bracket().at, bracket().condition);
  brackets_.pop_back();
  if (expected == BracketKind::kMaybe)
    group = grammar_.Add({.kind = ExprKind::kRepeat, .a = 0, .b = 1, .at = at}, {group});
  return Push(group);
}

absl::Status ExpansionReader::CloseArgument(bool last) {
  assert(cursor_.Peek() == ',' || cursor_.Peek() == '}');
  const std::size_t at = cursor_.at();
  if (bracket().kind != BracketKind::kArguments)
    return cursor_.Expected("a value or the end of the definition");
  if (stack_.AtSequenceBegin() || bracket().negated)
    return cursor_.Expected("an argument: a value");
  cursor_.Next();
  bracket().arguments.push_back(stack_.Close(at));
  if (!last) {
    stack_.Open();
    return absl::OkStatus();
  }
  const Bracket closed = std::move(bracket());
  brackets_.pop_back();
  return Push(grammar_.Add(
      {.kind = ExprKind::kName, .use = closed.use, .a = closed.symbol, .at = closed.at},
      closed.arguments));
}

absl::Status ExpansionReader::EndAlternative() {
  assert(cursor_.Peek() == '|');
  const std::size_t at = cursor_.at();
  if (bracket().kind == BracketKind::kArguments) return cursor_.Expected("',' or '}'");
  if (bracket().negated) return cursor_.Expected("a value behind '~'");
  cursor_.Next();
  stack_.EndAlternative(at, bracket().condition);
  bracket().condition.reset();
  bracket().ended = false;
  return absl::OkStatus();
}

// What "~" negates is a terminal, also in a rule.
absl::Status ExpansionReader::Push(ExprId value) {
  assert(value < grammar_.expressions.size());
  const std::size_t at = grammar_.expressions[value].at;
  if (bracket().ended)
    return cursor_.Invalid(at, "an alternative ends with its alias or condition");
  if (bracket().kind == BracketKind::kArguments && !stack_.AtSequenceBegin())
    return cursor_.Invalid(at, "an argument is one value");
  if (std::exchange(bracket().negated, false)) {
    value = grammar_.Add({.kind = ExprKind::kNot, .at = at}, {value});
    if (!bracket().terminal) value = grammar_.Add({.kind = ExprKind::kLexeme, .at = at}, {value});
  }
  stack_.Push(value);
  return absl::OkStatus();
}

std::optional<std::uint32_t> ExpansionReader::ParameterOf(absl::string_view name) const {
  const auto found = std::find(context_.parameters.begin(), context_.parameters.end(), name);
  if (found == context_.parameters.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - context_.parameters.begin());
}

ExprUse ExpansionReader::UseOf(absl::string_view name) const {
  if (InTerminal()) return ExprUse::kCharacters;
  if (IsTerminalName(name)) return ExprUse::kLexeme;
  return context_.needs_characters ? ExprUse::kCharacters : ExprUse::kRule;
}

}  // namespace maskd
