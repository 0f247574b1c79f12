// What the header says of the tables, and characters whose properties the standards name.
#include "grammar_core/frontend/json_schema/formats/idna_tables.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace maskd {
namespace {

constexpr int kSets = static_cast<int>(IdnaSet::kMarks) + kMarkGroups;

CharSet SetOf(IdnaSet set) {
  const absl::Span<const CharRange> ranges = IdnaRanges(set);
  return CharSet(std::vector<CharRange>(ranges.begin(), ranges.end()));
}

CharSet MarkGroup(int group) {
  return SetOf(static_cast<IdnaSet>(static_cast<int>(IdnaSet::kMarks) + group));
}

// Each character that a U-label may hold is in one of them, by its class and direction.
std::vector<CharSet> Kinds() {
  std::vector<CharSet> kinds;
  for (const IdnaSet set : {IdnaSet::kStarters, IdnaSet::kComposingStarters, IdnaSet::kVowels,
                            IdnaSet::kComposingVowels, IdnaSet::kJoiningVowels,
                            IdnaSet::kRtlStarters, IdnaSet::kRtlComposingStarters})
    kinds.push_back(SetOf(set));
  for (int group = 0; group < kMarkGroups; ++group) kinds.push_back(MarkGroup(group));
  return kinds;
}

CharSet Marks() {
  CharSet marks;
  for (int group = 0; group < kMarkGroups; ++group) marks = marks.Union(MarkGroup(group));
  return marks;
}

TEST(IdnaRangesTest, AscendAndAreApart) {
  for (int set = 0; set < kSets; ++set) {
    const absl::Span<const CharRange> ranges = IdnaRanges(static_cast<IdnaSet>(set));
    ASSERT_FALSE(ranges.empty()) << set;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      EXPECT_LE(ranges[i].lo, ranges[i].hi) << set;
      EXPECT_LE(ranges[i].hi, kMaxCodePoint) << set;
      if (i > 0) EXPECT_GT(ranges[i].lo, ranges[i - 1].hi + 1) << set;
    }
  }
}

TEST(IdnaRangesTest, KindsHaveNoCharacterInCommon) {
  const std::vector<CharSet> kinds = Kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i)
    for (std::size_t j = i + 1; j < kinds.size(); ++j)
      EXPECT_TRUE(kinds[i].Intersect(kinds[j]).empty()) << i << " and " << j;
}

TEST(IdnaRangesTest, MarksThatComposeOrHaveADirectionAreMarks) {
  for (const IdnaSet set : {IdnaSet::kComposingMarks, IdnaSet::kNonspacingMarks})
    EXPECT_EQ(SetOf(set).Union(Marks()), Marks()) << static_cast<int>(set);
}

TEST(IdnaRangesTest, JoiningTypesAreApart) {
  const CharSet dual = SetOf(IdnaSet::kDualJoining);
  const CharSet right = SetOf(IdnaSet::kRightJoining);
  const CharSet transparent = SetOf(IdnaSet::kTransparent);
  EXPECT_TRUE(dual.Intersect(right).empty());
  EXPECT_TRUE(dual.Intersect(transparent).empty());
  EXPECT_TRUE(right.Intersect(transparent).empty());
}

// RFC 5892: no hyphen here, no capitals, nothing that compatibility maps away, no joiners.
TEST(IdnaRangesTest, NoSetHasWhatLabelsMayNotHold) {
  for (int set = 0; set < kSets; ++set) {
    const CharSet characters = SetOf(static_cast<IdnaSet>(set));
    for (const std::uint32_t c : {0x00U,   0x20U,   0x2DU,   0x2EU,   0x5FU,   0x7FU,    0xAAU,
                                  0xB5U,   0xC9U,   0x130U,  0x200CU, 0x200DU, 0x2160U,  0x2665U,
                                  0x3002U, 0xFB01U, 0xFF41U, 0xD800U, 0xE000U, 0x1F600U, 0xE0100U})
      EXPECT_FALSE(characters.Contains(c)) << set << " has " << c;
    EXPECT_EQ(characters.CountWithin({'A', 'Z'}), 0) << set;
  }
}

struct MemberCase {
  const char* name;
  std::uint32_t character;
  std::vector<IdnaSet> sets;  // of all those it is in
};

