// Patterns as trees, and a slow and obvious matcher of them: each construct by its definition, at
// every pair of places of a text. It shares nothing with the front end.
//
// Cost     polynomial in the text for each operator; for texts of a few characters.
// Threads  plain values.
#ifndef MASKD_TESTS_REGEX_PATTERN_ORACLE_H_
#define MASKD_TESTS_REGEX_PATTERN_ORACLE_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace maskd {

// One construct and what it is made of.
struct PatternTree {
  enum class Kind : std::uint8_t {
    kEmpty,
    kChars,  // any of `chars`
    kTextBegin,
    kTextEnd,
    kBoundary,
    kNoBoundary,
    kSequence,
    kAlternatives,
    kRepeat,  // kUnbounded: without end
    kAnd,
    kNot,
    kAhead,
    kNotAhead,
    kBehind,
    kNotBehind,
  };
  using Kinds = std::vector<Kind>;

  Kind kind = Kind::kEmpty;
  std::u32string chars = {};
  std::vector<PatternTree> parts = {};
  std::uint32_t min = 0, max = 0;
};

// Whether [begin, end) of `text` is a match, which looks at all of `text`.
bool MatchesAt(const PatternTree& tree, const std::u32string& text, std::size_t begin,
               std::size_t end);

// A tree of `size` constructs, leaves of letters and of `leaves`, above them `operators`.
PatternTree RandomTree(int size, const PatternTree::Kinds& leaves,
                       const PatternTree::Kinds& operators, std::mt19937_64& random);

// As a regular expression; without kAnd and kNot.
std::string Spelled(const PatternTree& tree);

// Every text of up to `max_length` of `characters`.
std::vector<std::u32string> TextsOver(const std::u32string& characters, int max_length);

}  // namespace maskd

#endif  // MASKD_TESTS_REGEX_PATTERN_ORACLE_H_
