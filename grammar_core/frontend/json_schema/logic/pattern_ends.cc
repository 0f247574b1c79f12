#include "grammar_core/frontend/json_schema/logic/pattern_ends.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace maskd {
namespace {

// Stands for itself wherever a pattern has it, unless a backslash is before it.
bool IsPlain(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::string_view(" :_-/,@~#").find(c) != absl::string_view::npos;
}

bool IsQuantifier(char c) { return absl::string_view("?*+{").find(c) != absl::string_view::npos; }

// A pattern of alternatives, and one with classes or escapes that could hide a bar or a bracket,
// has ends of its own for each.
bool HasAlternatives(absl::string_view pattern) {
  int depth = 0;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\')
      ++i;
    else if (in_class)
      in_class = c != ']';
    else if (c == '[')
      in_class = true;
    else if (c == '|' && depth == 0)
      return true;
    else
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
  }
  return in_class || depth != 0;
}

bool IsPrefix(absl::string_view x, absl::string_view y) {
  return absl::StartsWith(x, y) || absl::StartsWith(y, x);
}

bool IsSuffix(absl::string_view x, absl::string_view y) {
  return absl::EndsWith(x, y) || absl::EndsWith(y, x);
}

}  // namespace

// What a pattern says at its anchors tells many pairs of patterns apart without a look at their
// languages. A letter before a quantifier may be missing, so it is no part of an end.
PatternEnds EndsOf(absl::string_view pattern) {
  PatternEnds ends;
  if (HasAlternatives(pattern)) return ends;
  if (absl::StartsWith(pattern, "^")) {
    std::size_t end = 1;
    while (end < pattern.size() && IsPlain(pattern[end])) ++end;
    if (end > 1 && end < pattern.size() && IsQuantifier(pattern[end])) --end;
    ends.prefix = std::string(pattern.substr(1, end - 1));
  }
  if (absl::EndsWith(pattern, "$") && !absl::EndsWith(pattern, "\\$")) {
    const std::size_t last = pattern.size() - 1;
    std::size_t begin = last;
    while (begin > 0 && IsPlain(pattern[begin - 1])) --begin;
    // What an escape begins with; and a brace or bracket is never open here.
    if (begin > 0 && begin < last && pattern[begin - 1] == '\\') begin = last;
    ends.suffix = std::string(pattern.substr(begin, last - begin));
  }
  return ends;
}

bool AreDisjoint(const PatternEnds& x, const PatternEnds& y) {
  return !IsPrefix(x.prefix, y.prefix) || !IsSuffix(x.suffix, y.suffix);
}

}  // namespace maskd
