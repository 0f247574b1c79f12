// Conditions against machines made the way of textbooks.
#include "grammar_core/intersection/conditions.h"

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "gtest/gtest.h"

#include "tests/automaton/character_terms.h"
#include "tests/oracle/character_machine.h"
#include "tests/oracle/random_characters.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

// The fewest characters of a text of `machine` whose characters are ends of ranges; nothing where
// none has up to `most`.
std::optional<std::uint32_t> FewestOf(const CharacterMachine& machine, std::uint32_t most) {
  std::vector<CharacterMachine::State> layer = {CharacterMachine::start()};
  for (std::uint32_t length = 0; length <= most; ++length) {
    std::vector<CharacterMachine::State> next;
    for (const CharacterMachine::State at : layer) {
      if (machine.MayEnd(at)) return length;
      for (const CharRange& range : machine.Next(at).ranges())
        for (const std::uint32_t character : {range.lo, range.hi})
          next.push_back(machine.Step(at, character));
    }
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
    layer = std::move(next);
  }
  return std::nullopt;
}

class ConditionsTest : public testing::Test {
 protected:
  void Make(IrBuilder& b, NodeId node) {
    terms_.emplace(b, node);
    conditions_.emplace(terms_->store(), terms_->derivative());
    term_ = terms_->Lower(node);
  }
  // Nothing where the list is plainly of no text.
  std::optional<ConditionList> Read() {
    ConditionList list;
    if (!conditions_->Append(term_, &list) || !conditions_->Sort(&list)) return std::nullopt;
    return list;
  }

  std::optional<CharacterTerms> terms_;
  std::optional<Conditions> conditions_;
  CharTerm term_ = kNothingTerm;
};

NodeId Holding(IrBuilder& b, const char* text) {
  const NodeId any = b.Repeat(b.AnyChar(), 0, kUnbounded);
  return b.Concat({any, b.Text(text), any});
}

TEST_F(ConditionsTest, AnIntersectionIsSeveralAndEveryTextIsNone) {
  IrBuilder b{Limits()};
  Make(b, b.And({Holding(b, "x"), Holding(b, "y"), b.Repeat(b.AnyChar(), 0, kUnbounded)}));
  const auto list = Read();
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->size(), 2);
  EXPECT_LT((*list)[0], (*list)[1]);
}

TEST_F(ConditionsTest, AConditionAndItsComplementContradict) {
  IrBuilder b{Limits()};
  Make(b, Holding(b, "x"));
  ConditionList list;
  ASSERT_TRUE(conditions_->Append(term_, &list));
  ASSERT_TRUE(conditions_->Append(terms_->store()->Not(term_), &list));
  EXPECT_FALSE(conditions_->Sort(&list));
}

// The whole of one way of what is negated is held.
TEST_F(ConditionsTest, AWayOfWhatIsNegatedContradicts) {
  IrBuilder b{Limits()};
  const NodeId letters = b.Repeat(b.Chars(CharSet({{'a', 'f'}})), 2, kUnbounded);
  const NodeId digits = b.Repeat(b.Chars(CharSet({{'0', '9'}})), 3, kUnbounded);
  Make(b, b.Alt({letters, digits}));
  ASSERT_EQ(terms_->store()->term(term_).kind, TermKind::kAlt);
  ConditionList list;
  ASSERT_TRUE(conditions_->Append(terms_->Lower(letters), &list));
  ASSERT_TRUE(conditions_->Append(terms_->store()->Not(term_), &list));
  EXPECT_FALSE(conditions_->Sort(&list));
}

TEST_F(ConditionsTest, AComplementKnowsWhatItNegates) {
  IrBuilder b{Limits()};
  Make(b, b.Not(Holding(b, "x")));
  const auto list = Read();
  ASSERT_TRUE(list.has_value() && list->size() == 1);
  const auto negated = conditions_->negated(list->front());
  ASSERT_TRUE(negated.has_value());
  EXPECT_EQ(conditions_->negated(*negated), std::nullopt);
  EXPECT_NE(conditions_->nullable(*negated), conditions_->nullable(list->front()));
}

// Lower bounds and edges of single conditions of random nodes.
TEST_F(ConditionsTest, BoundsAndEdgesAreThoseOfTheMachine) {
  int met = 0;
  for (std::uint64_t seed = 0; seed < 1500 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    IrBuilder b{Limits()};
    const NodeId node = RandomCharacters(3, &random, &b);
    Make(b, node);
    const auto machine = CharacterMachine::Of(terms_->ir(), node);
    const auto list = Read();
    if (!machine.has_value() || machine->IsNothing() || !list.has_value()) continue;
    const auto fewest = FewestOf(*machine, 12);
    for (const ConditionId id : *list) {
      if (fewest.has_value()) EXPECT_LE(conditions_->FewestChars(id), *fewest);
      // A character that the whole takes leads on in each of its conditions.
      for (const std::uint32_t character : {0x61U, 0x62U, 0x7AU, 0xE9U, 0x1F600U}) {
        const auto* const edge = FindEdge(conditions_->EdgesOf(id, terms_->work()), character);
        if (!machine->Next(CharacterMachine::start()).Contains(character)) continue;
        ASSERT_NE(edge, nullptr) << character;
        EXPECT_NE(edge->to, nullptr) << character;
        ++met;
      }
    }
    EXPECT_TRUE(std::ranges::all_of(*list, [&](ConditionId id) {
      return conditions_->nullable(id) || !machine->MayEnd(CharacterMachine::start());
    }));
  }
  EXPECT_GT(met, 500);
}

}  // namespace
}  // namespace maskd
