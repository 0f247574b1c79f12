// A part of a pattern: what it matches, or, where it looks around, how it is made up.
//
// Plain parts hold all that has no look-around in it, however large; the others are a tree of
// the operators above a look-around.
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_PART_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_PART_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "grammar_core/base/char_set.h"
#include "grammar_core/frontend/regex/character_facts.h"
#include "grammar_core/frontend/regex/context_language.h"

namespace maskd {

// Which side of its place a look-around looks at.
enum class Side : std::uint8_t { kAhead, kBehind };

struct LookingPart;

struct PatternPart {
  // Plain: what it matches. A look: all that the text may be on that side of it, to the text's end
  // or begin.
  ContextLanguage language;
  std::unique_ptr<LookingPart> looking = nullptr;  // null: plain

  [[nodiscard]] bool plain() const { return looking == nullptr; }
  [[nodiscard]] bool looks(Side side) const;
  [[nodiscard]] bool is_look() const;
};

struct LookingPart {
  enum class Kind : std::uint8_t { kLook, kSequence, kAlternatives, kRepeat };

  Kind kind;
  // Where it begins in the pattern, for errors.
  std::size_t at;
  Widths widths = {0, 0};
  // The look-around in it, or that it is.
  bool looks_ahead = false;
  bool looks_behind = false;
  // kLook: of more characters than these next to it nothing depends; Widths::kMany: all matter.
  std::int64_t reach = Widths::kMany;
  // kLook, ahead and negative, of a few known texts: these.
  std::vector<std::u32string> excluded = {};
  // What the others are made of: one part where it is repeated.
  std::vector<PatternPart> parts = {};
  std::uint32_t min = 0, max = 0;
  // kRepeat of one character: all that it can be.
  CharSet characters = {};

  [[nodiscard]] bool looks(Side side) const {
    return side == Side::kAhead ? looks_ahead : looks_behind;
  }
};

inline bool PatternPart::looks(Side side) const { return !plain() && looking->looks(side); }
inline bool PatternPart::is_look() const {
  return !plain() && looking->kind == LookingPart::Kind::kLook;
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_PART_H_
