// Masks of texts of so many characters, against a search of all bytes without any lower bounds, in
// a grammar that counts bytes.
#include "grammar_core/matcher/character_masks.h"

#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/automaton/automaton.h"
#include "grammar_core/base/error.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/matcher/token_stepper.h"
#include "tests/base/night.h"
#include "tests/matcher/random_grammar.h"
#include "tests/matcher/test_vocabulary.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;
using GrammarRef = std::shared_ptr<const CompiledGrammar>;

absl::StatusOr<GrammarRef> Compile(GrammarSource source, std::optional<int> most,
                                   const std::shared_ptr<TokenizerSpace>& space) {
  Budget budget{Budget::Bounds()};
  source.options.max_characters = most;
  Limits limits;
  limits.generation_bytes = std::int64_t{1} << 40;  // the reference knows states by their numbers
  return CompileGrammar(source, space, limits, budget);
}

// The fewest characters that complete a text, each state's by a search of its own.
class Reference {
 public:
  explicit Reference(const Matcher& free)
      : row_(free.stepper().states()), vocabulary_(free.stepper().vocabulary()) {}

  int Least(RowStateId start) {
    const auto [known, is_new] = least_.try_emplace(start, -1);
    if (is_new) known->second = Search(start);
    return known->second;
  }

 private:
  int Search(RowStateId start) {
    Budget budget = Budget::Unlimited();
    Work work(budget);
    absl::flat_hash_map<RowStateId, int> best = {{start, 0}};
    std::set<std::pair<int, RowStateId>> open = {{0, start}};
    while (!open.empty()) {
      const auto [characters, state] = *open.begin();
      open.erase(open.begin());
      if (characters > best[state]) continue;
      if (row_.MayEnd(state)) return characters;
      const auto arrive = [&, behind = characters](RowStateId next, int more) {
        if (next == kNothingTerm) return;
        const auto [at, is_new] = best.try_emplace(next, behind + more);
        if (!is_new && at->second <= behind + more) return;
        at->second = behind + more;
        open.emplace(at->second, next);
      };
      const ByteClasses& classes = row_.classes();
      for (int c = 0; c < classes.count(); ++c) {
        const unsigned char byte = classes.Sample(c);
        const bool begins = byte < 0x80 || byte > 0xBF;
        arrive(row_.Take(state, byte, work), begins ? 1 : 0);
      }
      for (TokenId id = 0; row_.names_tokens() && id < kVocabSize; ++id) {
        std::size_t taken = 0;
        arrive(row_.StepToken(state, id, &taken, work),
               static_cast<int>(CharactersOf(vocabulary_, id)));
      }
    }
    ADD_FAILURE() << "a state without an end";
    return 0;
  }

  const RowStates& row_;
  const Vocabulary& vocabulary_;
  absl::flat_hash_map<RowStateId, int> least_;
};

// A row under a bound and the same without one.
class Rows {
 public:
  Rows(const GrammarRef& bound, const GrammarRef& free, int left)
      : bound_(bound), free_(free), reference_(free_), left_(left) {}

  [[nodiscard]] bool finished() const { return free_.finished(); }
  [[nodiscard]] int left() const { return left_; }

  // Compares the masks and takes one of their tokens.
  void Step(CharacterMasks* masks, Random* random) {
    const MaskRef whole = *bound_.Mask();
    const auto narrowed = masks->Narrow(bound_.stepper(), bound_.place(), whole, left_);
    ASSERT_TRUE(narrowed.ok()) << narrowed.status();
    std::vector<TokenId> allowed;
    for (TokenId id = 0; id < kVocabSize; ++id) {
      const bool fits = whole->Allows(id) && Fits(id);
      ASSERT_EQ((*narrowed)->Allows(id), fits) << id << " with " << left_ << " left";
      ASSERT_EQ(*masks->Allows(bound_.stepper(), bound_.place(), id, left_),
                fits || !whole->Allows(id));
      if (fits) allowed.push_back(id);
    }
    ASSERT_FALSE(allowed.empty());
    const TokenId id = allowed[(*random)() % allowed.size()];
    left_ -= static_cast<int>(CharactersOf(bound_.grammar().tokenizer().vocabulary(), id));
    ASSERT_TRUE(bound_.Accept(id).ok());
    ASSERT_TRUE(free_.Accept(id).ok());
  }

 private:
  bool Fits(TokenId id) {
    Budget budget = Budget::Unlimited();
    Work work(budget);
    const TokenStepper::Step step = free_.stepper().Take(free_.place(), id, work);
    if (step.outcome == TokenStepper::Outcome::kEnded) return true;
    const auto characters = CharactersOf(free_.grammar().tokenizer().vocabulary(), id);
    return characters + reference_.Least(step.next) <= left_;
  }

