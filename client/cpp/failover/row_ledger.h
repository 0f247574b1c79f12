// What a client must know of its rows to open them again on another server: how each was opened,
// and the tokens that it has taken since.
//
// Truth    the replies: a step counts once its reply is here, and each row has as many tokens as
//          its reply says. Steps without a reply are the caller's to send again.
// Lies     a reply that no server gives that keeps to the protocol is booked not at all.
// Grammars a row's grammar is the one that its first reply named: a server whose ids have the same
//          format must name it too. One with another format is told the text and believed.
// Units    a row's tokens include those after its end.
// Threads  one thread at a time.
#ifndef MASKD_CLIENT_CPP_FAILOVER_ROW_LEDGER_H_
#define MASKD_CLIENT_CPP_FAILOVER_ROW_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "client/cpp/steps/step.h"
#include "client/cpp/steps/step_result.h"
#include "maskd/v1/compile_service.pb.h"
#include "maskd/v1/mask_service.pb.h"

namespace maskd::client {

// One for each FailoverStream. Memory: the tokens of all open rows, and the grammars it was told.
class RowLedger {
 public:
  // Keeps the text of a grammar: a server that does not have its id is told the text.
  void Remember(const std::string& grammar_id, const v1::Grammar& grammar);

  // Says of which format the grammar ids of the replies that follow are.
  void SetFormat(const std::string& format) { format_ = format; }

  // Makes a step fit for a server that may know nothing: opens by id get the text where it is kept.
  void WriteTexts(v1::Step* step) const;

  // Gives up the rows that `step` opens, moves, forks into or describes, and those that it was to
  // open for a server before, and says which; of the rest it books the closes. Rows that are given
  // up are closed.
  std::vector<RowId> GiveUp(const v1::Step& step);

  // Takes out of `step` the closes of rows that were given up, of which the servers know nothing.
  void DropCloses(v1::Step* step);

  // Books a step and its reply. Errors, nothing being booked: INTERNAL (the reply is not one to
  // this step and these rows), UNAVAILABLE (the server does not open a row that was booked),
  // FAILED_PRECONDITION (a row has another grammar here).
  absl::Status Apply(const v1::Step& step, std::span<const RowResult> replies);

  // Opens every row, as it is booked: in `replay`, whose reply nobody reads but this, or, where no
  // server had told its place, in `next`, the caller's step behind it, to whose reply the row's
  // first mask or error then belongs. Rows that `next` moves, forks or takes the ids of are needed
  // before it.
  void WriteOpens(v1::Step* replay, v1::Step* next);

  // Books the reply to the opens of `replay`. Every row must stand where it is booked, with two
  // exceptions. A row whose place no server had told may have been opened with what is refused. A
  // row whose server said that it cannot go on has its id taken until it is closed. Errors:
  // UNAVAILABLE (this server does not go on with a row), FAILED_PRECONDITION (a row has another
  // grammar here; nothing is booked).
  absl::Status ApplyReplay(std::span<const RowResult> replies);

  // Rows that are open as far as replies have said.
  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }

  // Whether a server has told of each row where it stands, so none compiles.
  [[nodiscard]] bool IsSettled() const;
  // The grammars of the rows, each once: by their texts where those are known, else by their ids.
  [[nodiscard]] std::vector<v1::CompileRequest> Grammars(const std::string& tokenizer) const;

 private:
  struct Row {
    v1::OpenRow open;        // its tokens are those taken so far
    std::string grammar_id;  // as its first reply has it, in that server's format; empty: none has
    std::string format;
    // The token count at which none is left. Absent: no bound.
    std::optional<std::int64_t> token_limit;
    bool is_used = false;  // a reply has said where it stands
    bool failed = false;   // its server said that it cannot go on
    bool is_late = false;  // the caller's step opens it, not the replay
  };
  using RowsBefore = absl::btree_map<RowId, std::optional<Row>>;

  // Where a reply says that a row stands.
  struct Place {
    Row* row = nullptr;
    const RowResult* reply = nullptr;
    std::size_t kept = 0;                   // of the tokens booked
    const v1::RowUpdate* update = nullptr;  // that is booked; null: none is
  };

  // Each notes in `before` how the rows were that it changes.
  void ApplyCloses(const v1::Step& step, RowsBefore* before);
  void ApplyForks(const v1::Step& step, std::span<const RowResult> replies, RowsBefore* before);
  void ApplyOpens(const v1::Step& step, std::span<const RowResult> replies, RowsBefore* before);
  void Put(RowId id, std::optional<Row> row, RowsBefore* before);

  absl::StatusOr<std::vector<Place>> PlacesOf(const v1::Step& step,
                                              std::span<const RowResult> replies);
  // `update` is null for a row that is answered unasked.
  static absl::StatusOr<Place> PlaceOf(const v1::RowUpdate* update, const RowResult& reply,
                                       Row* row);
  void MoveTo(const Place& place) const;
  // Whether the reply names the row's own grammar.
  [[nodiscard]] absl::Status CheckGrammar(const Row& row, const RowResult& reply) const;
  void WriteOpen(const Row& row, v1::Step* step) const;
  void WriteText(v1::OpenRow* open) const;

  // Ordered, so that a replay is the same in every run.
  absl::btree_map<RowId, Row> rows_;
  absl::flat_hash_map<std::string, v1::Grammar> grammars_;
  std::string format_;
  absl::flat_hash_set<RowId> given_up_;  // and neither closed nor opened by the caller since
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_FAILOVER_ROW_LEDGER_H_
