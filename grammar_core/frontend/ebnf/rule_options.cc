#include "grammar_core/frontend/ebnf/rule_options.h"

#include <limits>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/ebnf/dialect.h"
#include "grammar_core/frontend/notation/literal.h"

namespace maskd {
namespace {

constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::int32_t>::max();

void PassSpaces(PatternCursor& cursor) {
  while (cursor.Take(" ") || cursor.Take("\t")) {
  }
}

absl::Status TakeEquals(PatternCursor& cursor) {
  PassSpaces(cursor);
  if (!cursor.Take("=")) return cursor.Expected("'='");
  PassSpaces(cursor);
  return absl::OkStatus();
}

absl::Status ReadName(SourceReading& reading) {
  PatternCursor& cursor = reading.cursor;
  const std::size_t begin = cursor.at();
  if (!cursor.Take("\"")) return cursor.Expected("a name in quotes");
  const absl::StatusOr<std::string> name =
      ReadQuoted(cursor, LiteralStyleOf(EbnfDialect::kEbnf), reading.budget);
  if (!name.ok()) return name.status();
  return name->empty() ? cursor.Invalid(begin, "the name is empty") : absl::OkStatus();
}

// The value of an option that holds the text to nothing.
absl::Status ReadIdleOption(absl::string_view option, std::size_t at, SourceReading& reading) {
  reading.Warn(at, absl::StrCat("the option ", option, " holds the text to nothing"));
  PatternCursor& cursor = reading.cursor;
  PassSpaces(cursor);
  if (option == "capture" && cursor.Peek() != '=') return absl::OkStatus();
  if (absl::Status status = TakeEquals(cursor); !status.ok()) return status;
  if (option == "capture" || option == "stop_capture") return ReadName(reading);
  return ReadNumber(cursor, "a number", option, kMaxNumber).status();
}

absl::Status ReadItsTemperature(SourceReading& reading, RuleOptions* options) {
  if (absl::Status status = TakeEquals(reading.cursor); !status.ok()) return status;
  const absl::StatusOr<float> temperature = ReadTemperature(reading.cursor);
  if (temperature.ok()) options->temperature = *temperature;
  return temperature.status();
}

bool IsIdle(absl::string_view option) {
  return option == "capture" || option == "stop_capture" ||
         option == "capture_hidden_suffix_bytes" || option == "capture_hidden_stop_bytes" ||
         option == "capture_hidden_body_rule_id" || option == "capture_hidden_marker_rule_id";
}

absl::Status ReadOption(absl::string_view option, std::size_t at, SourceReading& reading,
                        RuleOptions* options) {
  if (option == "lazy") {
    options->lazy = true;
    return absl::OkStatus();
  }
  if (option == "max_chars" || option == "max_tokens") {
    if (absl::Status status = TakeEquals(reading.cursor); !status.ok()) return status;
    const absl::StatusOr<std::uint64_t> count =
        ReadNumber(reading.cursor, "a number", option, kMaxNumber);
    if (!count.ok()) return count.status();
    (option == "max_chars" ? options->max_chars : options->max_tokens) =
        static_cast<std::uint32_t>(*count);
    return absl::OkStatus();
  }
  if (option == "temperature") return ReadItsTemperature(reading, options);
  if (IsIdle(option)) return ReadIdleOption(option, at, reading);
  return reading.cursor.Invalid(
      at, "expected an option: lazy, max_chars, max_tokens, capture, stop_capture or temperature");
}

}  // namespace

ExprId RuleOptions::Applied(ExprId body, SourceGrammar& grammar) const {
  if (lazy) body = grammar.Add({.kind = ExprKind::kShortest, .at = at}, {body});
  if (max_chars.has_value())
    body = grammar.Add({.kind = ExprKind::kAtMost, .a = *max_chars, .at = at}, {body});
  if (max_tokens.has_value())
    body = grammar.Add({.kind = ExprKind::kLimited, .a = *max_tokens, .at = at}, {body});
  return body;
}

absl::StatusOr<RuleOptions> ReadRuleOptions(SourceReading& reading) {
  PatternCursor& cursor = reading.cursor;
  RuleOptions options;
  options.at = cursor.at() - 1;
  absl::flat_hash_set<absl::string_view> seen;
  do {
    PassSpaces(cursor);
    const std::size_t at = cursor.at();
    while (absl::ascii_islower(static_cast<unsigned char>(cursor.Peek())) || cursor.Peek() == '_')
      cursor.Next();
    const absl::string_view option = reading.text.substr(at, cursor.at() - at);
    if (!option.empty() && !seen.insert(option).second)
      return cursor.Invalid(at, "the option stands before");
    if (absl::Status status = ReadOption(option, at, reading, &options); !status.ok())
      return status;
    PassSpaces(cursor);
  } while (cursor.Take(","));
  if (!cursor.Take("]")) return cursor.Expected("',' or ']'");
  if (options.lazy && options.max_chars.has_value())
    return cursor.Unsupported(options.at, "max_chars beside lazy");
  return options;
}

bool PassRuleOptions(PatternCursor& cursor) {
  cursor.Take("[");
  bool in_quotes = false;
  while (!cursor.done() && cursor.Peek() != '\n' && cursor.Peek() != '\r') {
    if (!in_quotes && cursor.Take("]")) return true;
    if (cursor.Take("\\"))
      cursor.Next();
    else if (cursor.Next() == '"')
      in_quotes = !in_quotes;
  }
  return false;
}

}  // namespace maskd
