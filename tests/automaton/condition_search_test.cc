// Lists of conditions against machines made the way of textbooks, character by character.
#include "grammar_core/intersection/condition_search.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "tests/automaton/character_terms.h"
#include "tests/oracle/character_machine.h"
#include "tests/oracle/random_characters.h"

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
