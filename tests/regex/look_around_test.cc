// Parts that look around, as whole texts, against the slow matcher of trees.
#include "grammar_core/frontend/regex/look_around.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/text_match.h"
#include "tests/regex/pattern_oracle.h"

namespace maskd {
namespace {

using Kind = PatternTree::Kind;

// What is made of one pattern.
class LookAroundTree {
 public:
  explicit LookAroundTree(const Limits& limits = {}) : limits_(limits) {}

  // A part by the class under test alone. Errors: what it refuses.
  absl::StatusOr<PatternPart> Made(const PatternTree& tree) {
    std::vector<PatternPart> parts;
    for (const PatternTree& part : tree.parts) {
      absl::StatusOr<PatternPart> made = Made(part);
      if (!made.ok()) return made.status();
      parts.push_back(*std::move(made));
    }
    switch (tree.kind) {
      case Kind::kSequence:
        return looks_.Sequence(std::move(parts));
      case Kind::kAlternatives:
        return looks_.Alternatives(std::move(parts));
      case Kind::kRepeat: {
        std::optional<PatternPart> all =
            looks_.Repeat(std::move(parts.front()), tree.min, tree.max, 0);
        if (!all.has_value()) return absl::UnimplementedError("a word boundary");
        return *std::move(all);
      }
      case Kind::kAhead:
      case Kind::kNotAhead:
        return looks_.Look(Side::kAhead, tree.kind == Kind::kNotAhead, parts.front(), 0);
      case Kind::kBehind:
      case Kind::kNotBehind:
        return looks_.Look(Side::kBehind, tree.kind == Kind::kNotBehind, parts.front(), 0);
      default:
        return PatternPart{Leaf(tree)};
    }
  }

  absl::StatusOr<NodeId> TextsOf(const PatternTree& tree) {
    absl::StatusOr<PatternPart> made = Made(tree);
    if (!made.ok()) return made.status();
    return looks_.WholeText(*made);
  }

  bool Has(NodeId node, const std::u32string& text) {
    Budget budget = Budget::Unlimited();
    return *MatchesText(builder_.ir(), node, text, budget);
  }

 private:
  ContextLanguage Leaf(const PatternTree& tree) {
    if (tree.kind == Kind::kTextBegin) return algebra_.TextBegin();
    if (tree.kind == Kind::kTextEnd) return algebra_.TextEnd();
    if (tree.kind == Kind::kBoundary) return algebra_.WordBoundary(false);
    if (tree.kind == Kind::kNoBoundary) return algebra_.WordBoundary(true);
    if (tree.kind == Kind::kEmpty) return algebra_.Empty();
    std::vector<CharRange> ranges;
    for (const char32_t c : tree.chars) ranges.push_back({c, c});
    return algebra_.Chars(CharSet(std::move(ranges)));
  }