class MemberTest : public testing::TestWithParam<MemberCase> {};

TEST_P(MemberTest, IsInThese) {
  std::vector<IdnaSet> sets;
  for (int set = 0; set < kSets; ++set)
    if (SetOf(static_cast<IdnaSet>(set)).Contains(GetParam().character))
      sets.push_back(static_cast<IdnaSet>(set));
  EXPECT_EQ(sets, GetParam().sets);
}

constexpr IdnaSet MarksOf(int group) {
  return static_cast<IdnaSet>(static_cast<int>(IdnaSet::kMarks) + group);
}

// By the Unicode Character Database: combining class, direction, joining type, script, composition.
INSTANTIATE_TEST_SUITE_P(
    Characters, MemberTest,
    testing::ValuesIn(std::vector<MemberCase>{
        {"DigitZero", '0', {IdnaSet::kStarters}},
        {"LatinQ", 'q', {IdnaSet::kStarters}},
        {"LatinE", 'e', {IdnaSet::kComposingStarters}},
        {"SharpS", 0xDF, {IdnaSet::kStarters}},
        {"LatinEAcute", 0xE9, {IdnaSet::kComposingStarters}},
        {"GreekAlpha", 0x3B1, {IdnaSet::kComposingStarters, IdnaSet::kGreek}},
        {"GreekFinalSigma", 0x3C2, {IdnaSet::kStarters, IdnaSet::kGreek}},
        {"CyrillicA", 0x430, {IdnaSet::kComposingStarters}},
        {"HebrewAlef", 0x5D0, {IdnaSet::kRtlStarters, IdnaSet::kHebrew}},
        {"HebrewDalet", 0x5D3, {IdnaSet::kRtlStarters, IdnaSet::kHebrew}},
        {"ArabicBeh", 0x628, {IdnaSet::kRtlStarters, IdnaSet::kDualJoining}},
        {"ArabicAlef", 0x627, {IdnaSet::kRtlComposingStarters, IdnaSet::kRightJoining}},
        {"ArabicYeh", 0x64A, {IdnaSet::kRtlComposingStarters, IdnaSet::kDualJoining}},
        {"HiraganaA", 0x3042, {IdnaSet::kStarters, IdnaSet::kKanaAndHan}},
        {"HiraganaKa", 0x304B, {IdnaSet::kComposingStarters, IdnaSet::kKanaAndHan}},
        {"HanOne", 0x4E00, {IdnaSet::kStarters, IdnaSet::kKanaAndHan}},
        {"HangulGa", 0xAC00, {IdnaSet::kStarters}},
        {"DevanagariKa", 0x915, {IdnaSet::kStarters}},
        {"DevanagariNa", 0x928, {IdnaSet::kComposingStarters}},
        {"DevanagariVowelAa", 0x93E, {IdnaSet::kVowels}},
        {"BengaliVowelAa", 0x9BE, {IdnaSet::kJoiningVowels}},
        {"Nukta",
         0x93C,
         {IdnaSet::kComposingMarks, IdnaSet::kNonspacingMarks, IdnaSet::kTransparent, MarksOf(0)}},
        {"Virama", 0x94D, {IdnaSet::kNonspacingMarks, IdnaSet::kTransparent, MarksOf(kViramas)}},
        {"MyanmarVirama",
         0x1039,
         {IdnaSet::kNonspacingMarks, IdnaSet::kTransparent, MarksOf(kViramas)}},
        {"HebrewSheva",
         0x5B0,
         {IdnaSet::kNonspacingMarks, IdnaSet::kTransparent, IdnaSet::kHebrew, MarksOf(2)}},
        {"Acute",
         0x301,
         {IdnaSet::kComposingMarks, IdnaSet::kNonspacingMarks, IdnaSet::kTransparent, MarksOf(3)}},
        {"Cedilla",
         0x327,
         {IdnaSet::kComposingMarks, IdnaSet::kNonspacingMarks, IdnaSet::kTransparent, MarksOf(3)}},
        {"GreekYpogegrammeni", 0x345, {}},  // maps away
        {"ArabicIndicDigit", 0x660, {}},    // CONTEXTO
        {"MiddleDot", 0xB7, {}},
        {"KatakanaMiddleDot", 0x30FB, {}},
    }),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace maskd
