// What a Decode stream asks and answers, as plain values: step_reader makes them of the wire's
// bytes, reply_writer makes those of them.
#ifndef MASKD_SERVICE_SEQUENCES_STREAM_TYPES_H_
#define MASKD_SERVICE_SEQUENCES_STREAM_TYPES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"

#include "grammar_core/frontend/chat/answer_reader.h"
#include "grammar_core/mask/token_mask.h"
#include "grammar_core/matcher/forced_tokens.h"
#include "service/base/rare.h"
#include "service/grammars/grammar_store.h"
#include "service/sequences/mask_forms.h"
#include "service/sequences/reasoning_gate.h"

namespace maskd::service {

using RowId = std::uint64_t;

// In one step each open row may be closed, its id opened, the row moved and described; and some
// that are not open may be named in error.
constexpr std::int64_t NamedRows(std::int64_t max_rows) { return 4 * max_rows + 1024; }

// Bounds of one stream.
struct StreamLimits {
  int max_rows = 4096;
  std::int64_t max_named_rows = NamedRows(4096);  // in one step, in all of its lists
  int max_row_tokens = 1 << 20;
  std::int64_t max_step_bytes = 16 << 20;
  std::int64_t max_reply_bytes = 64 << 20;
  int max_draft_tokens = 1024;
  std::int64_t max_wait_ms = 10'000;
  std::int64_t max_dictionary_bytes = 8 << 20;  // of masks, kept here for the client's dictionary
};

// A client's first message.
struct Hello {
  std::string tokenizer;
  std::string tokenizer_hash;  // empty: any
  int logits_width = 0;
  FormTerms forms;  // what the client offers
  bool shared_memory = false;
};

// A number to add to one logit.
struct LogitBias {
  TokenId id = 0;
  float bias = 0;
};

// What a row is opened with beside its grammar and tokens.
struct RowOptions {
  std::vector<TokenId> stop_ids;  // empty: the vocabulary's
  std::optional<GateRequest> gate;
  int min_tokens = 0;
  std::optional<float> temperature;  // absent: the grammar's
  std::vector<LogitBias> biases;     // ids ascending, each once
  bool want_answer = false;
  bool observe = false;  // which wants the answer, too
};

// A row that a step opens.
struct RowToOpen {
  RowId row = 0;
  absl::Status refusal;  // not OK: the wire's message for this row asks for what cannot be
  GrammarTarget target;
  std::vector<TokenId> tokens;
  RowOptions options;
  std::optional<int> remaining_tokens;
};

// What a step does to a row that is open.
struct RowToMove {
  RowId row = 0;
  absl::Status refusal;  // as above
  int rollback = 0;
  std::vector<TokenId> tokens;
  std::vector<TokenId> drafts;
  std::vector<int> draft_parents;  // empty: a chain
  bool has_drafts = false;
  bool want_forced = false;
  std::optional<int> remaining_tokens;
};

// A row that a step copies.
struct RowToFork {
  RowId parent = 0;
  RowId child = 0;
};

// A step, as it was read.
struct StepRequest {
  std::uint64_t step = 0;
  std::vector<RowToOpen> opens;
  std::vector<RowToMove> moves;
  std::vector<RowToFork> forks;
  std::vector<RowId> snapshots;
  std::vector<RowId> closes;
  std::int64_t wait_ms = 0;
};

// Where a row stands after a step.
enum class RowState { kCompiling, kFree, kActive, kFinished, kFailed, kRefused };

// The token of a row that was refused.
struct RefusedToken {
  int index = 0;
  TokenId id = 0;
  std::string text;
};

// The mask of one position, and how it goes over the wire.
struct Position {
  // What may come at the position.
  enum class State { kMasked, kFull, kInvalid };
  State state = State::kFull;
  MaskRef mask = nullptr;  // of a masked position
  MaskForm form = {};
  // For a mask of the text. Those biases count whose ids the mask allows.
  std::optional<float> temperature = std::nullopt;
  std::span<const LogitBias> biases = {};  // the row's
};

// What an answer has more than what was said of it.
struct AnswerDelta {
  // What has come of one call of a tool.
  struct Call {
    int index = 0;
    std::string id;
    std::string name;  // of a new call
    std::string arguments;
  };
  std::optional<MessageSize> cut;  // what is left of that
  std::string reasoning;
  std::string content;
  std::vector<Call> calls;

  // Whether there is nothing to say.
  [[nodiscard]] bool empty() const {
    return !cut.has_value() && reasoning.empty() && content.empty() && calls.empty();
  }
};

// The answer of one row.
struct RowResult {
  RowId row = 0;
  RowState state = RowState::kRefused;
  absl::InlinedVector<Position, 1> positions;  // empty when compiling, failed or refused
  absl::Status error;                          // OK: none
  int token_count = 0;
  bool may_end = false;
  std::optional<int> accepted_drafts;
  Rare<RefusedToken> refused_token;
  Rare<ForcedTokens> forced;
  Rare<AnswerDelta> answer;  // not empty
  std::string grammar_id;    // set once
};

// What a row needs to be opened again, here or elsewhere.
struct RowSnapshot {
  RowId row = 0;
  std::string grammar_id;
  std::vector<TokenId> tokens;
  std::shared_ptr<const RowOptions> options;
  std::optional<int> remaining_tokens;
};

// The answer to a step.
struct StepResult {
  std::uint64_t step = 0;
  std::vector<RowResult> rows;
  std::vector<RowSnapshot> snapshots;
  double waited_seconds = 0;  // of the step's time, for compiles
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_STREAM_TYPES_H_