  Matcher bound_;
  Matcher free_;
  Reference reference_;
  int left_;
};

// Rows under several bounds, to their ends; how many there were.
int Follow(const GrammarSource& source, const std::vector<int>& spares,
           const std::shared_ptr<TokenizerSpace>& space, Random* random) {
  const auto free = Compile(source, std::nullopt, space);
  if (!free.ok()) return 0;
  const Matcher start(*free);
  const int least = Reference(start).Least(start.place());
  if (least > 0) {
    EXPECT_EQ(ErrorPlace(Compile(source, least == 1 ? 1 : least - 1, space).status()),
              least == 1 ? "" : "options.max_characters");
  }
  int rows = 0;
  for (const int spare : spares) {
    if (least + spare == 0) continue;
    const auto bound = Compile(source, least + spare, space);
    EXPECT_TRUE(bound.ok()) << bound.status();
    if (!bound.ok()) return rows;
    CharacterMasks masks;
    Rows both(*bound, *free, least + spare);
    while (!both.finished() && !testing::Test::HasFatalFailure()) both.Step(&masks, random);
    EXPECT_GE(both.left(), 0);
    ++rows;
  }
  return rows;
}

TEST(CharacterMasks, AreExactInRandomGrammars) {
  Random random(11);  // NOLINT(cert-msc51-cpp): the same grammars in every run
  const auto space = TokenizerSpace::Create(TestVocabulary());
  int rows = 0;
  for (int i = 0; i < ByNight(24, 60) && !testing::Test::HasFailure(); ++i) {
    const GrammarSource source = RandomGrammar(&random);
    SCOPED_TRACE(source.kind + " " + source.text);
    rows += Follow(source, {0, 1, 2, 5, 20}, space, &random);
  }
  EXPECT_GT(rows, ByNight(80, 200));
}

TEST(CharacterMasks, AreExactWhereOneStepIsLongAndInRecursion) {
  Random random(12);  // NOLINT(cert-msc51-cpp)
  const auto space = TokenizerSpace::Create(TestVocabulary());
  const GrammarSource sources[] = {
      {"regex", "a*(b[a-c]{40}|c)", {}},
      {"regex", "(é|ab)*(\U0001F600{3}|abcé{9})", {}},
      {"regex", "é{200}[ab]*", {}},
      {"gbnf", R"g(root ::= "(" root ")" | "é" | "ab" root "bcbc" | [a-c] "true")g", {}},
      {"ebnf", R"g(root ::= ("a" Token(275) | "bb") root | "abc" | Token(275) "ab" root)g", {}},
      {"ebnf", R"g(root ::= Token(97, 98, 275) "c" root | ExcludeToken(276) "ab")g", {}},
      {"json_schema", R"({"type":"array","items":{"enum":["é","aa","b"]},"uniqueItems":true})", {}},
      {"json_schema", R"({"type":"object","required":["é","b"]})", {}},
      {"json_schema", R"({"type":"string","minLength":3,"maxLength":300})", {}},
      {"json", "", {}}};
  for (const GrammarSource& source : sources) {
    SCOPED_TRACE(source.kind + " " + source.text);
    EXPECT_GT(Follow(source, {0, 1, 2, 4}, space, &random), 0);
  }
}

// What completes a text depends on the levels around each place.
TEST(CharacterMasks, AreExactWhereLinesAreIndented) {
  Random random(13);  // NOLINT(cert-msc51-cpp)
  const auto space = TokenizerSpace::Create(TestVocabulary());
  for (const GrammarSource& source : IndentedGrammars()) {
    SCOPED_TRACE(absl::StrCat(source.kind, " ", source.text, " ", *source.options.indent));
    EXPECT_EQ(Follow(source, {0, 1, 2, 5, 20, 50}, space, &random), 6);
  }
}

TEST(CharacterMasks, FarFromTheBoundTheyAreTheGrammarsOwn) {
  const auto space = TokenizerSpace::Create(TestVocabulary());
  const Matcher matcher(*Compile({"regex", "(ab)*c", {}}, 1000, space));
  const MaskRef mask = *matcher.Mask();
  CharacterMasks masks;
  const auto narrow = [&](int left) {
    return *masks.Narrow(matcher.stepper(), matcher.place(), mask, left);
  };
  EXPECT_EQ(narrow(1000), mask);
  EXPECT_EQ(narrow(3), mask);
  EXPECT_EQ(narrow(2)->CountAllowed(), 1);
  EXPECT_EQ(narrow(3), mask) << "what was learnt near the bound";
}

}  // namespace
}  // namespace maskd
