// Masks of one step by several threads: the oracle is a stream whose own thread makes them all.
#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cache/work_pool.h"
#include "grammar_core/mask/mask_store.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_store.h"
#include "service/streams/stream_session.h"
#include "tests/service/config/nothing_ahead.h"
#include "tests/service/streams/session_fixture.h"

namespace maskd::service {
namespace {

constexpr int kGrammars = 6;
constexpr int kRowsAGrammar = 8;  // each with one fork
constexpr int kSteps = 40;

// A stream and the server that it alone uses; `mask_makers` may be null.
class Stream {
 public:
  explicit Stream(cache::WorkPool* mask_makers, const Limits& limits = {})
      : tokenizers_(std::move(*TokenizerStore::Load({}, 1 << 20))),
        grammars_(ConfigOf(limits), nullptr),
        session_(&tokenizers_->all().front(), &grammars_, StreamLimits(), FormTerms(), nullptr) {
    session_.HelpedBy(mask_makers, nullptr);
  }

  const StepResult& Run(const StepRequest& request) {
    const auto result = session_.Step(request, &NeverCancelled);
    EXPECT_TRUE(result.ok()) << result.status();
    return **result;
  }

  // Masks that were asked for and not there, whatever came of that.
  [[nodiscard]] std::int64_t masks_tried() const {
    return tokenizers_->all().front().space()->masks().stats().misses;
  }

 private:
  static Config ConfigOf(const Limits& limits) {
    Config config = NothingAhead();
    config.limits = limits;
    return config;
  }

