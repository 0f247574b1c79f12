// Lists of conditions against machines made the way of textbooks, character by character.
#include "grammar_core/intersection/condition_search.h"

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "tests/automaton/character_terms.h"
#include "tests/oracle/character_machine.h"
#include "tests/oracle/random_characters.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

// The terms of one node of characters.
class Terms {
 public:
  Terms(IrBuilder& b, NodeId characters, std::int64_t max_nodes = Limits().emptiness_states)
      : characters_(characters), terms_(b, characters, max_nodes) {}

  [[nodiscard]] const GrammarIr& ir() const { return terms_.ir(); }
  ConditionSearch& search() { return terms_.derivative()->search(); }
  Work& work() { return terms_.work(); }
  // Nothing where the node is plainly no text.
  std::optional<Product> Read() {
    Product product;
    const CharTerm term = terms_.Lower(characters_);
    return search().Read(term, &product) ? std::optional(product) : std::nullopt;
  }

 private:
  const NodeId characters_;
  CharacterTerms terms_;
};

NodeId Length(IrBuilder& b, std::uint32_t min, std::uint32_t max) {
  return b.Repeat(b.AnyChar(), min, max);
}

// Two to five random parts, most of them under a bound of length.
NodeId RandomConditions(std::mt19937_64* random, IrBuilder* b) {
  const auto draw = [&](std::uint32_t count) {
    return static_cast<std::uint32_t>((*random)() % count);
  };
  std::vector<NodeId> parts;
  for (std::uint32_t i = 0, count = 2 + draw(4); i < count; ++i)
    parts.push_back(RandomCharacters(3, random, b));
  if (draw(4) > 0) parts.push_back(Length(*b, draw(2) * draw(3), 1 + draw(7)));
  return b->And(parts);
}

// Where a machine and a product stand after the same characters.
struct Places {
  CharacterMachine::State state;
  Product product;
};

void ExpectSame(const CharacterMachine& machine, const Places& at, Terms* terms) {
  const CharSet& next = machine.Next(at.state);
  EXPECT_EQ(terms->search().IsNullable(at.product), machine.MayEnd(at.state));
  for (const CharRange range : {CharRange{0x80, 0x7FF}, CharRange{'a', 'a'}}) {
    Completions first;
    first.ranges[first.count++] = range;
    EXPECT_EQ(terms->search().HasTextFrom(at.product, first, terms->work()),
              !next.Intersect(CharSet({range})).empty());
  }
}

TEST(ConditionSearchTest, RandomConditions) {
  constexpr std::uint32_t kCharacters[] = {'a', 'b', 'z', 0xE9, 0x1F600};
  int walked = 0;
  for (std::uint64_t seed = 0; seed < 3000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    IrBuilder b{Limits()};
    const NodeId node = RandomConditions(&random, &b);
    Terms terms(b, node);
    const auto machine = CharacterMachine::Of(terms.ir(), node);
    if (!machine.has_value()) continue;
    const std::optional<Product> product = terms.Read();
    const bool has_text = product.has_value() && terms.search().HasText(*product, terms.work());
    ASSERT_EQ(has_text, !machine->IsNothing());
    if (!has_text) continue;
    Places at = {CharacterMachine::start(), *product};
    for (int i = 0; i < 8; ++i) {
      ExpectSame(*machine, at, &terms);
      std::optional<Places> behind;
      for (const std::uint32_t character : kCharacters) {
        Product next;
        const bool goes_on = terms.search().Follow(at.product, character, &next, terms.work()) &&
                             terms.search().HasText(next, terms.work());
        ASSERT_EQ(goes_on, machine->Next(at.state).Contains(character)) << character;
        if (!goes_on || (behind.has_value() && random() % 3 == 0)) continue;
        behind = {machine->Step(at.state, character), next};
      }
      if (!behind.has_value()) break;
      at = *behind;
      ++walked;
    }
    ASSERT_TRUE(terms.work().ok());
  }
  EXPECT_GT(walked, 3000);
}

constexpr absl::string_view kLetters = "abcz";

// Texts with, or without, `first` so many letters before `last`.
struct Gap {
  char first;
  std::uint32_t letters;
  char last;
  bool negated;
};
struct GapsAndLength {
  std::vector<Gap> gaps;
  std::uint32_t min_length;
  std::uint32_t max_length;
};

GapsAndLength RandomGaps(std::mt19937_64* random) {
  const auto draw = [&](std::uint32_t count) {
    return static_cast<std::uint32_t>((*random)() % count);
  };
  GapsAndLength conditions = {};
  for (std::uint32_t i = 0, count = 3 + draw(6); i < count; ++i) {
    const char first = kLetters[draw(3)];
    const std::uint32_t letters = draw(5);
    const char last = kLetters[draw(3)];
    conditions.gaps.push_back({first, letters, last, draw(2) == 0});
  }
  conditions.max_length = 6 + draw(20);
  conditions.min_length = draw(2) * conditions.max_length / 2;
  return conditions;
}

NodeId NodeOf(const GapsAndLength& conditions, IrBuilder* b) {
  const NodeId any = Length(*b, 0, kUnbounded);
  std::vector<NodeId> parts = {Length(*b, conditions.min_length, conditions.max_length)};
  for (const Gap& gap : conditions.gaps) {
    const NodeId first = b->Text(std::string(1, gap.first));
    const NodeId last = b->Text(std::string(1, gap.last));
    const NodeId text = b->Concat({any, first, Length(*b, gap.letters, gap.letters), last, any});
    parts.push_back(gap.negated ? b->Not(text) : text);
  }
  return b->And(parts);
}

