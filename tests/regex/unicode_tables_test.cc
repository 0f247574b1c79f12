// The tables' own invariants, and their sets against RE2's.
#include "grammar_core/frontend/regex/unicode_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t kCharacters = 0x110000 - 0x800;  // without the surrogates

absl::Span<const CharRange> RangesOf(const UnicodeSet& set) {
  return UnicodeRanges().subspan(set.first, set.count);
}

CharSet CharsOf(const UnicodeSet& set) {
  const absl::Span<const CharRange> ranges = RangesOf(set);
  return CharSet(std::vector<CharRange>(ranges.begin(), ranges.end()));
}

std::uint32_t SizeOf(const CharSet& set) { return set.CountWithin({0, kMaxCodePoint}); }

TEST(UnicodeTablesTest, TheRangesOfASetAscend) {
  for (const UnicodeSet& set : UnicodeSets()) {
    ASSERT_LE(set.first + set.count, UnicodeRanges().size()) << set.long_name;
    std::uint32_t free = 0;  // the first character that the next range may begin with
    for (const CharRange& range : RangesOf(set)) {
      EXPECT_GE(range.lo, free) << set.long_name;
      EXPECT_GE(range.hi, range.lo) << set.long_name;
      free = range.hi + 1;
    }
    EXPECT_LE(free, kMaxCodePoint + 1) << set.long_name;
  }
}

TEST(UnicodeTablesTest, ANameIsOfOneSetOfItsKind) {
  std::set<std::pair<UnicodeSetKind, std::string>> names;
  for (const UnicodeSet& set : UnicodeSets()) {
    EXPECT_TRUE(names.emplace(set.kind, set.short_name).second) << set.short_name;
    if (std::string(set.short_name) == set.long_name) continue;
    EXPECT_TRUE(names.emplace(set.kind, set.long_name).second) << set.long_name;
  }
}

// Every character has one category and one script.
class UnicodePartitionTest : public testing::TestWithParam<UnicodeSetKind> {};

TEST_P(UnicodePartitionTest, HoldsEachCharacterOnce) {
  CharSet all;
  std::uint32_t count = 0;
  for (const UnicodeSet& set : UnicodeSets()) {
    if (set.kind != GetParam()) continue;
    all = all.Union(CharsOf(set));
    count += SizeOf(CharsOf(set));
  }
  EXPECT_EQ(all, CharSet::All());
  EXPECT_EQ(count, kCharacters);
}

INSTANTIATE_TEST_SUITE_P(Kinds, UnicodePartitionTest,
                         testing::Values(UnicodeSetKind::kCategory, UnicodeSetKind::kScript),
                         [](const auto& test) {
                           return test.param == UnicodeSetKind::kScript ? "Scripts" : "Categories";
                         });

// Counted with unicodedata.category() of Python 3.11, whose Unicode is 14.0.
TEST(UnicodeTablesTest, CategoriesHaveAsManyCharactersAsInPython) {
  const std::map<std::string, std::uint32_t> expected = {
      {"Lu", 1831},   {"Ll", 2227},  {"Lt", 31},  {"Lm", 334},  {"Lo", 127333}, {"Mn", 1950},
      {"Mc", 445},    {"Me", 13},    {"Nd", 660}, {"Nl", 236},  {"No", 895},    {"Pc", 10},
      {"Pd", 26},     {"Ps", 79},    {"Pe", 77},  {"Pi", 12},   {"Pf", 10},     {"Po", 605},
      {"Sm", 948},    {"Sc", 63},    {"Sk", 125}, {"So", 6605}, {"Zs", 17},     {"Zl", 1},
      {"Zp", 1},      {"Cc", 65},    {"Cf", 163}, {"Cs", 0},  // no surrogate is a character
      {"Co", 137468}, {"Cn", 829834}};
  std::map<std::string, std::uint32_t> counts;
  for (const UnicodeSet& set : UnicodeSets())
    if (set.kind == UnicodeSetKind::kCategory) counts[set.short_name] = SizeOf(CharsOf(set));
  EXPECT_EQ(counts, expected);
}

// The characters at the ends of all ranges and those beside them, as far as they are assigned: RE2
// may be of a later version, which assigns more.
CharSet CharactersAtEnds() {
  std::vector<CharRange> ends;
  for (const CharRange& range : UnicodeRanges())
    for (const std::uint32_t c : {range.lo - 1, range.lo, range.hi, range.hi + 1})
      if (c <= kMaxCodePoint) ends.push_back({c, c});
  for (const UnicodeSet& set : UnicodeSets())
    if (std::string(set.short_name) == "Cn")
      return CharSet(std::move(ends)).Intersect(CharsOf(set).Complement());
  return {};
}

