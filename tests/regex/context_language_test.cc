// Parts of patterns between every pair of neighbours, against the slow matcher of trees.
#include "grammar_core/frontend/regex/context_language.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/regex/char_classes.h"
#include "grammar_core/ir/text_match.h"
#include "tests/regex/pattern_oracle.h"

namespace maskd {
namespace {

using Kind = PatternTree::Kind;

constexpr std::array kNeighbours = {Neighbour::kNone, Neighbour::kWord, Neighbour::kOther};

std::u32string Beside(Neighbour neighbour) {
  return neighbour == Neighbour::kNone ? U"" : neighbour == Neighbour::kWord ? U"w" : U".";
}

class ContextLanguageTest : public testing::Test {
 protected:
  // Nothing where the algebra repeats no such part.
  std::optional<ContextLanguage> Made(const PatternTree& tree) {
    std::vector<ContextLanguage> parts;
    for (const PatternTree& part : tree.parts) {
      std::optional<ContextLanguage> made = Made(part);
      if (!made.has_value()) return std::nullopt;
      parts.push_back(*std::move(made));
    }
    switch (tree.kind) {
      case Kind::kChars:
        return algebra_.Chars(SetOf(tree.chars));
      case Kind::kTextBegin:
        return algebra_.TextBegin();
      case Kind::kTextEnd:
        return algebra_.TextEnd();
      case Kind::kBoundary:
      case Kind::kNoBoundary:
        return algebra_.WordBoundary(tree.kind == Kind::kNoBoundary);
      case Kind::kSequence:
        return algebra_.Sequence(parts);
      case Kind::kAlternatives:
        return algebra_.Alternatives(parts);
      case Kind::kRepeat:
        return Repeated(parts.front(), tree);
      case Kind::kAnd:
        return algebra_.Intersection(parts[0], parts[1]);
      case Kind::kNot:
        return algebra_.Complement(parts.front());
      default:
        return algebra_.Empty();
    }
  }

  static CharSet SetOf(const std::u32string& chars) {
    std::vector<CharRange> ranges;
    for (const char32_t c : chars) ranges.push_back({c, c});
    return CharSet(std::move(ranges));
  }

  // All that may be refused is what depends on words and comes more than once.
  std::optional<ContextLanguage> Repeated(const ContextLanguage& part, const PatternTree& tree) {
    std::optional<ContextLanguage> all = algebra_.Repeat(part, tree.min, tree.max);
    EXPECT_TRUE(all.has_value() || (part.DependsOnWords() && tree.max > 1)) << Spelled(tree);
    return all;
  }

  bool Has(const Language& language, const std::u32string& text) {
    Budget budget = Budget::Unlimited();
    return *MatchesText(builder_.ir(), language.node, text, budget);
  }

  // The language, and that the fields beside the node say no less than it.
  void Compare(const PatternTree& tree, const ContextLanguage& made) {
    for (const Neighbour before : kNeighbours) {
      for (const Neighbour after : kNeighbours) {
        const Language& here = made.In(before, after);
        for (const std::u32string& text : texts_) {
          const std::u32string whole = Beside(before) + text + Beside(after);
          const std::size_t begin = Beside(before).size();
          const bool expected = MatchesAt(tree, whole, begin, begin + text.size());
          ASSERT_EQ(Has(here, text), expected)
              << Spelled(tree) << " in a text of " << whole.size() << " between "
              << static_cast<int>(before) << " and " << static_cast<int>(after);
          if (expected) CompareEnds(tree, here, text);
        }
        ASSERT_EQ(here.nullable, Has(here, U"")) << Spelled(tree);
      }
    }
  }

  static void CompareEnds(const PatternTree& tree, const Language& here,
                          const std::u32string& text) {
    if (text.empty()) return;
    const auto bit = [](char32_t c) {
      return 1U << static_cast<unsigned>(WordChars().Contains(c) ? Neighbour::kWord
                                                                 : Neighbour::kOther);
    };
    EXPECT_NE(here.first & bit(text.front()), 0U) << Spelled(tree);
    EXPECT_NE(here.last & bit(text.back()), 0U) << Spelled(tree);
  }