// Whether some text begins with `text` and meets all, by all texts: of two that end alike and have
// met the same so far one is tried.
bool HasTextFrom(const std::string& text, const GapsAndLength& conditions) {
  constexpr std::size_t kLongestGap = 6;
  using Place = std::pair<std::string, std::uint64_t>;  // the last letters, and which are met
  const auto behind = [&](const Place& at, char letter) {
    Place next = {at.first + letter, at.second};
    for (std::size_t i = 0; i < conditions.gaps.size(); ++i) {
      const Gap& gap = conditions.gaps[i];
      const std::size_t distance = gap.letters + 2;
      const bool is_met = letter == gap.last && next.first.size() >= distance &&
                          next.first[next.first.size() - distance] == gap.first;
      if (is_met) next.second |= std::uint64_t{1} << i;
    }
    if (next.first.size() > kLongestGap) next.first.erase(0, 1);
    return next;
  };
  std::uint64_t asked = 0;
  std::uint64_t refused = 0;
  for (std::size_t i = 0; i < conditions.gaps.size(); ++i)
    (conditions.gaps[i].negated ? refused : asked) |= std::uint64_t{1} << i;
  Place begin;
  for (const char letter : text) begin = behind(begin, letter);
  std::set<Place> places = {begin};
  for (std::size_t length = text.size(); length <= conditions.max_length; ++length) {
    std::set<Place> next;
    for (const Place& at : places) {
      if ((at.second & refused) != 0) continue;
      if (length >= conditions.min_length && at.second == asked) return true;
      for (const char letter : kLetters) next.insert(behind(at, letter));
    }
    places = std::move(next);
  }
  return false;
}

// What is refused so many letters behind another one multiplies the states of a text, and a search
// must not meet them all.
TEST(ConditionSearchTest, GapsAreFoundInFewNodes) {
  constexpr std::int64_t kMostNodes = 100;
  int live = 0;
  int dead = 0;
  for (std::uint64_t seed = 0; seed < 100 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const GapsAndLength conditions = RandomGaps(&random);
    IrBuilder b{Limits()};
    const NodeId node = NodeOf(conditions, &b);
    Terms terms(b, node, kMostNodes);
    std::optional<Product> at = terms.Read();
    std::string text;
    while (at.has_value()) {
      const bool has_text = terms.search().HasText(*at, terms.work());
      ASSERT_TRUE(terms.work().ok()) << terms.work().error() << " behind " << text;
      ASSERT_EQ(has_text, HasTextFrom(text, conditions)) << text;
      has_text ? ++live : ++dead;
      if (!has_text || text.size() == conditions.max_length) break;
      const char letter = kLetters[random() % kLetters.size()];
      Product next;
      text += letter;
      if (terms.search().Follow(*at, static_cast<unsigned char>(letter), &next, terms.work())) {
        at = next;
      } else {
        EXPECT_FALSE(HasTextFrom(text, conditions)) << text;
        at.reset();
      }
    }
  }
  EXPECT_GT(live, 300);
  EXPECT_GT(dead, 30);
}

TEST(ConditionSearchTest, LengthIsABoundAndNoCondition) {
  IrBuilder b{Limits()};
  const NodeId search =
      b.Concat({Length(b, 0, kUnbounded), b.Text("ab"), Length(b, 0, kUnbounded)});
  Terms terms(b, b.And({search, Length(b, 0, 7), Length(b, 3, 9)}));
  const std::optional<Product> product = terms.Read();
  ASSERT_TRUE(product.has_value());
  EXPECT_EQ(product->max_chars, 7);
  EXPECT_EQ(product->conditions.size(), 2);  // "ab" somewhere, and three characters
}

TEST(ConditionSearchTest, WhatIsMetLeavesAnyText) {
  IrBuilder b{Limits()};
  const NodeId search = b.Concat({Length(b, 0, kUnbounded), b.Text("a"), Length(b, 0, kUnbounded)});
  Terms terms(b, b.And({search, Length(b, 0, 2)}));
  Product met;
  ASSERT_TRUE(terms.search().Follow(*terms.Read(), 'a', &met, terms.work()));
  EXPECT_TRUE(met.conditions.empty());
  Completions first;
  first.ranges[first.count++] = {0x80, 0x7FF};
  EXPECT_TRUE(terms.search().HasTextFrom(met, first, terms.work()));
  Product full;
  ASSERT_TRUE(terms.search().Follow(met, 0xE9, &full, terms.work()));
  EXPECT_FALSE(terms.search().HasTextFrom(full, first, terms.work()));
  EXPECT_FALSE(terms.search().Follow(full, 'a', &met, terms.work()));
}

TEST(ConditionSearchTest, TooManyNodesAreALimit) {
  IrBuilder b{Limits()};
  const NodeId any = Length(b, 0, kUnbounded);
  std::vector<NodeId> parts = {Length(b, 0, 12)};
  for (const char* ends : {"ab", "cd", "ef", "gh"}) {
    parts.push_back(b.Concat({any, b.Text(std::string(1, ends[0])), Length(b, 5, 5),
                              b.Text(std::string(1, ends[1])), any}));
  }
  Terms terms(b, b.And(parts), /*max_nodes=*/3);
  EXPECT_FALSE(terms.search().HasText(*terms.Read(), terms.work()));
  EXPECT_EQ(terms.work().error().message(), "limit emptiness_states is 3, 4 needed");
}

}  // namespace
}  // namespace maskd
