#include "grammar_core/frontend/places/json_end.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/ascii.h"

namespace maskd {
namespace {

// Behind the quote that ends the string which begins at `at`; past the text where none does.
std::size_t EndOfString(absl::string_view text, std::size_t at) {
  assert(text[at] == '"');
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
  }
  return text.size() + 1;
}

// The same of an array or object.
std::size_t EndOfContainer(absl::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = EndOfString(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
    if (depth == 0) return at;
  }
  return text.size() + 1;
}

}  // namespace

JsonEnd FindJsonEnd(absl::string_view text, std::size_t at) {
  assert(at <= text.size());
  at = std::min(text.find_first_not_of(" \t\n\r", at), text.size());
  if (at == text.size()) return {.may_go_on = true};
  const char first = text[at];
  if (first == '"' || first == '{' || first == '[') {
    const std::size_t end = first == '"' ? EndOfString(text, at) : EndOfContainer(text, at);
    return end > text.size() ? JsonEnd{.may_go_on = true} : JsonEnd{.end = end};
  }
  std::size_t end = at;
  while (end < text.size() && (absl::ascii_isalnum(static_cast<unsigned char>(text[end])) ||
                               text[end] == '-' || text[end] == '+' || text[end] == '.'))
    ++end;
  if (end == at) return {};
  return {.end = end, .may_go_on = end == text.size()};
}

}  // namespace maskd
