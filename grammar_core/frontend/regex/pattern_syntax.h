// What a pattern consists of, by where each part stands in it: for those who follow a text through
// its parts. What it matches is another matter (pattern_reader.h).
//
// Layout   parts are numbered in the order of their ends, so what a part holds stands before it.
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_SYNTAX_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_SYNTAX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grammar_core/base/char_set.h"

namespace maskd {

// The last part is the whole pattern.
struct PatternSyntax {
  // What a part is.
  enum class Kind : std::uint8_t {
    kCharacters,    // one character of a set
    kSequence,      // its parts in order
    kAlternatives,  // any of its parts
    kRepeat,        // its part, min to max times
    kLook,          // a look-around: its part is what it looks for
    // Nothing, where a condition holds.
    kTextBegin,
    kTextEnd,
    kBoundary,
    kNoBoundary,
  };
  struct Part {
    Kind kind;
    std::size_t begin = 0;  // its bytes in the pattern
    std::size_t end = 0;
    std::vector<std::uint32_t> parts = {};
    CharSet characters = {};
    std::uint32_t min = 0;
    std::uint32_t max = 0;
  };

  std::vector<Part> parts;
};

// Is told what a reader reads, in the order of the pattern.
class PatternSyntaxMaker {
 public:
  // The pattern itself is open.
  PatternSyntaxMaker() { open_.emplace_back(); }

  void Characters(std::size_t begin, std::size_t end, const CharSet& set);
  void Condition(PatternSyntax::Kind kind, std::size_t begin, std::size_t end);
  // A group, up to its end, and what separates alternatives in it.
  void Open(std::size_t begin, bool is_look);
  void Close(std::size_t end);
  void EndAlternative();
  // Of what was read last.
  void Repeat(std::uint32_t min, std::uint32_t max, std::size_t end);

  // Behind the pattern's last part.
  PatternSyntax Finish() &&;

 private:
  struct Group {
    std::size_t begin = 0;
    bool is_look = false;
    std::vector<std::uint32_t> alternatives = {};
    std::vector<std::uint32_t> sequence = {};
  };

  std::uint32_t Add(PatternSyntax::Part part);
  void AddToSequence(PatternSyntax::Part part) { open_.back().sequence.push_back(Add(part)); }
  // What the innermost group holds, as one part.
  std::uint32_t WholeOf(Group group, std::size_t end);

  std::vector<Group> open_;
  PatternSyntax syntax_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_SYNTAX_H_
