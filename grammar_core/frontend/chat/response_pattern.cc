// One pass over the pattern, a unit at a time. A unit is a character or a group, with what repeats
// it. Only white space may be repeated outside of a capture, as any other repeat leaves open what a
// model writes.
//
// Invariant  what is read matches exactly what the pattern matches; all else is refused.
// Cost       linear in the pattern.
#include "grammar_core/frontend/chat/response_pattern.h"

#include <cassert>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

using Kind = PatternPiece::Kind;

bool IsOneOf(char c, absl::string_view set) { return set.find(c) != absl::string_view::npos; }

bool IsSpace(char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }

bool IsWord(char c) { return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c)); }

// What `c` behind a backslash is; nothing where it is a set or an anchor.
std::optional<char> Escaped(char c) {
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  if (c == 'r') return '\r';
  if (IsWord(c)) return std::nullopt;
  return c;
}

class PatternReader {
 public:
  PatternReader(absl::string_view pattern, absl::string_view place)
      : pattern_(pattern), place_(place) {}

  absl::StatusOr<std::vector<PatternPiece>> Read() {
    while (at_ < pattern_.size()) {
      const absl::Status read = pattern_[at_] == '(' ? ReadGroup() : ReadUnit();
      if (!read.ok()) return read;
    }
    return std::move(pieces_);
  }

 private:
  [[nodiscard]] absl::Status Refuse(absl::string_view what) const {
    return UnsupportedAt(place_, what, absl::StrCat("at byte ", at_, " of the pattern"));
  }

  void AddText(char c) {
    assert(c != '\0' && "any white space is a piece of its own");
    if (pieces_.empty() || pieces_.back().kind != Kind::kText) pieces_.push_back({Kind::kText, ""});
    pieces_.back().text += c;
  }

  // The character at the place, behind which it goes on; '\0' for any white space.
  absl::StatusOr<char> ReadCharacter() {
    assert(at_ < pattern_.size() && "the pattern goes on here");
    const char c = pattern_[at_];
    if (c == '\\') {
      const char behind = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
      const std::optional<char> escaped = behind == '\0' ? std::nullopt : Escaped(behind);
      if (!escaped.has_value() && behind != 's') return Refuse("a set of characters or an anchor");
      at_ += 2;
      return escaped.value_or('\0');
    }
    if (c == '|') return Refuse("a choice between texts");
    if (c == '^' || c == '$') return Refuse("an anchor");
    if (c == '[' || c == '.') return Refuse("a set of characters outside of a capture");
    if (IsRepeat()) return Refuse("a repeat");
    ++at_;
    return c;
  }

  [[nodiscard]] bool IsRepeat() const {
    if (at_ >= pattern_.size()) return false;
    if (IsOneOf(pattern_[at_], "*+?")) return true;
    return pattern_[at_] == '{' && at_ + 1 < pattern_.size() &&
           (IsOneOf(pattern_[at_ + 1], ",") ||
            absl::ascii_isdigit(static_cast<unsigned char>(pattern_[at_ + 1])));
  }

  absl::Status ReadUnit() {
    const std::size_t begin = at_;
    const absl::StatusOr<char> c = ReadCharacter();
    if (!c.ok()) return c.status();
    const bool is_space = *c == '\0' || IsSpace(*c);
    if (!IsRepeat()) {
      if (*c == '\0')
        pieces_.push_back({Kind::kSpace, "", true});
      else
        AddText(*c);
      return absl::OkStatus();
    }
    if (!is_space || pattern_[at_] == '{') {
      at_ = begin;
      return Refuse("a repeat");
    }
    const bool is_needed = pattern_[at_] == '+';
    ++at_;
    if (at_ < pattern_.size() && IsOneOf(pattern_[at_], "?+")) ++at_;
    pieces_.push_back({Kind::kSpace, *c == '\0' ? "" : std::string(1, *c), is_needed});
    return absl::OkStatus();
  }

  absl::Status ReadGroup() {
    const absl::string_view rest = pattern_.substr(at_);
    for (const absl::string_view look : {"(?=", "(?!", "(?<=", "(?<!"})
      if (absl::StartsWith(rest, look)) return Refuse("a look ahead or behind");
    absl::Status read;
    if (absl::StartsWith(rest, "(?:"))
      read = ReadChoice();
    else if (absl::StartsWith(rest, "(?P<") || absl::StartsWith(rest, "(?<"))
      read = ReadCapture();
    else
      return Refuse("a group of this kind");
    if (!read.ok()) return read;
    return IsRepeat() ? Refuse("a repeat") : absl::OkStatus();
  }

