#include "grammar_core/frontend/ebnf/macro_arguments.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"

#include "grammar_core/frontend/ebnf/dialect.h"
#include "grammar_core/frontend/notation/literal.h"

namespace maskd {
namespace {

bool IsNameCharacter(std::uint32_t c) {
  return c < 0x80 &&
         (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.');
}

bool IsSpace(std::uint32_t c) {
  return c < 0x80 && absl::ascii_isspace(static_cast<unsigned char>(c));
}

// Passes space and comments.
void PassSpace(PatternCursor& cursor) {
  while (IsSpace(cursor.Peek()) || cursor.Peek() == '#') {
    if (cursor.Next() != '#') continue;
    while (!cursor.done() && cursor.Peek() != '\n' && cursor.Peek() != '\r') cursor.Next();
  }
}

MacroValue ReadWord(SourceReading& reading) {
  const std::size_t at = reading.cursor.at();
  while (IsNameCharacter(reading.cursor.Peek())) reading.cursor.Next();
  std::string word(reading.text.substr(at, reading.cursor.at() - at));
  if (word == "true" || word == "false")
    return {.kind = MacroValue::Kind::kTruth, .at = at, .number = word == "true" ? 1U : 0U};
  return {.kind = MacroValue::Kind::kName, .at = at, .text = std::move(word)};
}

// All but a tuple.
absl::StatusOr<MacroValue> ReadSingle(SourceReading& reading) {
  PatternCursor& cursor = reading.cursor;
  if (absl::Status status = reading.budget.Spend(); !status.ok()) return status;
  const std::size_t at = cursor.at();
  const std::uint32_t c = cursor.Peek();
  if (cursor.Take("\"")) {
    absl::StatusOr<std::string> text =
        ReadQuoted(cursor, LiteralStyleOf(EbnfDialect::kEbnf), reading.budget);
    if (!text.ok()) return text.status();
    return MacroValue{.kind = MacroValue::Kind::kText, .at = at, .text = *std::move(text)};
  }
  if (c >= '0' && c <= '9') {
    const absl::StatusOr<std::uint32_t> number = ReadTokenId(cursor);
    if (!number.ok()) return number.status();
    return MacroValue{.kind = MacroValue::Kind::kNumber, .at = at, .number = *number};
  }
  if (IsNameCharacter(c)) return ReadWord(reading);
  return cursor.Expected("a value: text in quotes, a number, true, false or a rule");
}

// Behind "(". A comma may stand behind the last element.
absl::StatusOr<MacroValue> ReadTuple(SourceReading& reading) {
  PatternCursor& cursor = reading.cursor;
  MacroValue tuple{.kind = MacroValue::Kind::kTuple, .at = cursor.at() - 1};
  PassSpace(cursor);
  while (!cursor.Take(")")) {
    absl::StatusOr<MacroValue> element = ReadSingle(reading);
    if (!element.ok()) return element.status();
    tuple.elements.push_back(*std::move(element));
    PassSpace(cursor);
    if (cursor.Take(","))
      PassSpace(cursor);
    else if (cursor.Peek() != ')')
      return cursor.Expected("',' or ')'");
  }
  return tuple;
}

absl::StatusOr<MacroValue> ReadValue(SourceReading& reading) {
  return reading.cursor.Take("(") ? ReadTuple(reading) : ReadSingle(reading);
}

absl::StatusOr<MacroArgument> ReadArgument(SourceReading& reading) {
  PatternCursor& cursor = reading.cursor;
  MacroArgument argument{{}, cursor.at(), {}};
  absl::StatusOr<MacroValue> value = ReadValue(reading);
  if (!value.ok()) return value.status();
  PassSpace(cursor);
  if (value->kind == MacroValue::Kind::kName && cursor.Take("=")) {
    argument.name = std::move(value->text);
    PassSpace(cursor);
    value = ReadValue(reading);
    if (!value.ok()) return value.status();
    PassSpace(cursor);
  }
  argument.value = *std::move(value);
  return argument;
}

}  // namespace

absl::StatusOr<std::vector<MacroArgument>> ReadMacroArguments(SourceReading& reading) {
  PatternCursor& cursor = reading.cursor;
  std::vector<MacroArgument> arguments;
  absl::flat_hash_set<std::string> names;
  PassSpace(cursor);
  if (!cursor.Take("(")) return cursor.Expected("'(' and the arguments of the macro");
  PassSpace(cursor);
  if (cursor.Take(")")) return arguments;
  do {
    PassSpace(cursor);
    absl::StatusOr<MacroArgument> argument = ReadArgument(reading);
    if (!argument.ok()) return argument.status();
    if (!argument->name.empty() && !names.insert(argument->name).second)
      return cursor.Invalid(argument->at, "the argument stands before");
    arguments.push_back(*std::move(argument));
  } while (cursor.Take(","));
  if (!cursor.Take(")")) return cursor.Expected("',' or ')'");
  return arguments;
}

}  // namespace maskd
