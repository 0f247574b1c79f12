#include "grammar_core/frontend/lark/rule_attributes.h"

#include <limits>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/lark/lark_names.h"
#include "grammar_core/frontend/lark/lark_values.h"
#include "grammar_core/frontend/notation/literal.h"

namespace maskd {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();

class AttributeReader {
 public:
  AttributeReader(SourceReading& reading, SourceGrammar& grammar)
      : reading_(reading), cursor_(reading.cursor), grammar_(grammar) {}

  absl::StatusOr<RuleAttributes> Read() {
    attributes_.at = cursor_.at() - 1;
    absl::flat_hash_set<absl::string_view> seen;
    do {
      PassInlineSpace(cursor_);
      const std::size_t at = cursor_.at();
      const absl::string_view name = TakeWord(reading_);
      if (!name.empty() && !seen.insert(name).second)
        return cursor_.Invalid(at, "the attribute stands before");
      PassInlineSpace(cursor_);
      if (absl::Status status = ReadAttribute(name, at); !status.ok()) return status;
      PassInlineSpace(cursor_);
    } while (cursor_.Take(","));
    if (!cursor_.Take("]")) return cursor_.Expected("',' or ']'");
    if (attributes_.max_chars.has_value() && attributes_.is_terminal())
      return cursor_.Unsupported(attributes_.at, "max_chars beside lazy, suffix or stop");
    if (attributes_.max_tokens.has_value() && attributes_.end.has_value())
      return cursor_.Unsupported(attributes_.at, "max_tokens beside suffix or stop");
    return attributes_;
  }

 private:
  absl::Status ReadAttribute(absl::string_view name, std::size_t at) {
    if (name == "lazy") {
      attributes_.lazy = true;
      return absl::OkStatus();
    }
    if (name == "suffix" || name == "stop") return ReadEnd(name, at);
    if (name == "max_chars") return ReadMost(name, &attributes_.max_chars);
    if (name == "max_tokens") return ReadMost(name, &attributes_.max_tokens);
    if (name == "capture" || name == "stop_capture") return ReadIdle(name, at);
    if (name == "temperature") return ReadItsTemperature();
    return cursor_.Invalid(
        at,
        "expected an attribute: lazy, suffix, stop, max_chars, max_tokens, capture or temperature");
  }

  absl::Status TakeEquals() {
    if (!cursor_.Take("=")) return cursor_.Expected("'='");
    PassInlineSpace(cursor_);
    return absl::OkStatus();
  }

  // A string, a pattern or the name of a terminal.
  absl::Status ReadEnd(absl::string_view name, std::size_t at) {
    if (attributes_.end.has_value())
      return cursor_.Invalid(at, "suffix and stop exclude each other");
    if (absl::Status status = TakeEquals(); !status.ok()) return status;
    absl::StatusOr<ExprId> end;
    if (cursor_.Peek() == '"') {
      const std::size_t quote = cursor_.at();
      if (cursor_.Take("\"\"")) return cursor_.Unsupported(at, absl::StrCat(name, "=\"\""));
      cursor_.MoveTo(quote);
      end = ReadLarkString(reading_, grammar_);
    } else if (cursor_.Peek() == '/') {
      end = ReadLarkPattern(reading_, grammar_);
    } else {
      end = ReadTerminalName();
    }
    if (end.ok()) attributes_.end = *end;
    return end.status();
  }

  absl::StatusOr<ExprId> ReadTerminalName() {
    const std::size_t at = cursor_.at();
    const absl::StatusOr<absl::string_view> name =
        ReadLarkName(reading_, "a string, a pattern or a terminal");
    if (!name.ok()) return name.status();
    if (!IsTerminalName(*name)) return cursor_.Invalid(at, "expected a terminal, not a rule");
    return grammar_.Add({.kind = ExprKind::kName,
                         .use = ExprUse::kCharacters,
                         .a = grammar_.Symbol(*name),
                         .at = at});
  }

  absl::Status ReadMost(absl::string_view name, std::optional<std::uint32_t>* most) {
    if (absl::Status status = TakeEquals(); !status.ok()) return status;
    const absl::StatusOr<std::uint64_t> count = ReadNumber(cursor_, "a number", name, kMost);
    if (count.ok()) *most = static_cast<std::uint32_t>(*count);
    return count.status();
  }

  absl::Status ReadIdle(absl::string_view name, std::size_t at) {
    reading_.Warn(at, absl::StrCat("the attribute ", name, " holds the text to nothing"));
    if (name == "capture" && cursor_.Peek() != '=') return absl::OkStatus();
    if (absl::Status status = TakeEquals(); !status.ok()) return status;
    return ReadPlainString(reading_).status();
  }

  absl::Status ReadItsTemperature() {
    if (absl::Status status = TakeEquals(); !status.ok()) return status;
    const absl::StatusOr<float> temperature = ReadTemperature(cursor_);
    if (temperature.ok()) attributes_.temperature = *temperature;
    return temperature.status();
  }

  SourceReading& reading_;
  PatternCursor& cursor_;
  SourceGrammar& grammar_;
  RuleAttributes attributes_;
};

}  // namespace

ExprId RuleAttributes::Applied(ExprId body, SourceGrammar& grammar) const {
  if (max_chars.has_value())
    body = grammar.Add({.kind = ExprKind::kAtMost, .a = *max_chars, .at = at}, {body});
  if (is_terminal()) {
    if (end.has_value()) body = grammar.Add({.kind = ExprKind::kSequence, .at = at}, {body, *end});
    body = grammar.Add({.kind = ExprKind::kShortest, .at = at}, {body});
  }
  if (max_tokens.has_value())
    body = grammar.Add({.kind = ExprKind::kLimited, .a = *max_tokens, .at = at}, {body});
  return is_terminal() ? grammar.Add({.kind = ExprKind::kLexeme, .at = at}, {body}) : body;
}

absl::StatusOr<RuleAttributes> ReadRuleAttributes(SourceReading& reading, SourceGrammar& grammar) {
  return AttributeReader(reading, grammar).Read();
}

}  // namespace maskd
