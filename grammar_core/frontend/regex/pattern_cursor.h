// A place in the text of a pattern or a grammar, and the errors that point at one.
//
// Units    offsets count bytes; line:column in errors counts lines and bytes, both from 1.
// Requires text that is UTF-8 (CheckUtf8() tells), and lives as long as the cursor.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_CURSOR_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace maskd {

// "line:column" of the byte at `at`.
std::string LineAndColumn(absl::string_view text, std::size_t at);

// Used by all readers of texts; it keeps a place, and copies nothing.
class PatternCursor {
 public:
  // Not a code point: what Peek() gives at the end.
  static constexpr std::uint32_t kEnd = 0xFFFFFFFF;

  // `place`: see RegexOptions. `text_name` is what errors call the text.
  PatternCursor(absl::string_view text, absl::string_view place,
                absl::string_view text_name = "pattern")
      : text_(text), place_(place), text_name_(text_name) {}

  // The place, from 0 to the text's size. MoveTo() may go back.
  [[nodiscard]] bool done() const { return at_ == text_.size(); }
  [[nodiscard]] std::size_t at() const { return at_; }
  void MoveTo(std::size_t at) { at_ = at; }

  // INVALID_ARGUMENT at the first byte from here on that is not UTF-8.
  [[nodiscard]] absl::Status CheckUtf8() const;

  // The character here, or kEnd.
  [[nodiscard]] std::uint32_t Peek() const;
  // The character here, which is passed; kEnd at the end.
  std::uint32_t Next();
  // Passes `expected` if it stands here.
  bool Take(absl::string_view expected);
  // Sets `*before` to what stands before the next `end` and passes both; false where there is none.
  bool TakeUntil(absl::string_view end, absl::string_view* before);

  // "the end of the pattern", "the end of the line", or the character here in quotes.
  [[nodiscard]] std::string Found() const;

  // Errors at the byte `at`: INVALID_ARGUMENT, and below UNIMPLEMENTED and RESOURCE_EXHAUSTED.
  [[nodiscard]] absl::Status Invalid(std::size_t at, absl::string_view message) const;
  // INVALID_ARGUMENT here: "expected WHAT, found ...".
  [[nodiscard]] absl::Status Expected(absl::string_view what) const;
  [[nodiscard]] absl::Status Unsupported(std::size_t at, absl::string_view construct) const;
  [[nodiscard]] absl::Status Limit(std::size_t at, absl::string_view name, std::int64_t limit,
                                   std::int64_t needed) const;

 private:
  [[nodiscard]] std::string PlaceOf(std::size_t at) const;
  // What the message begins with where the place is not in the pattern.
  [[nodiscard]] std::string Within(std::size_t at) const;

  const absl::string_view text_;
  const absl::string_view place_;
  const absl::string_view text_name_;
  std::size_t at_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_CURSOR_H_