std::u32string Listed(const CharSet& set) {
  std::u32string characters;
  for (const CharRange& range : set.ranges())
    for (char32_t c = range.lo; c <= range.hi; ++c) characters.push_back(c);
  return characters;
}

TEST(UnicodeTablesTest, CategoriesAndScriptsAreThoseOfRe2) {
  const CharSet candidates = CharactersAtEnds();
  const std::string text = CodePointsToUtf8(Listed(candidates));
  int compared = 0;
  for (const UnicodeSet& set : UnicodeSets()) {
    const bool script = set.kind == UnicodeSetKind::kScript;
    const std::string name = script ? set.long_name : set.short_name;
    RE2::Options quiet;
    quiet.set_log_errors(false);
    const RE2 pattern(absl::StrCat("(\\p{", name, "})"), quiet);
    if (!pattern.ok()) continue;  // RE2 has no binary properties, no Cn and no Unknown
    std::u32string expected;
    re2::StringPiece rest(text);
    std::string found;
    while (RE2::FindAndConsume(&rest, pattern, &found)) expected += *Utf8ToCodePoints(found);
    const std::u32string ours = Listed(CharsOf(set).Intersect(candidates));
    const auto [here, there] =
        std::mismatch(ours.begin(), ours.end(), expected.begin(), expected.end());
    EXPECT_TRUE(here == ours.end() && there == expected.end())
        << name << " at " << (here == ours.end() ? 0 : std::uint32_t{*here}) << ", RE2 at "
        << (there == expected.end() ? 0 : std::uint32_t{*there});
    ++compared;
  }
  EXPECT_GT(compared, 180);  // 29 categories and more than 150 scripts
}

// From `c` on to itself.
std::vector<std::uint32_t> RingOf(std::uint32_t c) {
  std::map<std::uint32_t, std::uint32_t> next;
  for (const FoldStep& step : UnicodeFoldSteps()) next[step.c] = step.next;
  std::vector<std::uint32_t> ring;
  if (!next.contains(c)) return ring;
  for (std::uint32_t at = next[c]; at != c && ring.size() < 10; at = next[at]) ring.push_back(at);
  return ring;
}

TEST(UnicodeTablesTest, FoldStepsAscendAndAreRings) {
  std::map<std::uint32_t, std::uint32_t> next;
  std::set<std::uint32_t> reached;
  std::uint32_t last = 0;
  for (const FoldStep& step : UnicodeFoldSteps()) {
    EXPECT_GT(step.c, last);
    last = step.c;
    EXPECT_NE(step.next, step.c) << "folds with nothing else";
    EXPECT_TRUE(reached.insert(step.next).second) << "two steps lead to " << step.next;
    next[step.c] = step.next;
  }
  for (const std::uint32_t c : reached) EXPECT_TRUE(next.contains(c)) << "a ring ends at " << c;
}

// CaseFolding.txt of Unicode 14: the lines of status C and S.
TEST(UnicodeTablesTest, WhatFoldsAlikeIsInOneRing) {
  EXPECT_THAT(RingOf('k'), testing::UnorderedElementsAre('K', 0x212A));
  EXPECT_THAT(RingOf('S'), testing::UnorderedElementsAre('s', 0x17F));
  EXPECT_THAT(RingOf(0x3C2), testing::UnorderedElementsAre(0x3A3, 0x3C3));
  EXPECT_THAT(RingOf(0xDF), ElementsAre(0x1E9E));
  EXPECT_THAT(RingOf(0x1C4), testing::UnorderedElementsAre(0x1C5, 0x1C6));
  EXPECT_THAT(RingOf(0x13A0), ElementsAre(0xAB70));    // Cherokee
  EXPECT_THAT(RingOf(0x1E921), ElementsAre(0x1E943));  // Adlam: the last of the table
  EXPECT_THAT(RingOf(0x345), testing::UnorderedElementsAre(0x399, 0x3B9, 0x1FBE));
}

// Status T and F alone: the Turkish i, and what folds to more than one character.
TEST(UnicodeTablesTest, WhatFoldsWithNothingHasNoStep) {
  for (const std::uint32_t c : {0x130, 0x131, 0x149, 0xFB01, 0xFB05, 0x1F0, int{'1'}, 0x4E00})
    EXPECT_THAT(RingOf(c), ElementsAre()) << c;
}

}  // namespace
}  // namespace maskd
