// Samples against machines made the way of textbooks: which texts meet which conditions.
#include "grammar_core/intersection/condition_samples.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "tests/automaton/character_terms.h"
#include "tests/oracle/character_machine.h"
#include "tests/oracle/random_characters.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;
using Texts = std::set<std::u32string>;

constexpr char32_t kCharacters[] = {'a', 'b', 'z', 0xE9, 0x1F600};

char32_t RandomCharacter(Random* random) {
  return kCharacters[(*random)() % std::size(kCharacters)];
}

using MakeNode = NodeId (*)(Random* random, IrBuilder* b);

NodeId AnyNode(Random* random, IrBuilder* b) { return RandomCharacters(3, random, b); }

// The end of a text: a character, one to three of any kind, and another.
NodeId EndNode(Random* random, IrBuilder* b) {
  const auto only = [&](char32_t c) { return b->Chars(CharSet({{c, c}})); };
  const std::uint32_t gap = 1 + (*random)() % 3;
  return b->Concat({b->Repeat(b->AnyChar(), 0, kUnbounded), only(RandomCharacter(random)),
                    b->Repeat(b->AnyChar(), gap, gap), only(RandomCharacter(random))});
}

// Random nodes that are one condition each, and their machines.
class Parts {
 public:
  Parts(MakeNode make, int count, Random* random) {
    IrBuilder b{Limits()};
    std::vector<NodeId> nodes;
    for (int i = 0; i < count; ++i) nodes.push_back(make(random, &b));
    terms_ = std::make_unique<CharacterTerms>(b, b.Concat(nodes));
    conditions_ = std::make_unique<Conditions>(terms_->store(), terms_->derivative());
    samples_ = std::make_unique<ConditionSamples>(conditions_.get());
    for (const NodeId node : nodes) Take(node);
  }

  [[nodiscard]] const ConditionList& list() const { return list_; }
  ConditionSamples& samples() { return *samples_; }
  Work& work() { return terms_->work(); }

  [[nodiscard]] bool Meets(ConditionId id, std::u32string_view text) const {
    const auto at = std::ranges::find(list_, id) - list_.begin();
    const CharacterMachine& machine = machines_[at];
    if (machine.IsNothing()) return false;
    CharacterMachine::State state = CharacterMachine::start();
    for (const char32_t character : text) {
      if (!machine.Next(state).Contains(character)) return false;
      state = machine.Step(state, character);
    }
    return machine.MayEnd(state);
  }

  [[nodiscard]] bool MeetsAll(const ConditionList& part, std::u32string_view text) const {
    return std::ranges::all_of(part, [&](ConditionId id) { return Meets(id, text); });
  }

 private:
  // In the order of their ids, as a list is.
  void Take(NodeId node) {
    ConditionList one;
    const CharTerm term = terms_->Lower(node);
    auto machine = CharacterMachine::Of(terms_->ir(), node);
    if (!machine.has_value() || !conditions_->Append(term, &one) || one.size() != 1) return;
    const auto at = std::ranges::lower_bound(list_, one[0]);
    if (at != list_.end() && *at == one[0]) return;
    machines_.insert(machines_.begin() + (at - list_.begin()), *std::move(machine));
    list_.insert(at, one[0]);
  }

  std::unique_ptr<CharacterTerms> terms_;
  std::unique_ptr<Conditions> conditions_;
  std::unique_ptr<ConditionSamples> samples_;
  ConditionList list_;
  std::vector<CharacterMachine> machines_;
};

std::u32string RandomText(std::size_t max_chars, Random* random) {
  std::u32string text((*random)() % (max_chars + 1), U'a');
  for (char32_t& character : text) character = RandomCharacter(random);
  return text;
}

void AddEndsOf(std::u32string_view text, Texts* texts) {
  for (std::size_t i = 0; i <= text.size(); ++i) texts->emplace(text.substr(i));
}

bool HasText(const Parts& parts, const Texts& texts, const ConditionList& part,
             std::size_t max_chars) {
  return std::ranges::any_of(texts, [&](const std::u32string& text) {
    return text.size() <= max_chars && parts.MeetsAll(part, text);
  });
}

// Which pairs are visited is told by the texts: each that none of them meets, once.
void ExpectPairs(Parts* parts, const Texts& texts, std::uint32_t max_chars) {
  std::set<ConditionList> visited;
  EXPECT_TRUE(parts->samples().VisitUnmetPairs(parts->list(), max_chars, parts->work(),
                                               [&](const ConditionList& part) {
                                                 EXPECT_TRUE(visited.insert(part).second);
                                                 return true;
                                               }));
  const ConditionList& list = parts->list();
  std::set<ConditionList> unmet;
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::size_t j = i + 1; j < list.size(); ++j) {
      const ConditionList two = {list[i], list[j]};
      if (!HasText(*parts, texts, two, max_chars)) unmet.insert(two);
    }
  }
  EXPECT_EQ(visited, unmet);
}

