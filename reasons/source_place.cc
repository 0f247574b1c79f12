// Finds a JSON Pointer by a scan that builds no tree.
//
// The scanner knows four things of JSON: strings end at a quote that no backslash precedes, commas
// and colons stand between values, brackets nest, and everything else is part of a literal. It
// reads sources that a parser would refuse as far as the place it looks for; nesting costs no stack
// (Skip() counts brackets).
//
// Cost     one pass over the source, no memory but the pointer's names.
#include "reasons/source_place.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include <nlohmann/json.hpp>

#include "grammar_core/base/utf8.h"

namespace maskd::reasons {
namespace {

class Scanner {
 public:
  explicit Scanner(absl::string_view text) : text_(text) {}

  // Moves to the value that `token` names in the value at hand. False where there is none.
  bool Enter(const std::string& token) {
    SkipSpace();
    if (Peek() == '{') return EnterMember(token);
    if (Peek() == '[') return EnterItem(token);
    return false;
  }

  // The name of the member that was entered last; empty: an item was.
  [[nodiscard]] const SourceSpan& name() const { return name_; }

  // The value at hand, as bytes [begin, end).
  SourceSpan Value() {
    SkipSpace();
    SourceSpan span;
    span.begin = at_;
    Skip();
    span.end = at_;
    return span;
  }

 private:
  [[nodiscard]] char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] bool AtEnd() const { return at_ >= text_.size(); }

  void SkipSpace() {
    while (!AtEnd() && absl::StrContains(" \t\r\n", text_.substr(at_, 1))) ++at_;
  }

  void SkipString() {
    for (++at_; !AtEnd() && text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\' ? 1 : 0;
    at_ = std::min(at_ + 1, text_.size());
  }

  // Past one value.
  void Skip() {
    int depth = 0;
    do {
      SkipSpace();
      const char byte = Peek();
      if (AtEnd()) return;
      if (byte == '"') {
        SkipString();
        continue;
      }
      const bool is_close = byte == '}' || byte == ']';
      if (depth == 0 && (is_close || byte == ',' || byte == ':')) return;
      depth += byte == '{' || byte == '[' ? 1 : is_close ? -1 : 0;
      ++at_;
      if (!is_close && byte != '{' && byte != '[' && byte != ',' && byte != ':') SkipLiteral();
    } while (depth > 0);
  }

  void SkipLiteral() {
    while (!AtEnd() && !absl::StrContains("{}[],:\" \t\r\n", text_.substr(at_, 1))) ++at_;
  }

  // The string at hand, unescaped.
  std::string ReadString() {
    const std::size_t begin = at_;
    SkipString();
    const auto parsed = nlohmann::json::parse(text_.begin() + begin, text_.begin() + at_, nullptr,
                                              /*allow_exceptions=*/false);
    return parsed.is_string() ? parsed.get<std::string>() : "";
  }

  bool EnterMember(const std::string& name) {
    for (++at_;; ++at_) {
      SkipSpace();
      if (Peek() != '"') return false;
      name_.begin = at_;
      const bool is_it = ReadString() == name;
      name_.end = at_;
      SkipSpace();
      if (Peek() != ':') return false;
      ++at_;
      if (is_it) return true;
      Skip();
      SkipSpace();
      if (Peek() != ',') return false;
    }
  }

  bool EnterItem(const std::string& token) {
    name_ = SourceSpan();
    int index = 0;
    if (!absl::SimpleAtoi(token, &index)) return false;
    for (++at_;; ++at_) {
      SkipSpace();
      if (AtEnd() || Peek() == ']') return false;
      if (index-- == 0) return true;
      Skip();
      SkipSpace();
      if (Peek() != ',') return false;
    }
  }

  absl::string_view text_;
  std::size_t at_ = 0;
  SourceSpan name_;
};

std::optional<SourceSpan> FindLine(absl::string_view source, int line, int column) {
  std::size_t start = 0;
  for (int i = 1; i < line; ++i) {
    const std::size_t end = source.find('\n', start);
    if (end == absl::string_view::npos) return std::nullopt;
    start = end + 1;
  }
  SourceSpan span;
  span.begin = std::min(start + static_cast<std::size_t>(column - 1), source.size());
  span.end = std::min(span.begin + 1, source.size());
  while (span.end < source.size() && IsContinuationByte(source[span.end])) ++span.end;
  return WithLine(source, span);
}

// A scanner at the value of a JSON Pointer.
std::optional<Scanner> Entered(absl::string_view source, absl::string_view pointer) {
  Scanner scanner(source);
  for (const absl::string_view raw : absl::StrSplit(pointer.substr(1), '/')) {
    const std::string token = absl::StrReplaceAll(raw, {{"~1", "/"}, {"~0", "~"}});
    if (!scanner.Enter(token)) return std::nullopt;
  }
  return scanner;
}

std::optional<SourceSpan> FindPointer(absl::string_view source, absl::string_view pointer) {
  std::optional<Scanner> scanner = Entered(source, pointer);
  if (!scanner.has_value()) return std::nullopt;
  return WithLine(source, scanner->Value());
}

}  // namespace

SourceSpan WithLine(absl::string_view source, SourceSpan span) {
  const absl::string_view before = source.substr(0, span.begin);
  span.line = 1 + static_cast<int>(std::ranges::count(before, '\n'));
  const std::size_t start = before.rfind('\n');
  span.column =
      static_cast<int>(start == absl::string_view::npos ? span.begin + 1 : span.begin - start);
  return span;
}

std::optional<SourceSpan> FindName(absl::string_view source, absl::string_view pointer) {
  if (!absl::StartsWith(pointer, "/")) return std::nullopt;
  const std::optional<Scanner> scanner = Entered(source, pointer);
  if (!scanner.has_value() || scanner->name().end == 0) return std::nullopt;
  return WithLine(source, scanner->name());
}

std::optional<SourceSpan> FindPlace(absl::string_view source, absl::string_view place) {
  if (absl::StartsWith(place, "/")) return FindPointer(source, place);
  const std::vector<absl::string_view> parts = absl::StrSplit(place, ':');
  int line = 0;
  int column = 0;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &line) ||
      !absl::SimpleAtoi(parts[1], &column) || line < 1 || column < 1) {
    return std::nullopt;
  }
  return FindLine(source, line, column);
}

}  // namespace maskd::reasons
