#include "tests/regex/random_pattern.h"

#include <utility>

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

struct Atom {
  const char* pattern;
  std::vector<std::string> texts;
};
const std::vector<Atom>& Atoms() {
  static const auto* const atoms = new std::vector<Atom>{
      {"a", {"a"}},
      {"b", {"b"}},
      {"\\x{e9}", {"é"}},
      {"中", {"中"}},
      {"😀", {"😀"}},
      {"\\d", {"0", "7"}},
      {"\\w", {"a", "Z", "_"}},
      {"\\W", {"-", "é", " "}},
      {"[^a-y]", {"z", "中", "😀"}},
      {"[a-cé-中]", {"b", "é", "β"}},
      {"\\p{L}", {"a", "é", "中"}},
      {"\\P{L}", {"1", "-", "😀"}},
      {"\\p{Lu}", {"Z", "É"}},
      {"\\p{Greek}", {"β"}},
      {"(?i:k)", {"k", "K", "\u212A"}},
      {"(?i:[^k])", {"a", "中"}},
      {"(?i:é)", {"é", "É"}},
      {"[[:alpha:]\\d-]", {"a", "7", "-"}},
      {"\\t", {"\t"}},
      {"(?s:.)", {"a", "中", "😀"}},
      {".", {"a", "中", "😀"}},
      {"^", {""}},
      {"$", {""}},
      {"\\b", {""}},
  };
  return *atoms;
}

std::size_t Below(std::size_t bound, Random& random) { return random() % bound; }

SampledPattern MakeAtom(Random& random) {
  const Atom& atom = Atoms()[Below(Atoms().size(), random)];
  return {atom.pattern, [&atom](Random& r) { return atom.texts[Below(atom.texts.size(), r)]; }};
}

SampledPattern Repeated(SampledPattern part, Random& random) {
  const std::size_t min = Below(4, random);
  const std::size_t max = min + Below(5, random);
  const char* lazy = Below(3, random) == 0 ? "?" : "";
  std::string text = "(?:" + part.text + "){" + std::to_string(min) + ",";
  text += (max == min + 4 ? "" : std::to_string(max)) + std::string("}") + lazy;
  return {std::move(text), [part = std::move(part), min, max](Random& r) {
            std::string all;
            for (std::size_t n = min + Below(max - min + 1, r); n > 0; --n) all += part.sample(r);
            return all;
          }};
}

SampledPattern Either(SampledPattern x, SampledPattern y) {
  return {"(?:" + x.text + "|" + y.text + ")",
          [x, y](Random& r) { return Below(2, r) == 0 ? x.sample(r) : y.sample(r); }};
}

SampledPattern Both(SampledPattern x, SampledPattern y) {
  return {x.text + y.text, [x, y](Random& r) { return x.sample(r) + y.sample(r); }};
}

}  // namespace

const PatternVocabulary& Positions() {
  static const auto* const vocabulary =
      new PatternVocabulary{{"a", "-", ".", "[^a]", "^", "$", "\\b", "\\B", "(?:)"},
                            {"*", "+", "?", "{2}", "{1,2}", "{2,}", "{0,3}"}};
  return *vocabulary;
}

const PatternVocabulary& Classes() {
  static const auto* const vocabulary = new PatternVocabulary{
      {"a", "[^a-z]", "[^\\W_]", "[[:upper:]k]", "\\d", "\\W", "\\p{L}", "\\P{Lu}", "\\p{Greek}",
       "(?i:k)", "(?i:[^k])", "(?i:\\p{Lu})", "(?i:[a-ß])", "(?i:[^\\W])", "\\x{212A}"},
      {"*?", "{0}", "{1}?", "{2}", "{0,2}", "{1,3}", "{2,}", "{3,}?"}};
  return *vocabulary;
}

std::vector<std::string> PatternsOfSize(int size, const PatternVocabulary& vocabulary) {
  if (size == 1) return vocabulary.atoms;
  std::vector<std::string> patterns;
  for (const std::string& part : PatternsOfSize(size - 1, vocabulary))
    for (const std::string& quantifier : vocabulary.quantifiers)
      patterns.push_back("(" + part + ")" + quantifier);
  for (int left = 1; left < size - 1; ++left) {
    const std::vector<std::string> rights = PatternsOfSize(size - 1 - left, vocabulary);
    for (const std::string& x : PatternsOfSize(left, vocabulary)) {
      for (const std::string& y : rights) {
        patterns.push_back(x + y);
        patterns.push_back("(?:" + x + "|" + y + ")");
      }
    }
  }
  return patterns;
}

SampledPattern MakeRandomPattern(int size, Random& random) {
  if (size <= 1) return MakeAtom(random);
  switch (Below(5, random)) {
    case 0:
      return Repeated(MakeRandomPattern(size - 1, random), random);
    case 1: {
      const int left = 1 + static_cast<int>(Below(static_cast<std::size_t>(size - 1), random));
      return Either(MakeRandomPattern(left, random), MakeRandomPattern(size - left, random));
    }
    default: {
      const int left = 1 + static_cast<int>(Below(static_cast<std::size_t>(size - 1), random));
      return Both(MakeRandomPattern(left, random), MakeRandomPattern(size - left, random));
    }
  }
}

std::string Mutated(const std::string& text, Random& random) {
  std::u32string characters = Utf8ToCodePoints(text).value_or(U"");
  const std::size_t at = Below(characters.size() + 1, random);
  const std::u32string pool = U"ab-k7Zé中😀 ";
  if (at == characters.size() || Below(3, random) == 0)
    characters.insert(at, 1, pool[Below(pool.size(), random)]);
  else if (Below(2, random) == 0)
    characters.erase(at, 1);
  else
    characters[at] = pool[Below(pool.size(), random)];
  std::string mutated;
  for (const char32_t c : characters) AppendUtf8(c, &mutated);
  return mutated;
}

}  // namespace maskd
