// One decode step as the engine says it: which rows open, what was sampled, which rows close.
//
//   Step step;                                   // kept and reused: Clear() keeps its memory
//   step.Open(7, grammar_id).Take(3, sampled).Close(5);
//   absl::StatusOr<std::uint64_t> number = stream->Submit(step);
//
// Order    the server closes, forks, opens and then moves rows, whatever the order of these calls.
// Errors   none here: what a row may not do comes back in its own reply.
// Threads  a plain value.
#ifndef MASKD_CLIENT_CPP_STEPS_STEP_H_
#define MASKD_CLIENT_CPP_STEPS_STEP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "client/apply/mask_rows.h"
#include "maskd/v1/grammar.pb.h"
#include "maskd/v1/mask_service.pb.h"

namespace maskd::client {

// Names a row of a stream; the caller's choice.
using RowId = std::uint64_t;
using TokenId = std::int32_t;

// What a row may be opened with beside its grammar.
struct OpenOptions {
  // Tokens the row has taken already, on another stream.
  std::span<const TokenId> tokens = {};
  // Ids that end its text. Empty: the tokenizer's own.
  std::span<const TokenId> stop_ids = {};
  // Free text before the grammar begins. Null: none.
  const v1::ReasoningGate* reasoning = nullptr;
  // Tokens of the text before which it may not end.
  std::uint32_t min_tokens = 0;
  // Tokens that the row may still produce. Absent: no bound.
  std::optional<std::uint32_t> remaining_tokens = std::nullopt;
  // Temperature of its text; absent: the grammar's. Needs StreamOptions::want_temperature.
  std::optional<float> temperature = std::nullopt;
  // Numbers to add to logits of its text, each id once. Needs StreamOptions::want_bias.
  std::span<const LogitBias> biases = {};
  // Whether its replies say what its text says (RowResult::answer). For grammars of kind "chat".
  bool want_answer = false;
  // Whether it is only read: nothing is masked, any token is taken, and its replies say what its
  // text says. For grammars of kind "chat".
  bool observe = false;
};

// A message under construction: each call appends to it, and nothing is checked here.
class Step {
 public:
  // Opens a row on a grammar compiled before, or on its text.
  Step& Open(RowId row, absl::string_view grammar_id, const OpenOptions& options = {});
  Step& Open(RowId row, const v1::Grammar& grammar, const OpenOptions& options = {});
  // Opens a row as a snapshot describes it (StepResult::snapshots()).
  Step& Open(const v1::OpenRow& snapshot);

  // Gives a row the tokens sampled since the last step; called again, further ones. An empty list
  // only asks for the row's mask as it is.
  Step& Take(RowId row, std::span<const TokenId> tokens);
  // Takes back a row's last tokens, before those that Take() gives.
  Step& Rollback(RowId row, std::uint32_t token_count);

  // Says how many tokens the row may still produce, its end included: its masks lead to a complete
  // text within them. The server counts on from here.
  Step& SetRemaining(RowId row, std::uint32_t token_count);
  // Asks for the masks after these draft tokens, which the row does not take: masks[i + 1] of its
  // answer is the one after drafts[i]. `parents` empty: a chain; else parents[i] is the index of
  // the token that drafts[i] comes after, or -1.
  Step& Draft(RowId row, std::span<const TokenId> drafts, std::span<const int> parents = {});
  // Asks for what must come next.
  Step& WantForced(RowId row);
  // Asks for the row's description, by which it can be opened again.
  Step& Snapshot(RowId row);

  // Makes `child` an independent copy of `parent`.
  Step& Fork(RowId parent, RowId child);
  Step& Close(RowId row);

  // Lets the reply wait for grammars that still compile. Zero, the default, never waits.
  Step& WaitForCompile(absl::Duration at_most);

  // Empties the step for its next use.
  void Clear();

  // Whether nothing was said since Clear().
  [[nodiscard]] bool empty() const;
  // As it goes over the wire.
  [[nodiscard]] const v1::DecodeRequest& message() const { return message_; }

 private:
  friend class FailoverStream;
  friend class MaskStream;
  v1::Step* mutable_step() { return message_.mutable_step(); }
  v1::OpenRow& AddOpen(RowId row, const OpenOptions& options);
  v1::RowUpdate& Update(RowId row);

  v1::DecodeRequest message_;
  // Where in the message a row's update stands. Clear() only begins a new use: the next step has
  // much the same rows, and a table that is emptied gives its memory back.
  struct Place {
    std::uint64_t use;
    int index;
  };
  absl::flat_hash_map<RowId, Place> updates_;
  std::uint64_t use_ = 0;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_STEPS_STEP_H_
