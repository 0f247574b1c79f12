// One row of a stream, from its opening to its close.
//
// What     it compiles, is in use, or has failed; a failed one holds its id until closed.
// Owed     its next answer says `error` and `refused_token`, once, and what `asked` asks for.
// Threads  one thread at a time.
#ifndef MASKD_SERVICE_SEQUENCES_STREAM_ROW_H_
#define MASKD_SERVICE_SEQUENCES_STREAM_ROW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/status.h"

#include "cache/grammar_cache.h"
#include "cache/live_grammars.h"
#include "service/base/rare.h"
#include "service/callers/tenant.h"
#include "service/grammars/grammar_store.h"
#include "service/sequences/reasoning_gate.h"
#include "service/sequences/row_answer.h"
#include "service/sequences/sequence.h"
#include "service/sequences/stream_types.h"

namespace maskd::service {

// What a row is opened with, kept until its grammar is there.
struct CompilingRow {
  GrammarStore::Request request;
  std::vector<TokenId> tokens;
  std::shared_ptr<const ReasoningGate> gate;
  std::optional<int> remaining_tokens;
};

// A row that has failed: it is kept until it is closed, to say so.
struct FailedRow {};

// A row of a stream, whatever has become of it. What each step reads of it stands together: a
// stream has more rows than fit into a core's nearest cache, and a step goes through all of them.
struct StreamRow {
  std::variant<CompilingRow, Sequence, FailedRow> what;
  // Of this step: whose drafts and forced tokens its answer shall have.
  const RowToMove* asked = nullptr;
  // Said in the row's next answer, then cleared.
  absl::Status error = absl::OkStatus();
  Rare<RefusedToken> refused_token = {};
  std::unique_ptr<const FailedMasks> failed_masks = nullptr;  // of this step's answer
  Rare<RowAnswer> answer = {};                                // where it is wanted
  std::uint64_t moved_step = 0;                               // the last step that moved it
  std::uint64_t answered_step = 0;                            // the last step that answered it
  RowState state = RowState::kCompiling;                      // as it was last answered
  bool named = false;                                         // its grammar's id has been said
  // What its text's positions carry, of `options` and of its grammar.
  std::optional<float> temperature = std::nullopt;
  std::span<const LogitBias> biases = {};

  std::shared_ptr<const RowOptions> options = nullptr;
  cache::GrammarPtr grammar = nullptr;  // the sequence's
  cache::RowOfGrammar row_of = {};      // of that
  std::uint64_t snapshot_step = 0;      // the last step that asked for its snapshot
  Tenant::Lease lease = {};             // of the row
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_STREAM_ROW_H_
