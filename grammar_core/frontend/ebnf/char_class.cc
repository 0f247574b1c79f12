#include "grammar_core/frontend/ebnf/char_class.h"

#include <utility>
#include <vector>

namespace maskd {
namespace {

absl::StatusOr<CharRange> ReadMember(EbnfDialect dialect, PatternCursor& cursor) {
  const std::size_t begin = cursor.at();
  const LiteralStyle style = ClassStyleOf(dialect);
  const absl::StatusOr<std::uint32_t> lo = ReadLiteralCharacter(cursor, style);
  if (!lo.ok()) return lo.status();
  const std::size_t dash = cursor.at();
  if (!cursor.Take("-") || cursor.Peek() == ']' || cursor.done()) {
    cursor.MoveTo(dash);
    return CharRange{*lo, *lo};
  }
  const absl::StatusOr<std::uint32_t> hi = ReadLiteralCharacter(cursor, style);
  if (!hi.ok()) return hi.status();
  if (*hi < *lo) return cursor.Invalid(begin, "the range is reversed");
  return CharRange{*lo, *hi};
}

}  // namespace

absl::StatusOr<CharSet> ReadEbnfClass(EbnfDialect dialect, PatternCursor& cursor, Budget& budget) {
  const std::size_t begin = cursor.at() - 1;
  const bool negated = cursor.Take("^");
  std::vector<CharRange> ranges;
  while (!cursor.Take("]")) {
    if (absl::Status status = budget.Spend(); !status.ok()) return status;
    const std::uint32_t next = cursor.Peek();
    const bool line_ends = next == '\n' || next == '\r';
    if (cursor.done() || (line_ends && !ClassStyleOf(dialect).newlines))
      return cursor.Invalid(begin, "the class has no end, expected ']'");
    const absl::StatusOr<CharRange> member = ReadMember(dialect, cursor);
    if (!member.ok()) return member.status();
    ranges.push_back(*member);
  }
  if (ranges.empty() && dialect == EbnfDialect::kGbnf)
    return cursor.Invalid(begin, "the class is empty, which engines read differently");
  const CharSet set(std::move(ranges));
  return negated ? set.Complement() : set;
}

}  // namespace maskd
