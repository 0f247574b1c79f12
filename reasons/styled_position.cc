// Elements are passed one by one. Literals are written again as JSON, names and strings between
// double quotes, and the place is that of the JSON.
#include "reasons/styled_position.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/frontend/json/json_document.h"

namespace maskd::reasons {
namespace {

using What = JsonPosition::What;

JsonPosition AtName() { return {.what = What::kName, .at_root = false}; }

// In the value of an element: JSON, or a string without quotes.
JsonPosition InValue(const std::string& name, absl::string_view value) {
  value = absl::StripLeadingAsciiWhitespace(value);
  JsonPosition position = {.what = What::kString};
  if (value.empty()) position.what = What::kValue;
  if (absl::StrContains("{[\"", value.substr(0, 1))) position = FindJsonPosition(value);
  if (absl::StartsWith(value, "\"")) position.open_string.reset();  // the quote may be text
  if (!value.empty() && (absl::ascii_isdigit(static_cast<unsigned char>(value[0])) ||
                         (value[0] == '-' && value.size() > 1)))
    position.what = What::kLiteral;
  position.path.insert(position.path.begin(), {.name = name});
  position.at_root = false;
  return position;
}

JsonPosition FindInElements(const XmlStyle& style, absl::string_view text) {
  for (;;) {
    const std::size_t open = text.find(style.open);
    if (open == absl::string_view::npos) return AtName();
    text.remove_prefix(open + style.open.size());
    const std::size_t name_end = text.find(style.behind_name);
    if (name_end == absl::string_view::npos) return AtName();
    const std::string name(text.substr(0, name_end));
    text.remove_prefix(name_end + style.behind_name.size());
    const std::size_t begin = text.find(style.before_value);
    if (begin == absl::string_view::npos) return InValue(name, "");
    text.remove_prefix(begin + style.before_value.size());
    const std::size_t close = text.find(style.close);
    if (close == absl::string_view::npos) return InValue(name, text);
    text.remove_prefix(close + style.close.size());
  }
}

// Writes literals as JSON, up to where they end.
class LiteralsAsJson {
 public:
  LiteralsAsJson(const ArgumentStyle& style, absl::string_view text) : style_(style), text_(text) {}

  std::string Write() {
    while (at_ < text_.size()) Take();
    return std::move(json_);
  }

 private:
  void Take() {
    const char c = text_[at_];
    const bool has_bare_names = !style_.is_python() || is_object_.size() == 1;
    const bool is_space = absl::ascii_isspace(static_cast<unsigned char>(c));
    if (in_name_ && has_bare_names && !is_space && c != '}') return TakeName();
    const std::string quote = QuoteHere();
    if (!quote.empty()) return TakeString(quote);
    if (c == '{' || c == '[') is_object_.push_back(c == '{');
    if ((c == '}' || c == ']') && is_object_.size() > 1) is_object_.pop_back();
    if (!is_space) in_name_ = (c == '{' || c == ',') && is_object_.back();
    json_.push_back(c);
    ++at_;
  }
  // Without an end where the text has none of it.
  void TakeName() {
    const char end_sign = is_object_.size() == 1 ? style_.name_end : ':';
    const std::size_t end = std::min(text_.find(end_sign, at_), text_.size());
    std::string name = JsonString(absl::StripTrailingAsciiWhitespace(text_.substr(at_, end - at_)));
    if (end == text_.size()) name.pop_back();
    absl::StrAppend(&json_, name, end == text_.size() ? "" : ":");
    at_ = std::min(end + 1, text_.size());
    in_name_ = false;
  }
  [[nodiscard]] std::string QuoteHere() const {
    if (!style_.is_python())
      return absl::StartsWith(text_.substr(at_), style_.quote) ? style_.quote : "";
    const char c = text_[at_];
    return c == '"' || c == '\'' ? std::string(1, c) : "";
  }
  void TakeString(const std::string& quote) {
    at_ += quote.size();
    std::string text;
    while (at_ < text_.size() && !absl::StartsWith(text_.substr(at_), quote)) {
      if (style_.is_python() && text_[at_] == '\\') text.push_back(text_[at_++]);
      if (at_ < text_.size()) text.push_back(text_[at_++]);
    }
    std::string json = JsonString(text);
    if (at_ == text_.size()) json.pop_back();
    json_ += json;
    at_ = std::min(at_ + quote.size(), text_.size());
  }

  const ArgumentStyle& style_;
  const absl::string_view text_;
  std::size_t at_ = 0;
  std::string json_ = "{";
  std::vector<bool> is_object_ = {true};
  bool in_name_ = true;
};

}  // namespace

JsonPosition FindStyledPosition(const WrittenStyle& style, absl::string_view text) {
  if (style.elements() != nullptr) return FindInElements(*style.elements(), text);
  // Those in braces are written without the first one, as the others are.
  if (style.literals()->has_outer_braces && !absl::ConsumePrefix(&text, "{"))
    return FindJsonPosition(text);
  JsonPosition position = FindJsonPosition(LiteralsAsJson(*style.literals(), text).Write());
  position.open_string.reset();  // a part of its closing quote may be at its end
  return position;
}

}  // namespace maskd::reasons
