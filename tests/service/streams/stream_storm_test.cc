// Streams at once, with all that other threads do beside them: compiles that end within a step,
// masks by helpers, masks ahead, rows that rest, steps that are given up, streams that go. It is
// for the sanitizers to see.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include <gtest/gtest.h>

#include "cache/work_pool.h"
#include "grammar_core/matcher/matcher.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_store.h"
#include "service/streams/stream_session.h"
#include "tests/service/streams/session_fixture.h"

namespace maskd::service {
namespace {

constexpr int kThreads = 4;
constexpr int kStreamsAThread = 3;
constexpr int kSteps = 30;
constexpr RowId kRows = 16;  // of a stream at first, and how many may be opened again

Config FullAtOnce() {
  Config config;
  config.limits.generation_bytes = 20'000;  // rows move to other automatons again and again
  return config;
}

// What one stream's client knows, and does next.
class Client {
 public:
  Client(std::uint32_t seed, bool may_vanish) : random_(seed), may_vanish_(may_vanish) {}

  StepRequest Next() {
    StepRequest request;
    request.step = ++step_;
    request.wait_ms = Draw(2) == 0 ? 0 : 5;  // a compile may end within the step, and after it
    if (step_ % 8 == 1) OpenRows(&request);
    for (const auto& [row, mask] : rows_) Move(row, mask.get(), &request);
    for (const RowToMove& move : request.moves) {
      if (!move.tokens.empty() && Draw(16) == 0) request.forks.push_back({move.row, next_row_++});
      if (Draw(24) == 0) request.closes.push_back(move.row);
    }
    for (const RowId row : request.closes)
      std::erase_if(request.moves, [&](const RowToMove& move) { return move.row == row; });
    for (const RowId row : request.closes)
      std::erase_if(request.forks, [&](const RowToFork& fork) { return fork.parent == row; });
    for (const RowId row : request.closes) rows_.erase(row);
    for (const RowToFork& fork : request.forks) rows_[fork.child] = nullptr;
    return request;
  }

  void Hear(const StepResult& result) {
    for (const RowResult& row : result.rows) {
      EXPECT_FALSE(row.refused_token.has_value())
          << "row " << row.row << ": a mask had allowed it: " << row.error;
      if (row.state == RowState::kFailed) {
        ADD_FAILURE() << "row " << row.row << ": " << row.error;
      } else if (row.state == RowState::kActive) {
        rows_[row.row] = MaskOf(row);
        EXPECT_FALSE(MaskOf(row)->empty());
        ++active_;
      } else {
        rows_[row.row] = nullptr;
      }
    }
  }

  // Whether the client is gone by now, which a step asks between two rows.
  bool HasVanished() { return may_vanish_ && step_ > kSteps / 2 && Draw(100) == 0; }
  [[nodiscard]] int active() const { return active_; }

 private:
  std::uint32_t Draw(std::uint32_t below) { return static_cast<std::uint32_t>(random_()) % below; }

  void OpenRows(StepRequest* request) {
    for (RowId i = 0; i < kRows; ++i)
      request->opens.push_back(Open(next_row_++, NumberedSchema(Draw(12))));
  }

  void Move(RowId row, const TokenMask* mask, StepRequest* request) {
    RowToMove& move = request->moves.emplace_back(service::Move(row, {}));
    if (mask == nullptr) return;  // it compiles, has ended, or is a fork that was not answered
    std::vector<TokenId> allowed;
    for (TokenId id = 0; id < mask->vocab_size(); ++id)
      if (mask->Allows(id)) allowed.push_back(id);
    move.tokens = {allowed[Draw(static_cast<std::uint32_t>(allowed.size()))]};
    move.has_drafts = Draw(2) == 0;
    if (move.has_drafts) move.drafts = Bytes(R"("red",)");
    if (Draw(10) == 0) move.remaining_tokens = 60 + static_cast<int>(Draw(40));
  }

  std::mt19937 random_;
  const bool may_vanish_;
  std::uint64_t step_ = 0;
  RowId next_row_ = 1;
  int active_ = 0;
  absl::btree_map<RowId, MaskRef> rows_;  // with what may come next, where that is known
};

class StreamStormTest : public testing::Test {
 protected:
  void RunStream(std::uint32_t seed) {
    StreamSession session(&tokenizers_->all().front(), &grammars_, StreamLimits(), FormTerms(),
                          nullptr);
    session.HelpedBy(&mask_makers_, nullptr);
    Client client(seed, seed % 2 == 0);
    for (int step = 0; step < kSteps; ++step) {
      const StepRequest request = client.Next();
      const auto result = session.Step(request, [&] { return client.HasVanished(); });
      if (!result.ok()) {
        EXPECT_TRUE(absl::IsCancelled(result.status())) << result.status();
        break;
      }
      client.Hear(**result);
      session.LookAhead();
    }
    EXPECT_GT(client.active(), 0);
  }

  std::unique_ptr<const TokenizerStore> tokenizers_ = *TokenizerStore::Load({}, 1 << 20);
  GrammarStore grammars_{FullAtOnce(), nullptr};
  cache::WorkPool mask_makers_{3, 64};
};

TEST_F(StreamStormTest, LeavesNothingBehind) {
  const std::int64_t before = Matcher::LiveBytes();
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      for (std::uint32_t stream = 0; stream < kStreamsAThread; ++stream)
        RunStream(thread * kStreamsAThread + stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Matcher::LiveBytes(), before);
}

}  // namespace
}  // namespace maskd::service