  absl::Status ReadChoice() {
    assert(pattern_.substr(at_, 3) == "(?:" && "a group without a name");
    const std::size_t begin = at_;
    at_ += 3;
    PatternPiece piece = {Kind::kChoice, ""};
    piece.choices.emplace_back();
    for (; at_ < pattern_.size() && pattern_[at_] != ')';) {
      if (pattern_[at_] == '|') {
        piece.choices.emplace_back();
        ++at_;
        continue;
      }
      if (pattern_[at_] == '(') return Refuse("a group within a group");
      const absl::StatusOr<char> c = ReadCharacter();
      if (!c.ok()) return c.status();
      if (*c == '\0') return Refuse("white space within a group");
      piece.choices.back() += *c;
    }
    if (at_ == pattern_.size()) {
      at_ = begin;
      return Refuse("a group without an end");
    }
    ++at_;
    pieces_.push_back(std::move(piece));
    return absl::OkStatus();
  }

  absl::Status ReadCapture() {
    const std::size_t name = pattern_.find('<', at_) + 1;
    const std::size_t name_end = pattern_.find('>', name);
    if (name_end == absl::string_view::npos) return Refuse("a group without an end");
    bool in_set = false;
    std::size_t end = name_end + 1;
    for (; end < pattern_.size() && (in_set || pattern_[end] != ')'); ++end)
      if (pattern_[end] == '\\')
        ++end;
      else if (!in_set && pattern_[end] == '(')
        return Refuse("a group within a group");
      else if (IsOneOf(pattern_[end], "[]"))
        in_set = pattern_[end] == '[';
    if (end >= pattern_.size()) return Refuse("a group without an end");
    PatternPiece piece = {Kind::kCapture, std::string(pattern_.substr(name, name_end - name))};
    piece.body = std::string(pattern_.substr(name_end + 1, end - name_end - 1));
    pieces_.push_back(std::move(piece));
    assert(pattern_[end] == ')' && "a capture ends with its group");
    at_ = end + 1;
    return absl::OkStatus();
  }

  const absl::string_view pattern_;
  const absl::string_view place_;
  std::size_t at_ = 0;
  std::vector<PatternPiece> pieces_;
};

// Whether `set`, what stands in [^...], has `c`; nothing where it has a range or another set.
std::optional<bool> SetHas(absl::string_view set, char c) {
  bool has = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set[i] == '-' && i > 0 && i + 1 < set.size()) return std::nullopt;
    if (set[i] != '\\') {
      has |= set[i] == c;
      continue;
    }
    if (++i == set.size()) return std::nullopt;
    const std::optional<char> escaped = Escaped(set[i]);
    if (!escaped.has_value() && set[i] != 's') return std::nullopt;
    has |= escaped.has_value() ? *escaped == c : IsSpace(c);
  }
  return has;
}

}  // namespace

absl::StatusOr<std::vector<PatternPiece>> ReadResponsePattern(absl::string_view pattern,
                                                              absl::string_view place) {
  return PatternReader(pattern, place).Read();
}

std::optional<bool> CaptureHas(absl::string_view body, char c) {
  if (!absl::ConsumeSuffix(&body, "+?") && !absl::ConsumeSuffix(&body, "*?") &&
      !absl::ConsumeSuffix(&body, "+") && !absl::ConsumeSuffix(&body, "*"))
    return std::nullopt;
  if (body == ".") return true;
  if (body == "\\w") return IsWord(c);
  if (body == "\\S") return !IsSpace(c);
  if (!absl::ConsumePrefix(&body, "[^") || !absl::ConsumeSuffix(&body, "]")) return std::nullopt;
  const std::optional<bool> excluded = SetHas(body, c);
  return excluded.has_value() ? std::optional(!*excluded) : std::nullopt;
}

std::optional<bool> CaptureTakes(absl::string_view body, char next) {
  const std::optional<bool> has = CaptureHas(body, next);
  const bool is_lazy = absl::EndsWith(body, "+?") || absl::EndsWith(body, "*?");
  return has.has_value() && is_lazy ? std::optional(false) : has;
}

}  // namespace maskd
