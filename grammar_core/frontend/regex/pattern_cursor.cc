#include "grammar_core/frontend/regex/pattern_cursor.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"

namespace maskd {

std::string LineAndColumn(absl::string_view text, std::size_t at) {
  assert(at <= text.size());
  const absl::string_view before = text.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_end = before.rfind('\n');
  const std::size_t column = line_end == absl::string_view::npos ? at : at - line_end - 1;
  return absl::StrCat(lines + 1, ":", column + 1);
}

absl::Status PatternCursor::CheckUtf8() const {
  for (std::size_t at = at_; at < text_.size();)
    if (!DecodeUtf8(text_, &at).has_value())
      return Invalid(at, absl::StrCat("the ", text_name_, " is not UTF-8 here"));
  return absl::OkStatus();
}

std::uint32_t PatternCursor::Peek() const {
  std::size_t at = at_;
  return DecodeUtf8(text_, &at).value_or(kEnd);
}

std::uint32_t PatternCursor::Next() { return DecodeUtf8(text_, &at_).value_or(kEnd); }

bool PatternCursor::Take(absl::string_view expected) {
  if (!absl::StartsWith(text_.substr(at_), expected)) return false;
  at_ += expected.size();
  return true;
}

bool PatternCursor::TakeUntil(absl::string_view end, absl::string_view* before) {
  const std::size_t found = text_.find(end, at_);
  if (found == absl::string_view::npos) return false;
  *before = text_.substr(at_, found - at_);
  at_ = found + end.size();
  return true;
}

std::string PatternCursor::Found() const {
  if (done()) return absl::StrCat("the end of the ", text_name_);
  if (Peek() == '\n' || Peek() == '\r') return "the end of the line";
  std::string found = "'";
  AppendUtf8(Peek(), &found);
  return found + "'";
}

std::string PatternCursor::PlaceOf(std::size_t at) const {
  return place_.empty() ? LineAndColumn(text_, at) : std::string(place_);
}

std::string PatternCursor::Within(std::size_t at) const {
  return place_.empty()
             ? ""
             : absl::StrCat("in the ", text_name_, ", at ", LineAndColumn(text_, at), ": ");
}

absl::Status PatternCursor::Invalid(std::size_t at, absl::string_view message) const {
  return InvalidAt(PlaceOf(at), absl::StrCat(Within(at), message));
}

absl::Status PatternCursor::Expected(absl::string_view what) const {
  return Invalid(at_, absl::StrCat("expected ", what, ", found ", Found()));
}

absl::Status PatternCursor::Unsupported(std::size_t at, absl::string_view construct) const {
  return UnsupportedAt(PlaceOf(at), absl::StrCat(Within(at), construct));
}

absl::Status PatternCursor::Limit(std::size_t at, absl::string_view name, std::int64_t limit,
                                  std::int64_t needed) const {
  return LimitExceeded(PlaceOf(at), name, limit, needed);
}

}  // namespace maskd
