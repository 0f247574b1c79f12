// Two dialects share one loop: each turn reads an element, an operator or a bracket, and pushes or
// replaces an expression on a stack. GBNF ends a rule at a line's end outside of groups. EBNF ends
// it where a name with "::=" stands, which takes a look ahead over that name and its options.
//
// Invariant  groups_ and the stack's open levels match; a look-ahead is the last element of its
//            rule.
// Cost       linear in the text; only the look ahead reads a name twice.
// Source     llama.cpp's GBNF; xgrammar's EBNF, as it is read and as it is printed.
#include "grammar_core/frontend/ebnf/ebnf_reader.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/ebnf/char_class.h"
#include "grammar_core/frontend/ebnf/macros.h"
#include "grammar_core/frontend/ebnf/rule_options.h"
#include "grammar_core/frontend/notation/literal.h"

namespace maskd {
namespace {

bool IsNameCharacter(EbnfDialect dialect, std::uint32_t c) {
  if (c >= 0x80) return false;
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ||
         (dialect == EbnfDialect::kEbnf && c == '.');
}

bool IsNewline(std::uint32_t c) { return c == '\n' || c == '\r'; }

}  // namespace

EbnfReader::EbnfReader(EbnfDialect dialect, SourceReading* reading, SourceGrammar* grammar)
    : dialect_(dialect),
      reading_(*reading),
      cursor_(reading->cursor),
      grammar_(*grammar),
      stack_(grammar) {}

absl::Status EbnfReader::Read() {
  if (absl::Status status = cursor_.CheckUtf8(); !status.ok()) return status;
  PassSpace(true);
  while (!cursor_.done()) {
    if (absl::Status status = ReadRule(); !status.ok()) return status;
    PassSpace(true);
  }
  return absl::OkStatus();
}

absl::Status EbnfReader::ReadRule() {
  const std::size_t at = cursor_.at();
  const bool at_line_begin = AtLineBegin();
  const std::string name(TakeName());
  if (name.empty()) return cursor_.Expected("the name of a rule");
  if (ebnf() && !at_line_begin) return cursor_.Invalid(at, "a rule's name must begin its line");
  if (absl::Status status = reading_.CheckNew(grammar_, name, at); !status.ok()) return status;
  absl::StatusOr<RuleOptions> options = RuleOptions();
  if (ebnf() && cursor_.Take("[")) options = ReadRuleOptions(reading_);
  if (!options.ok()) return options.status();
  if (options->temperature.has_value() && name == "root")
    reading_.temperature = options->temperature;
  else if (options->temperature.has_value())
    reading_.Warn(options->at, kPartialTemperature);
  PassSpaceInRule();
  if (!cursor_.Take("::=")) return cursor_.Expected("'::='");
  PassSpace(true);
  use_ = options->needs_characters() ? ExprUse::kCharacters : ExprUse::kRule;
  const auto first = static_cast<ExprId>(grammar_.expressions.size());
  absl::StatusOr<ExprId> body = ReadBody();
  if (!body.ok()) return body.status();
  body = options->Applied(*body, grammar_);
  grammar_.Define({.symbol = grammar_.Symbol(name), .at = at, .first = first, .body = *body});
  return absl::OkStatus();
}

absl::StatusOr<ExprId> EbnfReader::ReadBody() {
  ended_ = false;
  stack_.Open();
  while (!AtRuleEnd()) {
    if (absl::Status status = reading_.budget.Spend(); !status.ok()) return status;
    if (absl::Status status = ReadNext(); !status.ok()) return status;
    if (!reading_.builder.status().ok()) return reading_.builder.status();
  }
  if (!groups_.empty())
    return cursor_.Invalid(groups_.back().at, "the group has no end, expected ')'");
  if (absl::Status status = CheckNotEmpty(); !status.ok()) return status;
  return stack_.Close(cursor_.at());
}

bool EbnfReader::AtRuleEnd() {
  if (cursor_.done()) return true;
  return ebnf() ? AtRuleBegin() : groups_.empty() && IsNewline(cursor_.Peek());
}

absl::Status EbnfReader::ReadNext() {
  const std::uint32_t c = cursor_.Peek();
  absl::Status status;
  switch (c) {
    case '|':
      if (ended_) return cursor_.Expected("the end of the rule after a look-ahead");
      if (status = CheckNotEmpty(); !status.ok()) return status;
      stack_.EndAlternative(cursor_.at());
      cursor_.Next();
      PassSpace(true);
      return absl::OkStatus();
    case ')':
      status = CloseGroup();
      break;
    case '*':
    case '+':
    case '?':
    case '{':
      status = ReadRepetition(c);
      break;
    default:
      if (ended_) return cursor_.Expected("the end of the rule after a look-ahead");
      status = ReadElement(c);
      break;
  }
  PassSpaceInRule();
  return status;
}

absl::Status EbnfReader::ReadElement(std::uint32_t c) {
  switch (c) {
    case '"':
      return ReadLiteral();
    case '[':
      return ReadClass();
    case '(':
      return ReadGroupOpening();
    case '.':
      if (ebnf()) break;
      stack_.Push(AddCharacters(grammar_, reading_.builder.AnyChar(), 1, cursor_.at()));
      cursor_.Next();
      return absl::OkStatus();
    case '<':
    case '!':
      if (ebnf()) break;
      return ReadToken();
    default:
      break;
  }
  if (IsNameCharacter(dialect_, c)) return ReadName();
  return cursor_.Expected("a literal, a class, a name, a group or the end of the rule");
}

absl::Status EbnfReader::ReadLiteral() {
  const std::size_t at = cursor_.at();
  cursor_.Next();
  const absl::StatusOr<std::string> text =
      ReadQuoted(cursor_, LiteralStyleOf(dialect_), reading_.budget);
  if (!text.ok()) return text.status();
  stack_.Push(AddCharacters(grammar_, reading_.builder.Text(*text), text->size(), at));
  return absl::OkStatus();
}

absl::Status EbnfReader::ReadClass() {
  const std::size_t at = cursor_.at();
  cursor_.Next();
  const absl::StatusOr<CharSet> set = ReadEbnfClass(dialect_, cursor_, reading_.budget);
  if (!set.ok()) return set.status();
  stack_.Push(AddCharacters(grammar_, reading_.builder.Chars(*set), 1, at));
  return absl::OkStatus();
}

// <[id]>, <name>, and either behind '!'.
absl::Status EbnfReader::ReadToken() {
  const std::size_t at = cursor_.at();
  TokenSpec spec;
  spec.place = reading_.lines.Place(at);
  spec.negated = cursor_.Take("!");
  const std::size_t name_begin = cursor_.at();
  if (!cursor_.Take("<")) return cursor_.Expected("a token: <name> or <[id]>");
  if (cursor_.Take("[")) {
    const absl::StatusOr<std::uint32_t> id = ReadTokenId(cursor_);
    if (!id.ok()) return id.status();
    spec.ids.emplace_back(*id, *id);
    if (!cursor_.Take("]>")) return cursor_.Expected("']>'");
  } else {
    absl::string_view name;
    if (!cursor_.TakeUntil(">", &name) || name.empty())
      return cursor_.Invalid(name_begin, "expected a token: <name> or <[id]>");
    spec.names.emplace_back(absl::StrCat("<", name, ">"));
  }
  const NodeId node = reading_.builder.Tokens(std::move(spec));
  stack_.Push(grammar_.Add({.kind = ExprKind::kBytes, .a = node, .at = at}));
  return absl::OkStatus();
}

absl::Status EbnfReader::ReadName() {
  const std::size_t at = cursor_.at();
  const absl::string_view name = TakeName();
  if (name.empty()) return cursor_.Expected("a name, which begins with no digit");
  if (ebnf() && IsMacro(name)) {
    const absl::StatusOr<ExprId> made = ReadMacro(name, at, reading_, grammar_);
    if (!made.ok()) return made.status();
    stack_.Push(*made);
    return absl::OkStatus();
  }
  stack_.Push(
      grammar_.Add({.kind = ExprKind::kName, .use = use_, .a = grammar_.Symbol(name), .at = at}));
  return absl::OkStatus();
}

absl::Status EbnfReader::ReadGroupOpening() {
  const std::size_t at = cursor_.at();
  cursor_.Next();
  const bool lookahead = ebnf() && cursor_.Take("=");
  if (lookahead && (!groups_.empty() || stack_.AtSequenceBegin()))
    return cursor_.Invalid(at, "a look-ahead stands at the end of its rule");
  if (lookahead) reading_.Warn(at, "a look-ahead is a hint and holds the text to nothing");
  groups_.push_back({at, lookahead});
  const auto depth = static_cast<std::int64_t>(groups_.size());
  if (absl::Status status = reading_.CheckDepth(at, depth); !status.ok()) return status;
  stack_.Open();
  PassSpace(true);
  // "()" is the one group that may be empty.
  if (cursor_.Peek() == ')' && !lookahead)
    stack_.Push(grammar_.Add({.kind = ExprKind::kSequence, .at = at}));
  return absl::OkStatus();
}

absl::Status EbnfReader::CloseGroup() {
  const std::size_t at = cursor_.at();
  if (groups_.empty()) return cursor_.Invalid(at, "no group is open here");
  if (absl::Status status = CheckNotEmpty(); !status.ok()) return status;
  cursor_.Next();
  const ExprId group = stack_.Close(groups_.back().at);
  ended_ = groups_.back().lookahead;
  groups_.pop_back();
  if (!ended_) stack_.Push(group);
  return absl::OkStatus();
}

// In GBNF an alternative may be empty.
absl::Status EbnfReader::CheckNotEmpty() const {
  if (!ebnf() || !stack_.AtSequenceBegin()) return absl::OkStatus();
  return cursor_.Expected("a literal, a class, a name or a group (\"\" is the empty text)");
}

absl::Status EbnfReader::ReadRepetition(std::uint32_t c) {
  if (ended_) return cursor_.Expected("the end of the rule after a look-ahead");
  const std::size_t at = cursor_.at();
  const std::optional<ExprId> last = stack_.Last();
  if (!last.has_value()) {
    return cursor_.Invalid(at, stack_.AtSequenceBegin()
                                   ? "there is nothing to repeat"
                                   : "an operator stands before; put a group around its operand");
  }
  cursor_.Next();
  std::uint32_t min = c == '+' ? 1 : 0;
  std::uint32_t max = c == '?' ? 1 : kUnbounded;
  if (c == '{') {
    if (absl::Status status = ReadCounts(&min, &max); !status.ok()) return status;
    if (max < min) return cursor_.Invalid(at, absl::StrCat(max, " is less than ", min));
  }
  stack_.Replace(grammar_.Add({.kind = ExprKind::kRepeat, .a = min, .b = max, .at = at}, {*last}),
                 ebnf());
  return absl::OkStatus();
}

// Behind "{".
absl::Status EbnfReader::ReadCounts(std::uint32_t* min, std::uint32_t* max) {
  PassSpaceInRule();
  const absl::StatusOr<std::uint32_t> first = ReadRepeatCount(cursor_);
  if (!first.ok()) return first.status();
  *min = *max = *first;
  PassSpaceInRule();
  if (cursor_.Take(",")) {
    *max = kUnbounded;
    PassSpaceInRule();
    // xgrammar prints {n, -1} for {n,}.
    if (cursor_.Peek() != '}' && !(ebnf() && cursor_.Take("-1"))) {
      const absl::StatusOr<std::uint32_t> second = ReadRepeatCount(cursor_);
      if (!second.ok()) return second.status();
      *max = *second;
    }
    PassSpaceInRule();
  }
  return cursor_.Take("}") ? absl::OkStatus() : cursor_.Expected("'}'");
}

bool EbnfReader::AtRuleBegin() {
  const std::size_t begin = cursor_.at();
  bool found = !TakeName().empty();
  if (found && cursor_.Peek() == '[') found = PassRuleOptions(cursor_);
  if (found) {
    PassSpace(true);
    found = cursor_.Take("::=");
  }
  cursor_.MoveTo(begin);
  return found;
}

bool EbnfReader::AtLineBegin() const {
  std::size_t at = cursor_.at();
  while (at > 0 && (reading_.text[at - 1] == ' ' || reading_.text[at - 1] == '\t')) --at;
  return at == 0 || IsNewline(static_cast<unsigned char>(reading_.text[at - 1]));
}

void EbnfReader::PassSpace(bool newlines) {
  while (true) {
    const std::uint32_t c = cursor_.Peek();
    if (c == '#')
      while (!cursor_.done() && !IsNewline(cursor_.Peek())) cursor_.Next();
    else if (c == ' ' || c == '\t' || (newlines && IsNewline(c)))
      cursor_.Next();
    else
      return;
  }
}

void EbnfReader::PassSpaceInRule() { PassSpace(ebnf() || !groups_.empty()); }

absl::string_view EbnfReader::TakeName() {
  const std::size_t begin = cursor_.at();
  if (ebnf() && cursor_.Peek() >= '0' && cursor_.Peek() <= '9') return {};
  while (IsNameCharacter(dialect_, cursor_.Peek())) cursor_.Next();
  return reading_.text.substr(begin, cursor_.at() - begin);
}

}  // namespace maskd