  const std::vector<std::u32string> texts_ = TextsOver(U"a-", 3);
  Limits limits_;
  IrBuilder builder_{limits_};
  ContextAlgebra algebra_{&builder_};
};

TEST_F(ContextLanguageTest, RandomPartsHaveTheTextsOfTheirDefinition) {
  const PatternTree::Kinds leaves = {Kind::kEmpty,     Kind::kChars,   Kind::kChars,
                                     Kind::kTextBegin, Kind::kTextEnd, Kind::kBoundary,
                                     Kind::kNoBoundary};
  const PatternTree::Kinds operators = {Kind::kSequence, Kind::kSequence, Kind::kAlternatives,
                                        Kind::kRepeat,   Kind::kAnd,      Kind::kNot};
  std::mt19937_64 random(24);
  int compared = 0;
  for (int round = 0; round < 3000; ++round) {
    const PatternTree tree = RandomTree(1 + round % 8, leaves, operators, random);
    const std::optional<ContextLanguage> made = Made(tree);
    if (!made.has_value()) continue;
    Compare(tree, *made);
    ASSERT_FALSE(HasFatalFailure());
    ++compared;
  }
  EXPECT_GT(compared, 2000);
}

// Anchors are repeated, so these are of the begin and the end alone.
TEST_F(ContextLanguageTest, RandomRepeatsOfAnchorsHaveTheTextsOfTheirDefinition) {
  const PatternTree::Kinds leaves = {Kind::kChars, Kind::kTextBegin, Kind::kTextEnd, Kind::kEmpty};
  const PatternTree::Kinds operators = {Kind::kSequence, Kind::kAlternatives, Kind::kRepeat};
  std::mt19937_64 random(25);
  for (int round = 0; round < 800; ++round) {
    const PatternTree tree = RandomTree(3 + round % 6, leaves, operators, random);
    const std::optional<ContextLanguage> made = Made(tree);
    ASSERT_TRUE(made.has_value()) << Spelled(tree);
    Compare(tree, *made);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST_F(ContextLanguageTest, PlainPartsJoinAsPlainParts) {
  const ContextLanguage a = algebra_.Chars(CharSet::One('a'));
  const ContextLanguage any = algebra_.Anything();
  EXPECT_TRUE(a.plain() && any.plain());
  EXPECT_TRUE(algebra_.Sequence({a, any, a}).plain());
  EXPECT_TRUE(algebra_.Alternatives({a, algebra_.Empty()}).plain());
  EXPECT_TRUE(algebra_.Repeat(a, 2, kUnbounded)->plain());
  EXPECT_TRUE(algebra_.Intersection(a, any).plain());
  EXPECT_TRUE(algebra_.Complement(a).plain());
  EXPECT_TRUE(Has(any.Whole(), U"\n\U0010FFFF"));
}

TEST_F(ContextLanguageTest, AnchorsAtTheEndsOfAWholeTextVanish) {
  const ContextLanguage a = algebra_.Chars(CharSet::One('a'));
  const ContextLanguage anchored = algebra_.Sequence(
      {algebra_.TextBegin(), algebra_.WordBoundary(false), a, algebra_.TextEnd()});
  EXPECT_FALSE(anchored.plain());
  EXPECT_EQ(anchored.Whole(), a.Whole());
  EXPECT_EQ(anchored.In(Neighbour::kOther, Neighbour::kNone).node, builder_.Nothing());
}

TEST_F(ContextLanguageTest, ATableOfOneLanguageIsPlain) {
  ContextLanguage::Table table;
  table.fill(algebra_.Chars(CharSet::One('a')).Whole());
  EXPECT_TRUE(ContextLanguage(table).plain());
  table.back() = algebra_.Empty().Whole();
  const ContextLanguage made(table);
  EXPECT_FALSE(made.plain());
  EXPECT_EQ(made.In(Neighbour::kOther, Neighbour::kOther), algebra_.Empty().Whole());
  EXPECT_EQ(made.In(Neighbour::kOther, Neighbour::kWord), table.front());
}

TEST_F(ContextLanguageTest, AnchorsDependOnNoWords) {
  EXPECT_FALSE(algebra_.Empty().DependsOnWords());
  EXPECT_FALSE(algebra_.TextBegin().DependsOnWords());
  EXPECT_FALSE(algebra_.TextEnd().DependsOnWords());
  EXPECT_TRUE(algebra_.WordBoundary(false).DependsOnWords());
  EXPECT_TRUE(algebra_.WordBoundary(true).DependsOnWords());
}

TEST_F(ContextLanguageTest, WordBoundariesComeOnceAtMost) {
  const ContextLanguage boundary = algebra_.WordBoundary(false);
  EXPECT_FALSE(algebra_.Repeat(boundary, 0, 2).has_value());
  EXPECT_FALSE(algebra_.Repeat(boundary, 2, 2).has_value());
  EXPECT_TRUE(algebra_.Repeat(boundary, 0, 1).has_value());
  EXPECT_TRUE(algebra_.Repeat(boundary, 1, 1).has_value());
  EXPECT_TRUE(algebra_.Repeat(boundary, 0, 0).has_value());
}

TEST_F(ContextLanguageTest, AtAnEndNoNeighbourThereCounts) {
  const ContextLanguage both = algebra_.Sequence(
      {algebra_.WordBoundary(false), algebra_.Anything(), algebra_.WordBoundary(true)});
  for (const Neighbour before : kNeighbours) {
    for (const Neighbour after : kNeighbours) {
      EXPECT_EQ(ContextAlgebra::AtTextEnd(both).In(before, after),
                both.In(before, Neighbour::kNone));
      EXPECT_EQ(ContextAlgebra::AtTextBegin(both).In(before, after),
                both.In(Neighbour::kNone, after));
    }
  }
}

}  // namespace
}  // namespace maskd