  const Limits limits_;
  Budget budget_ = Budget::Unlimited();
  IrBuilder builder_{limits_};
  ContextAlgebra algebra_{&builder_};
  PatternCursor cursor_{"the pattern", ""};
  LookAround looks_{&builder_, &algebra_, &cursor_, limits_, &budget_};
};

// Whether `tree` is not refused; then its texts are held against the slow matcher's.
bool IsExact(const PatternTree& tree) {
  static const std::vector<std::u32string>* const texts =
      new std::vector<std::u32string>(TextsOver(U"ab-", 4));
  LookAroundTree made;
  const absl::StatusOr<NodeId> node = made.TextsOf(tree);
  if (!node.ok()) {
    EXPECT_EQ(node.status().code(), absl::StatusCode::kUnimplemented) << Spelled(tree);
    return false;
  }
  for (const std::u32string& text : *texts) {
    const bool expected = MatchesAt(tree, text, 0, text.size());
    EXPECT_EQ(made.Has(*node, text), expected)
        << Spelled(tree) << " on \"" << CodePointsToUtf8(text) << "\"";
    if (made.Has(*node, text) != expected) break;
  }
  return true;
}

// The share of random trees that are not refused.
double ShareOfExact(const PatternTree::Kinds& looks, int rounds, std::uint64_t seed) {
  const PatternTree::Kinds leaves = {Kind::kChars,     Kind::kChars,   Kind::kChars,
                                     Kind::kTextBegin, Kind::kTextEnd, Kind::kBoundary,
                                     Kind::kEmpty};
  PatternTree::Kinds operators = {Kind::kSequence, Kind::kSequence, Kind::kAlternatives,
                                  Kind::kRepeat};
  operators.insert(operators.end(), looks.begin(), looks.end());
  std::mt19937_64 random(seed);
  int exact = 0;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round)
    exact += IsExact(RandomTree(2 + round % 8, leaves, operators, random)) ? 1 : 0;
  return static_cast<double>(exact) / rounds;
}

TEST(LookAroundTest, RandomLookAheadsAreExact) {
  EXPECT_GT(ShareOfExact({Kind::kAhead, Kind::kNotAhead}, 1000, 27), 0.6);
}

// Of any width, which neither Python nor RE2 reads.
TEST(LookAroundTest, RandomLookBehindsAreExact) {
  EXPECT_GT(ShareOfExact({Kind::kBehind, Kind::kNotBehind}, 1000, 28), 0.6);
}

TEST(LookAroundTest, RandomLooksToBothSidesAreExact) {
  EXPECT_GT(
      ShareOfExact({Kind::kAhead, Kind::kNotAhead, Kind::kBehind, Kind::kNotBehind}, 3000, 29),
      0.5);
}

PatternTree Characters(const std::u32string& any_of) {
  return {.kind = Kind::kChars, .chars = any_of};
}

PatternTree Sequenced(std::vector<PatternTree> parts) {
  return {.kind = Kind::kSequence, .parts = std::move(parts)};
}

PatternTree TextTree(const std::u32string& text) {
  PatternTree tree = {.kind = Kind::kSequence};
  for (const char32_t c : text) tree.parts.push_back(Characters(std::u32string(1, c)));
  return tree;
}

// One to three of "", of one, two or three letters.
PatternTree SomeTexts(std::mt19937_64& random, std::size_t shortest) {
  PatternTree tree = {.kind = Kind::kAlternatives};
  for (std::size_t count = 1 + random() % 3; count > 0; --count) {
    std::u32string text;
    for (std::size_t i = shortest + random() % 3; i > 0; --i) text.push_back(U"ab-"[random() % 3]);
    tree.parts.push_back(TextTree(text));
  }
  return tree;
}

// Characters in front of which texts are excluded, and what ends them: <t>(?:(?!</t>).)*</t>.
TEST(LookAroundTest, RandomExclusionsInARepeatAreExact) {
  std::mt19937_64 random(30);
  int exact = 0;
  for (int round = 0; round < 700 && !HasFailure(); ++round) {
    std::vector<PatternTree> body;
    for (std::size_t looks = 1 + random() % 2; looks > 0; --looks)
      body.push_back({.kind = Kind::kNotAhead, .parts = {SomeTexts(random, random() % 2)}});
    body.push_back(Characters(random() % 2 == 0 ? U"ab-" : U"a-"));
    const std::uint32_t min = random() % 3;
    const PatternTree rounds = {.kind = Kind::kRepeat,
                                .parts = {Sequenced(std::move(body))},
                                .min = min,
                                .max = random() % 3 == 0 ? min + 2 : kUnbounded};
    exact += IsExact(Sequenced({rounds, SomeTexts(random, random() % 3)})) ? 1 : 0;
  }
  EXPECT_GT(exact, 350);
}

// a(?=...)b{n} in rounds: each is read again for each rest that it meets.
TEST(LookAroundTest, RoundsAreBoundedByTheLimit) {
  const PatternTree round = {
      .kind = Kind::kAlternatives,
      .parts = {TextTree(U"ab"),
                Sequenced({Characters(U"a"), {.kind = Kind::kAhead, .parts = {TextTree(U"-")}}})}};
  const PatternTree tree =
      Sequenced({{.kind = Kind::kRepeat, .parts = {round}, .min = 1, .max = 20}, Characters(U"-")});
  Limits limits;
  EXPECT_TRUE(LookAroundTree(limits).TextsOf(tree).ok());
  limits.look_around_parts = 20;
  const absl::Status status = LookAroundTree(limits).TextsOf(tree).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "1:1: limit look_around_parts is 20, 21 needed");
}

}  // namespace
}  // namespace maskd
