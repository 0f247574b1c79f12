// The regular expressions of a response template, as far as they say what a model writes: texts,
// white space that is passed over, and captures.
//
// Errors   UNIMPLEMENTED at the pattern's place, with the byte where it says no one text.
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_RESPONSE_PATTERN_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_RESPONSE_PATTERN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd {

// One piece of a pattern, in the order in which it matches.
struct PatternPiece {
  // What it is; kChoice is a group of texts, of which any matches.
  enum class Kind { kText, kSpace, kCapture, kChoice };
  Kind kind = Kind::kText;
  // The text; the white space that it is, empty where it may be any; or the capture's name.
  std::string text = "";
  bool is_needed = false;                 // kSpace: whether it must be there
  std::string body = "";                  // kCapture: what it matches
  std::vector<std::string> choices = {};  // kChoice
};

// The pieces of `pattern`, two texts never side by side.
absl::StatusOr<std::vector<PatternPiece>> ReadResponsePattern(absl::string_view pattern,
                                                              absl::string_view place);

// Whether a capture of `body` takes `c`, wherever it ends. Nothing where it is no repeat of one set
// of characters.
std::optional<bool> CaptureHas(absl::string_view body, char c);

// Whether a capture of `body` goes on at `next`, and so takes what stands behind it. Nothing where
// it is no repeat of one set of characters.
std::optional<bool> CaptureTakes(absl::string_view body, char next);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_RESPONSE_PATTERN_H_
