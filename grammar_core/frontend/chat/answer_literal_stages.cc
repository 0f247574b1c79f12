// The stages of an AnswerReader within arguments that are literals, of Python or with quotes of
// their own: what is read becomes JSON as it comes, a bracket, a comma or a string at a time. Words
// are held until they end, as only what stands behind one says whether it is a name.
//
// Invariant  json_depth counts the open brackets within the arguments; a comma is written only
//            before a value that has come.
// Cost       linear in the symbols.
#include <cassert>

#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/chat/answer_reader.h"
#include "grammar_core/frontend/json/json_document.h"

namespace maskd {
namespace {

bool IsSpace(Symbol symbol) {
  return symbol == ' ' || symbol == '\t' || symbol == '\n' || symbol == '\r';
}

// What ends a word.
bool IsDelimiter(Symbol symbol) {
  constexpr absl::string_view kDelimiters = ",:=()[]{}\"'";
  return IsSpace(symbol) ||
         (symbol < 128 && kDelimiters.find(static_cast<char>(symbol)) != absl::string_view::npos);
}

// A word that is no name, as JSON.
std::string JsonOf(const std::string& word) {
  if (word == "True") return "true";
  if (word == "False") return "false";
  if (word == "None") return "null";
  if (JsonDocument::Parse(word, Limits()).ok()) return word;
  return JsonString(word);
}

// An escape of Python behind its backslash, within a string of JSON.
std::string JsonEscape(Symbol symbol) {
  switch (symbol) {
    case '\'':
      return "'";
    case 'x':
      return "\\u00";  // two digits follow
    case 'a':
      return "\\u0007";
    case 'v':
      return "\\u000b";
    case '0':
      return "\\u0000";
    case '"':
    case '\\':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
    case 'u':
      return absl::StrCat("\\", std::string(1, static_cast<char>(symbol)));
    default:
      return "";  // none: the backslash stands for itself
  }
}

}  // namespace

bool AnswerReader::AdvanceLiteral() {
  assert(plan_->literals.has_value() && !message_.calls.empty());
  switch (state_.stage) {
    case Stage::kLiterals:
      return Literals();
    case Stage::kLiteralWord:
      return LiteralWord();
    case Stage::kLiteralString:
      return LiteralString();
    case Stage::kLiteralQuote:
      return PassLiteral(plan_->literals->quote, Stage::kLiteralText);
    default:
      return LiteralText();
  }
}

bool AnswerReader::Literals() {
  State& s = state_;
  const Symbols& quote = plan_->literals->quote;
  std::string& arguments = message_.calls.back().arguments;
  PassSpace();
  if (s.done == size()) return false;
  const Symbol symbol = input_[s.done];
  const bool closes = symbol == ')' || symbol == ']' || symbol == '}';
  // A comma stands between two values, if another one follows.
  if (s.is_comma_owed && !closes) arguments += ", ";
  s.is_comma_owed = symbol == ',';
  if (closes && s.json_depth == 0) {
    arguments.push_back('}');
    NextPart(s.done);
  } else if (closes) {
    --s.json_depth;
    arguments.push_back(symbol == '}' ? '}' : ']');
    Go(Stage::kLiterals, s.done + 1);
  } else if (symbol == '(' || symbol == '[' || symbol == '{') {
    ++s.json_depth;
    arguments.push_back(symbol == '{' ? '{' : '[');
    Go(Stage::kLiterals, s.done + 1);
  } else if (symbol == ',' || symbol == ':') {
    if (symbol == ':') arguments += ": ";
    Go(Stage::kLiterals, s.done + 1);
  } else if (quote.empty() ? symbol == '"' || symbol == '\'' : symbol == quote.front()) {
    arguments.push_back('"');
    s.quote = symbol;
    if (quote.empty())
      Go(Stage::kLiteralString, s.done + 1);
    else
      Go(Stage::kLiteralQuote, s.done);
  } else {
    Go(Stage::kLiteralWord, s.done);
  }
  return true;
}

bool AnswerReader::LiteralWord() {
  State& s = state_;
  // At least one symbol, whatever it is, so that each goes on.
  while (s.scan < size() && (s.scan == s.done || !IsDelimiter(input_[s.scan]))) ++s.scan;
  if (s.scan == size()) return false;
  const std::string word = BytesOf({s.done, s.scan});
  std::string& arguments = message_.calls.back().arguments;
  const bool is_name = input_[s.scan] == static_cast<unsigned char>(plan_->literals->name_end) &&
                       (s.json_depth == 0 || !plan_->literals->quote.empty());
  if (is_name) {
    AppendJsonString(word, &arguments);
    arguments += ": ";
  } else {
    arguments += JsonOf(word);
  }
  Go(Stage::kLiterals, s.scan + (is_name ? 1 : 0));
  return true;
}

bool AnswerReader::LiteralString() {
  State& s = state_;
  std::string& arguments = message_.calls.back().arguments;
  std::uint32_t at = s.done;
  while (at < size() && input_[at] != s.quote && input_[at] != '\\') ++at;
  Emit({s.done, at}, Region::kArgumentText);
  Go(Stage::kLiteralString, at);
  if (at == size()) return false;
  if (input_[at] == s.quote) {
    arguments.push_back('"');
    Go(Stage::kLiterals, at + 1);
    return true;
  }
  if (at + 1 == size()) return false;
  const std::string escape = JsonEscape(input_[at + 1]);
  arguments += escape.empty() ? "\\\\" : escape;
  Go(Stage::kLiteralString, at + (escape.empty() ? 1 : 2));
  return true;
}

bool AnswerReader::LiteralText() {
  Span found;
  if (!PassText(plan_->literals->quote_end, Region::kArgumentText, &found)) return false;
  message_.calls.back().arguments.push_back('"');
  Go(Stage::kLiterals, found.end);
  return true;
}

}  // namespace maskd
