// Random sequences of every operation on random grammars, each answer against the slow matcher's.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/pipeline.h"
#include "grammar_core/matcher/matcher.h"
#include "tests/matcher/random_grammar.h"
#include "tests/matcher/slow_matcher.h"
#include "tests/matcher/test_vocabulary.h"
#include "tests/oracle/prefix_oracle.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

constexpr int kGrammars = 400;
constexpr int kOperations = 120;
constexpr int kOperationsACheck = 5;
constexpr int kRows = 4;
constexpr int kForcedBytes = 20;

// One row, by the engine and by the slow matcher.
struct Row {
  Matcher matcher;
  SlowMatcher slow;
};

std::vector<TokenId> AllowedBy(const TokenMask& mask) {
  std::vector<TokenId> ids;
  mask.VisitAllowed([&](TokenId id) { ids.push_back(id); });
  return ids;
}

// Rows of one grammar under random operations; every check is fatal for the grammar.
class Session {
 public:
  Session(const std::shared_ptr<const CompiledGrammar>& grammar, PrefixOracle* oracle,
          Random* random)
      : vocabulary_(grammar->tokenizer().vocabulary()), random_(*random) {
    rows_.push_back({Matcher(grammar), SlowMatcher(oracle, &vocabulary_)});
  }

  void Operate() {
    Row& row = rows_[Below(rows_.size())];
    switch (Below(10)) {
      case 0:
        return Rollback(&row);
      case 1:
        return Fork(row);
      case 2:
        return ExpectForced(&row);
      case 3:
      case 4:
        return ExpectDrafts(row);
      case 5:
        return TakeAnything(&row);
      default:
        return TakeAllowed(&row);
    }
  }

  void ExpectSame() {
    for (Row& row : rows_) {
      ASSERT_EQ(row.matcher.token_count(), row.slow.token_count());
      ASSERT_EQ(row.matcher.finished(), row.slow.finished());
      ASSERT_EQ(row.matcher.may_end(), row.slow.may_end());
      const absl::StatusOr<MaskRef> mask = row.matcher.Mask();
      ASSERT_TRUE(mask.ok()) << mask.status();
      ASSERT_EQ(*mask == nullptr, row.slow.finished());
      if (*mask == nullptr) continue;
      ASSERT_EQ(**mask, row.slow.Mask());
    }
  }

 private:
  std::size_t Below(std::size_t limit) { return random_() % limit; }

  void TakeAllowed(Row* row) {
    if (row->slow.finished()) return;
    std::vector<TokenId> ids = AllowedBy(row->slow.Mask());
    ASSERT_FALSE(ids.empty());
    // Stops are rare, or nothing would be long.
    TokenId id = ids[Below(ids.size())];
    if (vocabulary_.IsSpecial(id)) id = ids[Below(ids.size())];
    Take(row, id);
  }

  // Any token, or none: mostly refused, and then nothing may have changed.
  void TakeAnything(Row* row) { Take(row, AnyToken()); }

  static void Take(Row* row, TokenId id) {
    ASSERT_EQ(row->matcher.Accept(id).ok(), row->slow.Accept(id)) << id;
  }

  void Rollback(Row* row) {
    const int all = row->slow.token_count();
    const int count = static_cast<int>(Below(static_cast<std::size_t>(all) + 1));
    const int few = std::min(all, static_cast<int>(Below(4)));
    const int chosen = Below(4) == 0 ? count : few;
    ASSERT_TRUE(row->matcher.Rollback(chosen).ok());
    ASSERT_FALSE(row->matcher.Rollback(all - chosen + 1).ok());
    row->slow.Rollback(chosen);
  }

  void Fork(const Row& row) {
    Row fork = {row.matcher.Fork(), row.slow};
    if (rows_.size() < kRows)
      rows_.push_back(std::move(fork));
    else
      rows_[Below(rows_.size())] = std::move(fork);
  }

  static void ExpectForced(Row* row) {
    const absl::StatusOr<std::string> forced = row->matcher.ForcedBytes(kForcedBytes);
    ASSERT_TRUE(forced.ok()) << forced.status();
    ASSERT_EQ(*forced, row->slow.ForcedBytes(kForcedBytes));
  }

  // The slow matcher at each position of a draft; none where there is no position.
  using SlowPositions = std::vector<std::optional<SlowMatcher>>;

