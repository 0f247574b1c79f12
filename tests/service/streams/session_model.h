// What a stream's rows must be, told from nothing but the tokens that each has taken: no matcher is
// kept, nothing is rolled back, no dictionary, no forks.
#ifndef MASKD_TESTS_SERVICE_STREAMS_SESSION_MODEL_H_
#define MASKD_TESTS_SERVICE_STREAMS_SESSION_MODEL_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cache/grammar_cache.h"
#include "service/sequences/stream_types.h"

namespace maskd::service {

// One row: everything that the model knows of it.
struct ModelRow {
  cache::GrammarPtr grammar;
  std::optional<GateRequest> gate;  // with end_tokens
  std::vector<TokenId> tokens;
};

// The position behind `tokens`: its mask, or why there is none.
struct ModelPosition {
  enum class State { kMasked, kFree, kFinished, kRefused };
  State state = State::kRefused;
  MaskRef mask = nullptr;
};
ModelPosition PositionOf(const ModelRow& row, const std::vector<TokenId>& tokens);

using ModelRows = std::map<RowId, ModelRow>;

// Applies one update: a rollback past the start refuses all of it, a refused token what follows it.
// The index of the refused token; nothing when none was.
std::optional<int> ApplyMove(const RowToMove& move, ModelRow* row);

// Takes the tokens that the row is opened with, up to the first that is refused. Whether none
// was.
bool TakeOpening(ModelRow* row);

// What is wrong with the answer to a row that `move` (null: none) has led to where `row` is; empty
// when nothing is.
std::string CheckAnswer(const ModelRow& row, const RowToMove* move, bool drafts_looked_at,
                        const RowResult& answer, const std::vector<TokenMask>& read_masks);

}  // namespace maskd::service

#endif  // MASKD_TESTS_SERVICE_STREAMS_SESSION_MODEL_H_
