// Patterns with texts that they were made to match, for tests against RE2.
#ifndef MASKD_TESTS_REGEX_RANDOM_PATTERN_H_
#define MASKD_TESTS_REGEX_RANDOM_PATTERN_H_

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace maskd {

using Random = std::mt19937_64;

struct SampledPattern {
  std::string text;
  // A text that matches, unless an anchor or a boundary is in the way.
  std::function<std::string(Random&)> sample;
};

// What patterns are made of.
struct PatternVocabulary {
  std::vector<std::string> atoms;
  std::vector<std::string> quantifiers;
};
// The letters a and -, dots, a class, anchors and word boundaries; seven quantifiers.
const PatternVocabulary& Positions();
// Classes of every kind, properties, folded letters and classes; counts, lazy ones as well.
const PatternVocabulary& Classes();

// Every pattern of exactly `size` nodes over the vocabulary, with |.
std::vector<std::string> PatternsOfSize(int size, const PatternVocabulary& vocabulary);

// A pattern of up to `size` nodes with characters of every UTF-8 length, named classes, folded
// groups and counts.
SampledPattern MakeRandomPattern(int size, Random& random);

// `text` with one character removed, doubled or replaced.
std::string Mutated(const std::string& text, Random& random);

}  // namespace maskd

#endif  // MASKD_TESTS_REGEX_RANDOM_PATTERN_H_