  void ExpectDrafts(const Row& row) {
    const std::size_t count = Below(7);
    const bool chain = Below(2) == 0;
    std::vector<TokenId> tokens(count);
    std::vector<int> parents(count);
    SlowPositions slow(count + 1);
    slow[0] = row.slow;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t parent = chain ? i : Below(i + 1);
      parents[i] = static_cast<int>(parent) - 1;
      tokens[i] = DraftToken(slow[parent]);
      if (!slow[parent].has_value() || tokens[i] == -1) continue;
      SlowMatcher after = *slow[parent];
      if (after.Accept(tokens[i])) slow[i + 1] = after;
    }
    if (chain) parents.clear();
    ExpectDraft(row.matcher, {tokens, parents}, slow);
  }

  TokenId DraftToken(const std::optional<SlowMatcher>& parent) {
    if (!parent.has_value() || parent->finished() || Below(6) == 0) return AnyToken();
    const std::vector<TokenId> ids = AllowedBy(parent->Mask());
    return ids[Below(ids.size())];
  }

  // From -1 to one past the last.
  TokenId AnyToken() {
    return static_cast<TokenId>(Below(static_cast<std::size_t>(vocabulary_.size()) + 2)) - 1;
  }

  static void ExpectDraft(const Matcher& matcher, const Draft& draft, const SlowPositions& slow) {
    DraftMasks masks;
    const absl::Status made = matcher.MaskDraft(draft, &masks);
    ASSERT_TRUE(made.ok()) << made;
    ASSERT_EQ(masks.positions.size(), slow.size());
    int accepted = -1;  // the row itself is no token
    for (std::size_t i = 0; i < slow.size(); ++i) {
      const DraftPosition& position = masks.positions[i];
      accepted += slow[i].has_value() ? 1 : 0;
      ASSERT_EQ(position.state == DraftPosition::State::kInvalid, !slow[i].has_value()) << i;
      ASSERT_EQ(position.state == DraftPosition::State::kActive, position.mask != nullptr) << i;
      if (!slow[i].has_value()) continue;
      ASSERT_EQ(position.state == DraftPosition::State::kFinished, slow[i]->finished()) << i;
      ASSERT_EQ(position.may_end, slow[i]->may_end()) << i;
      if (slow[i]->finished()) continue;
      ASSERT_EQ(*position.mask, slow[i]->Mask()) << i;
    }
    ASSERT_EQ(masks.accepted_tokens, accepted);
  }

  const Vocabulary& vocabulary_;
  Random& random_;
  std::vector<Row> rows_;
};

struct Seed {
  int seed;
  std::int64_t generation_bytes;
};

class RandomOperationsTest : public testing::TestWithParam<Seed> {};

TEST_P(RandomOperationsTest, AnswerAsTheSlowMatcher) {
  const auto space = TokenizerSpace::Create(TestVocabulary());
  Limits limits;
  limits.generation_bytes = GetParam().generation_bytes;
  for (int i = 0; i < kGrammars; ++i) {
    Random random(static_cast<std::uint64_t>(GetParam().seed * kGrammars + i));
    const GrammarSource source = RandomGrammar(&random);
    Budget budget = Budget::Unlimited();
    const auto read = ReduceGrammar(source, limits, budget);
    ASSERT_TRUE(read.ok()) << source.text << ": " << read.status();
    const auto grammar = CompileGrammar(source, space, limits, budget);
    ASSERT_TRUE(grammar.ok()) << source.text << ": " << grammar.status();
    PrefixOracle oracle(read->ir);
    Session session(*grammar, &oracle, &random);
    for (int at = 0; at < kOperations && !HasFailure(); ++at) {
      session.Operate();
      if (at % kOperationsACheck == 0 && !HasFailure()) session.ExpectSame();
    }
    ASSERT_FALSE(HasFailure()) << source.kind << " " << source.text;
  }
}

std::vector<Seed> Seeds() {
  std::vector<Seed> seeds;
  for (int seed = 0; seed < 12; ++seed) seeds.push_back({seed, Limits().generation_bytes});
  // Rows move to another automaton at nearly every call, and now and then.
  for (int seed = 12; seed < 15; ++seed) seeds.push_back({seed, 1});
  for (int seed = 15; seed < 18; ++seed) seeds.push_back({seed, 8 << 10});
  return seeds;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOperationsTest, testing::ValuesIn(Seeds()),
                         [](const auto& test) {
                           return absl::StrCat("Seed", test.param.seed, "GenerationOf",
                                               test.param.generation_bytes);
                         });

}  // namespace
}  // namespace maskd
