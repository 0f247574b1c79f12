// What the tests of a stream's session share: requests, answers as text, and a session to run them.
#ifndef MASKD_TESTS_SERVICE_STREAMS_SESSION_FIXTURE_H_
#define MASKD_TESTS_SERVICE_STREAMS_SESSION_FIXTURE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_store.h"
#include "service/sequences/stream_types.h"
#include "service/streams/stream_session.h"

namespace maskd::service {

inline constexpr TokenId kEnd = 256;  // of the embedded vocabulary

inline bool NeverCancelled() { return false; }

inline GrammarTarget Choice(const std::string& json) {
  GrammarTarget target;
  target.source = GrammarSource{"choice", json, {}};
  return target;
}

// The name of its member tells it apart from others. Distinct items are a row's own states, which
// forks share.
inline GrammarTarget NumberedSchema(int number) {
  GrammarTarget target;
  target.source = GrammarSource{
      "json_schema",
      absl::StrCat(R"({"type":"object","required":["n)", number, R"(","tags"],"properties":{"n)",
                   number, R"(":{"type":"integer"},"tags":{"type":"array","uniqueItems":true,)",
                   R"("minItems":2,"items":{"enum":["red","green","blue"]}}}})"),
      {}};
  return target;
}

inline std::vector<TokenId> Bytes(const std::string& text) {
  return std::vector<TokenId>(text.begin(), text.end());
}

inline RowToOpen Open(RowId row, GrammarTarget target, std::vector<TokenId> tokens = {}) {
  RowToOpen open;
  open.row = row;
  open.target = std::move(target);
  open.tokens = std::move(tokens);
  return open;
}

inline RowToMove Move(RowId row, std::vector<TokenId> tokens, int rollback = 0) {
  RowToMove move;
  move.row = row;
  move.rollback = rollback;
  move.tokens = std::move(tokens);
  return move;
}

// The mask of position 0; null when there is none.
inline MaskRef MaskOf(const RowResult& row) {
  return row.positions.empty() ? nullptr : row.positions.front().mask;
}

// The tokens a mask allows, as text; "<end>" for the stop token.
inline std::string Allowed(const MaskRef& mask) {
  std::string allowed;
  for (TokenId id = 0; mask != nullptr && id < mask->vocab_size(); ++id)
    if (mask->Allows(id))
      allowed += id == kEnd ? std::string("<end>") : std::string(1, static_cast<char>(id));
  return allowed;
}

inline std::string Allowed(const RowResult& row) { return Allowed(MaskOf(row)); }

// What each position allows; "full" and "invalid" where there is no mask.
inline std::vector<std::string> AllowedByPosition(const RowResult& row) {
  std::vector<std::string> allowed;
  for (const Position& position : row.positions) {
    allowed.push_back(position.state == Position::State::kFull      ? "full"
                      : position.state == Position::State::kInvalid ? "invalid"
                                                                    : Allowed(position.mask));
  }
  return allowed;
}

// A session over the embedded vocabulary.
class StreamSessionTest : public testing::Test {
 protected:
  StreamSessionTest()
      : tokenizers_(std::move(*TokenizerStore::Load({}, 1 << 20))),
        grammars_(Config(), nullptr),
        session_(NewSession(StreamLimits())) {}

  std::unique_ptr<StreamSession> NewSession(StreamLimits limits) {
    return std::make_unique<StreamSession>(&tokenizers_->all().front(), &grammars_, limits,
                                           FormTerms(), nullptr);
  }

  // A step with the next number that waits for its compiles.
  StepRequest Next() {
    StepRequest request;
    request.step = ++step_;
    request.wait_ms = 10'000;
    return request;
  }

  std::vector<RowResult> Run(const StepRequest& request) {
    const auto result = session_->Step(request, &NeverCancelled);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? (*result)->rows : std::vector<RowResult>();
  }

  // Opens a row and expects it in use.
  RowResult OpenRow(RowId row, GrammarTarget target) {
    StepRequest request = Next();
    request.opens = {Open(row, std::move(target))};
    const std::vector<RowResult> rows = Run(request);
    EXPECT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows[0].error.ok()) << rows[0].error;
    return rows[0];
  }

  RowResult Take(RowId row, std::vector<TokenId> tokens, int rollback = 0) {
    StepRequest request = Next();
    request.moves = {Move(row, std::move(tokens), rollback)};
    const std::vector<RowResult> rows = Run(request);
    EXPECT_EQ(rows.size(), 1U);
    return rows.empty() ? RowResult() : rows[0];
  }

  RowResult Draft(RowId row, std::vector<TokenId> taken, std::vector<TokenId> drafts,
                  std::vector<int> parents = {}) {
    StepRequest request = Next();
    request.moves = {Move(row, std::move(taken))};
    request.moves[0].has_drafts = true;
    request.moves[0].drafts = std::move(drafts);
    request.moves[0].draft_parents = std::move(parents);
    const std::vector<RowResult> rows = Run(request);
    EXPECT_EQ(rows.size(), 1U);
    return rows.empty() ? RowResult() : rows[0];
  }

  std::unique_ptr<const TokenizerStore> tokenizers_;
  GrammarStore grammars_;
  std::unique_ptr<StreamSession> session_;
  std::uint64_t step_ = 0;
};

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_STREAMS_SESSION_FIXTURE_H_