  std::unique_ptr<const TokenizerStore> tokenizers_;
  GrammarStore grammars_;
  StreamSession session_;
};

StepRequest Opening() {
  StepRequest request;
  request.step = 1;
  request.wait_ms = 60'000;
  for (int grammar = 0; grammar < kGrammars; ++grammar) {
    for (int row = 0; row < kRowsAGrammar; ++row) {
      RowToOpen open;
      open.row = static_cast<RowId>(2 * (grammar * kRowsAGrammar + row));
      open.target = NumberedSchema(grammar);
      request.opens.push_back(std::move(open));
    }
  }
  return request;
}

// A fork of each row, beside it from here on.
StepRequest Forking() {
  StepRequest request;
  request.step = 2;
  for (RowId row = 0; row < 2 * kGrammars * kRowsAGrammar; row += 2)
    request.forks.push_back({row, row + 1});
  return request;
}

// What a row is answered, readable.
std::string Shown(const RowResult& row) {
  std::string shown = absl::StrCat("row ", row.row, " state ", static_cast<int>(row.state), " ",
                                   row.error.code(), " ", row.error.message());
  for (const Position& position : row.positions) {
    absl::StrAppend(&shown, " [", static_cast<int>(position.state), " ",
                    static_cast<int>(position.form.kind), ":");
    if (position.mask == nullptr) continue;
    for (TokenId id = 0; id < position.mask->vocab_size(); ++id)
      if (position.mask->Allows(id)) absl::StrAppend(&shown, " ", id);
    absl::StrAppend(&shown, "]");
  }
  return shown;
}

// A random token that the row's mask allows, of one of its first.
TokenId Pick(const TokenMask& mask, std::mt19937& random) {
  std::vector<TokenId> allowed;
  for (TokenId id = 0; id < mask.vocab_size(); ++id)
    if (mask.Allows(id)) allowed.push_back(id);
  return allowed[random() % allowed.size()];
}

// Each row takes a token at random, with a draft that may be refused somewhere; a row that has
// ended takes none.
StepRequest Moving(const std::map<RowId, RowResult>& rows, std::uint64_t step,
                   std::mt19937& random) {
  StepRequest request;
  request.step = step;
  for (const auto& [id, row] : rows) {
    RowToMove move;
    move.row = row.row;
    if (row.state == RowState::kActive) move.tokens = {Pick(*row.positions.front().mask, random)};
    move.has_drafts = true;
    for (const char byte : std::string(R"({"n)")) move.drafts.push_back(byte);
    move.drafts.push_back(static_cast<TokenId>(random() % 256));
    if (row.row % 3 == 0) move.draft_parents = {-1, -1, 1, 0};
    if (row.row % 5 == 0 && step == 3) move.remaining_tokens = 60;
    request.moves.push_back(std::move(move));
  }
  return request;
}

// Rows that each have a grammar of their own, of one text that no other begins with.
StepRequest OpeningOfTexts(int rows, const std::vector<TokenId>& tokens) {
  StepRequest request;
  request.step = 1;
  request.wait_ms = 60'000;
  for (int row = 0; row < rows; ++row) {
    request.opens.push_back(
        Open(static_cast<RowId>(row),
             Choice(absl::StrCat(R"(["ab)", 100 + row, R"(defghijklmnopqrstuvwxyz"])")), tokens));
  }
  return request;
}

void ExpectSame(const StepResult& found, const StepResult& expected) {
  ASSERT_EQ(found.rows.size(), expected.rows.size());
  for (std::size_t i = 0; i < expected.rows.size(); ++i)
    EXPECT_EQ(Shown(found.rows[i]), Shown(expected.rows[i]));
}

// Too little for all masks of a draft.
constexpr Limits kLittleWork = {.step_work = 10};

// Also by no helper at all: the step's own thread then makes them in the loop of many.
class FailingMasksTest : public testing::TestWithParam<int> {};

// What has failed is said and not tried again: a hostile row costs what it costs one thread. A row
// that was opened is named by its opening and by its compile, and yet made once.
TEST_P(FailingMasksTest, OfRowsThatAreOpenedAreTriedOnce) {
  cache::WorkPool mask_makers(GetParam(), 64);
  Stream alone(nullptr, kLittleWork);
  Stream helped(&mask_makers, kLittleWork);
  const StepRequest opening = OpeningOfTexts(40, Bytes("ab"));
  const StepResult& expected = alone.Run(opening);
  EXPECT_TRUE(absl::IsResourceExhausted(expected.rows.front().error))
      << Shown(expected.rows.front());
  ExpectSame(helped.Run(opening), expected);
  EXPECT_EQ(helped.masks_tried(), alone.masks_tried());
}

TEST_P(FailingMasksTest, OfDraftsAreTriedOnce) {
  cache::WorkPool mask_makers(GetParam(), 64);
  Stream alone(nullptr, kLittleWork);
  Stream helped(&mask_makers, kLittleWork);
  const StepRequest opening = OpeningOfTexts(40, {});
  ExpectSame(helped.Run(opening), alone.Run(opening));
  StepRequest drafts;
  drafts.step = 2;
  for (const RowToOpen& open : opening.opens) {
    RowToMove& move = drafts.moves.emplace_back(Move(open.row, {}));
    move.has_drafts = true;
    move.drafts = Bytes(absl::StrCat("ab", 100 + open.row, "defghijklmnopqrstuvwxyz"));
  }
  const StepResult& expected = alone.Run(drafts);
  EXPECT_TRUE(absl::IsResourceExhausted(expected.rows.front().error))
      << Shown(expected.rows.front());
  EXPECT_EQ(expected.rows.front().state, RowState::kActive) << Shown(expected.rows.front());
  ExpectSame(helped.Run(drafts), expected);
  EXPECT_EQ(helped.masks_tried(), alone.masks_tried());
}

INSTANTIATE_TEST_SUITE_P(Threads, FailingMasksTest, testing::Values(0, 3));

TEST(MasksInParallelTest, AreThoseOfOneThread) {
  cache::WorkPool mask_makers(3, 64);
  Stream alone(nullptr);
  Stream helped(&mask_makers);
  std::mt19937 random(7);
  int active = 0;
  std::map<RowId, RowResult> rows;  // the last answer of each
  StepRequest request = Opening();
  for (std::uint64_t step = 1; step <= kSteps; ++step) {
    const StepResult& expected = alone.Run(request);
    const StepResult& found = helped.Run(request);
    ASSERT_EQ(found.rows.size(), expected.rows.size()) << "step " << step;
    for (std::size_t i = 0; i < expected.rows.size(); ++i) {
      ASSERT_EQ(Shown(found.rows[i]), Shown(expected.rows[i])) << "step " << step;
      rows[expected.rows[i].row] = expected.rows[i];
      active += expected.rows[i].state == RowState::kActive ? 1 : 0;
    }
    request = step == 1 ? Forking() : Moving(rows, step + 1, random);
  }
  EXPECT_GT(active, kSteps * kGrammars * kRowsAGrammar / 2)
      << "rows ended too soon to show anything";
}

}  // namespace
}  // namespace maskd::service
