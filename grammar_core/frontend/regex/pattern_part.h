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

// Moved from reader to LookAround and back; it owns the parts below it.
struct PatternPart {
  // Plain: what it matches. A look: all that the text may be on that side of it, to the text's end
  // or begin.
  ContextLanguage language;
  std::unique_ptr<LookingPart> looking = nullptr;  // null: plain

  // Whether it looks around; on which side; and whether it is a look-around itself.
  [[nodiscard]] bool plain() const { return looking == nullptr; }
  [[nodiscard]] bool looks(Side side) const;
  [[nodiscard]] bool is_look() const;
};

// An operator above a look-around, or that look-around.
struct LookingPart {
  // Which operator.
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

  // Whether a look-around of that side is in it.
  [[nodiscard]] bool looks(Side side) const {
    return side == Side::kAhead ? looks_ahead : looks_behind;
  }
};

// Here, as LookingPart is complete only now.
inline bool PatternPart::looks(Side side) const { return !plain() && looking->looks(side); }
inline bool PatternPart::is_look() const {
  return !plain() && looking->kind == LookingPart::Kind::kLook;
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_PART_H_
