#include "tests/regex/pattern_oracle.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {
namespace {

using Kind = PatternTree::Kind;

bool IsWordAt(const std::u32string& text, std::size_t at) {
  static const std::u32string kWord =
      U"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return at < text.size() && kWord.find(text[at]) != std::u32string::npos;
}

bool IsBoundary(const std::u32string& text, std::size_t at) {
  return (at > 0 && IsWordAt(text, at - 1)) != IsWordAt(text, at);
}

// The parts from `next` on, one behind the other.
bool SequenceMatches(const PatternTree& tree, std::size_t next, const std::u32string& text,
                     std::size_t begin, std::size_t end) {
  if (next == tree.parts.size()) return begin == end;
  for (std::size_t cut = begin; cut <= end; ++cut)
    if (MatchesAt(tree.parts[next], text, begin, cut) &&
        SequenceMatches(tree, next + 1, text, cut, end))
      return true;
  return false;
}

bool RoundsMatch(const PatternTree& round, std::uint32_t count, const std::u32string& text,
                 std::size_t begin, std::size_t end) {
  std::vector<bool> reached(end - begin + 1, false);
  reached.front() = true;
  for (; count > 0; --count) {
    std::vector<bool> next(reached.size(), false);
    for (std::size_t from = 0; from < reached.size(); ++from)
      for (std::size_t to = from; reached[from] && to < reached.size(); ++to)
        if (MatchesAt(round, text, begin + from, begin + to)) next[to] = true;
    reached = next;
  }
  return reached.back();
}

// Rounds over the least are of use where each takes a character.
bool RepeatMatches(const PatternTree& tree, const std::u32string& text, std::size_t begin,
                   std::size_t end) {
  const auto useful = tree.min + static_cast<std::uint32_t>(end - begin);
  for (std::uint32_t count = tree.min; count <= std::min(tree.max, useful); ++count)
    if (RoundsMatch(tree.parts.front(), count, text, begin, end)) return true;
  return false;
}

bool LookMatches(const PatternTree& tree, bool ahead, const std::u32string& text, std::size_t at) {
  const PatternTree& body = tree.parts.front();
  for (std::size_t other = ahead ? at : 0; other <= (ahead ? text.size() : at); ++other)
    if (ahead ? MatchesAt(body, text, at, other) : MatchesAt(body, text, other, at)) return true;
  return false;
}

std::string Counts(const PatternTree& tree) {
  if (tree.max == kUnbounded) return absl::StrCat("{", tree.min, ",}");
  return absl::StrCat("{", tree.min, ",", tree.max, "}");
}

}  // namespace

bool MatchesAt(const PatternTree& tree, const std::u32string& text, std::size_t begin,
               std::size_t end) {
  const bool empty = begin == end;
  const auto matches = [&](const PatternTree& part) { return MatchesAt(part, text, begin, end); };
  switch (tree.kind) {
    case Kind::kEmpty:
      return empty;
    case Kind::kChars:
      return end - begin == 1 && tree.chars.find(text[begin]) != std::u32string::npos;
    case Kind::kTextBegin:
      return empty && begin == 0;
    case Kind::kTextEnd:
      return empty && end == text.size();
    case Kind::kBoundary:
      return empty && IsBoundary(text, begin);
    case Kind::kNoBoundary:
      return empty && !IsBoundary(text, begin);
    case Kind::kSequence:
      return SequenceMatches(tree, 0, text, begin, end);
    case Kind::kAlternatives:
      return std::any_of(tree.parts.begin(), tree.parts.end(), matches);
    case Kind::kRepeat:
      return RepeatMatches(tree, text, begin, end);
    case Kind::kAnd:
      return std::all_of(tree.parts.begin(), tree.parts.end(), matches);
    case Kind::kNot:
      return !matches(tree.parts.front());
    case Kind::kAhead:
    case Kind::kNotAhead:
      return empty && LookMatches(tree, true, text, begin) == (tree.kind == Kind::kAhead);
    case Kind::kBehind:
    case Kind::kNotBehind:
      return empty && LookMatches(tree, false, text, begin) == (tree.kind == Kind::kBehind);
  }
  return false;
}

PatternTree RandomTree(int size, const PatternTree::Kinds& leaves,
                       const PatternTree::Kinds& operators, std::mt19937_64& random) {
  constexpr std::uint32_t kCounts[][2] = {{0, kUnbounded}, {0, 1}, {1, kUnbounded}, {2, 2},
                                          {1, 3},          {0, 2}, {2, kUnbounded}, {3, 3}};
  if (size <= 1) {
    const Kind kind = leaves[random() % leaves.size()];
    if (kind != Kind::kChars) return {.kind = kind};
    const std::u32string sets[] = {U"a", U"-", U"a-", U"b", U"ab"};
    return {.kind = kind, .chars = sets[random() % 5]};
  }
  PatternTree tree = {.kind = operators[random() % operators.size()]};
  const bool two =
      tree.kind == Kind::kSequence || tree.kind == Kind::kAlternatives || tree.kind == Kind::kAnd;
  const int left = two && size > 2 ? 1 + static_cast<int>(random() % (size - 2)) : size - 1;
  tree.parts.push_back(RandomTree(left, leaves, operators, random));
  if (two) tree.parts.push_back(RandomTree(size - 1 - left, leaves, operators, random));
  if (tree.kind == Kind::kRepeat) {
    const auto& counts = kCounts[random() % std::size(kCounts)];
    tree.min = counts[0];
    tree.max = counts[1];
  }
  return tree;
}

std::string Spelled(const PatternTree& tree) {
  const auto joined = [&](absl::string_view between) {
    return absl::StrJoin(tree.parts, between, [](std::string* out, const PatternTree& part) {
      out->append(Spelled(part));
    });
  };
  switch (tree.kind) {
    case Kind::kEmpty:
      return "(?:)";
    case Kind::kChars:
      return absl::StrCat("[", CodePointsToUtf8(tree.chars), "]");
    case Kind::kTextBegin:
      return "^";
    case Kind::kTextEnd:
      return "$";
    case Kind::kBoundary:
      return "\\b";
    case Kind::kNoBoundary:
      return "\\B";
    case Kind::kSequence:
      return joined("");
    case Kind::kAlternatives:
      return absl::StrCat("(?:", joined("|"), ")");
    case Kind::kRepeat:
      return absl::StrCat("(?:", joined(""), ")", Counts(tree));
    case Kind::kAhead:
      return absl::StrCat("(?=", joined(""), ")");
    case Kind::kNotAhead:
      return absl::StrCat("(?!", joined(""), ")");
    case Kind::kBehind:
      return absl::StrCat("(?<=", joined(""), ")");
    case Kind::kNotBehind:
      return absl::StrCat("(?<!", joined(""), ")");
    case Kind::kAnd:
      return absl::StrCat("<", joined(" and "), ">");
    case Kind::kNot:
      return absl::StrCat("<not ", joined(""), ">");
  }
  return "";
}

std::vector<std::u32string> TextsOver(const std::u32string& characters, int max_length) {
  std::vector<std::u32string> texts = {U""};
  std::size_t begin = 0;
  for (int length = 1; length <= max_length; ++length) {
    for (const std::size_t end = texts.size(); begin < end; ++begin)
      for (const char32_t c : characters) texts.push_back(texts[begin] + c);
  }
  return texts;
}

}  // namespace maskd