// No text meets a part that is visited, and none is visited where a text meets the list.
void ExpectRefused(Parts* parts, const Texts& texts, std::uint32_t max_chars) {
  const ConditionList& list = parts->list();
  int visits = 0;
  EXPECT_TRUE(
      parts->samples().VisitRefused(list, max_chars, parts->work(), [&](const ConditionList& part) {
        ++visits;
        EXPECT_LT(part.size(), list.size());
        EXPECT_TRUE(std::ranges::includes(list, part));
        EXPECT_FALSE(HasText(*parts, texts, part, max_chars));
        return true;
      }));
  EXPECT_LE(visits, 1);  // as no text is added that meets it
  if (HasText(*parts, texts, list, max_chars)) EXPECT_EQ(visits, 0);
}

TEST(ConditionSamplesTest, LooksAreWorkHoweverFewACallTakes) {
  Random random(1);
  Parts parts(&AnyNode, 3, &random);
  Budget budget({.work = 100'000});
  Work work(budget);
  const bool have = parts.samples().HaveText(parts.list(), 9, work);
  const std::int64_t before = budget.spent();
  for (int i = 0; i < 1'600; ++i) ASSERT_EQ(parts.samples().HaveText(parts.list(), 9, work), have);
  EXPECT_GE(budget.spent() - before, 100);
}

TEST(ConditionSamplesTest, SayWhatTheTextsMeet) {
  int asked = 0;
  int met = 0;
  for (std::uint64_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Parts parts(AnyNode, 5, &random);
    Texts texts = {U""};
    for (int i = 0; i < 12; ++i) {
      const std::u32string text = RandomText(6, &random);
      parts.samples().Add(text);
      AddEndsOf(text, &texts);
      for (const std::uint32_t max_chars : {0U, 2U, 5U, kNoEnd}) {
        const bool has_text = HasText(parts, texts, parts.list(), max_chars);
        ASSERT_EQ(parts.samples().HaveText(parts.list(), max_chars, parts.work()), has_text);
        ++asked;
        met += has_text ? 1 : 0;
      }
      ExpectPairs(&parts, texts, 4);
      ExpectRefused(&parts, texts, 4);
    }
    ASSERT_TRUE(parts.work().ok());
  }
  EXPECT_GT(met, asked / 10);
  EXPECT_LT(met, asked - asked / 10);
}

TEST(ConditionSamplesTest, AVisitMayEndItOrAddWhatTheNextOneMeets) {
  Random random(1);
  int ended = 0;
  int fewer = 0;
  for (int i = 0; i < 100; ++i) {
    Parts parts(AnyNode, 6, &random);
    int visits = 0;
    const auto refuse = [&](const ConditionList&) { return ++visits < 2; };
    const bool goes_on = parts.samples().VisitUnmetPairs(parts.list(), 5, parts.work(), refuse);
    EXPECT_EQ(goes_on, visits < 2);
    ended += goes_on ? 0 : 1;

    std::vector<ConditionList> before;
    const auto keep = [&](const ConditionList& part) {
      before.push_back(part);
      return true;
    };
    parts.samples().VisitUnmetPairs(parts.list(), 5, parts.work(), keep);
    Texts texts = {U""};
    std::size_t after = 0;
    const auto add = [&](const ConditionList& part) {
      EXPECT_FALSE(HasText(parts, texts, part, 5));
      const std::u32string text = RandomText(5, &random);
      parts.samples().Add(text);
      AddEndsOf(text, &texts);
      ++after;
      return true;
    };
    parts.samples().VisitUnmetPairs(parts.list(), 5, parts.work(), add);
    EXPECT_LE(after, before.size());
    fewer += after < before.size() ? 1 : 0;
  }
  EXPECT_GT(ended, 10);
  EXPECT_GT(fewer, 10);
}

// All but the newest text, that is. What is left is asked of texts short enough to try them all.
TEST(ConditionSamplesTest, AreDroppedWhereThereAreTooMany) {
  constexpr std::uint32_t kShort = 4;
  int dropped = 0;
  int met = 0;
  Random random(7);
  Parts parts(EndNode, 12, &random);
  Texts texts = {U""};
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t last_bytes = parts.samples().held_bytes();
    const std::u32string text = RandomText(60, &random);
    parts.samples().Add(text);
    if (parts.samples().held_bytes() < last_bytes) {
      texts.clear();
      ++dropped;
    }
    AddEndsOf(text, &texts);
    for (const ConditionId id : parts.list()) {
      const bool has_text = HasText(parts, texts, {id}, kShort);
      ASSERT_EQ(parts.samples().HaveText({id}, kShort, parts.work()), has_text);
      met += has_text ? 1 : 0;
    }
    EXPECT_LT(parts.samples().held_bytes(), 256 << 10);
  }
  const auto asked = static_cast<int>(1000 * parts.list().size());
  EXPECT_GT(dropped, 5);
  EXPECT_GT(met, asked / 10);
  EXPECT_LT(met, asked - asked / 10);
}

}  // namespace
}  // namespace maskd
