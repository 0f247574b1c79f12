// What a client must know of its rows to open them anew on another server: how each was opened, and
// the tokens that it has taken since.
//
// Truth    the replies: a step counts once its reply is here, and each row has as many tokens as
//          its reply says. Steps without a reply are the caller's to send again.
// Units    a row's tokens include those after its end.
// Threads  one thread at a time.
#ifndef MASKD_CLIENT_CPP_ROW_LEDGER_H_
#define MASKD_CLIENT_CPP_ROW_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"

#include "client/cpp/step.h"
#include "client/cpp/step_result.h"
#include "maskd/v1/mask_service.pb.h"

namespace maskd::client {

class RowLedger {
 public:
  // Keeps the text of a grammar: a server that does not have its id is told the text.
  void Remember(const std::string& grammar_id, const v1::Grammar& grammar);

  // Books a step and its reply.
  void Apply(const v1::Step& step, std::span<const RowResult> replies);

  // Opens every row, as it is booked, in `step`.
  void WriteOpens(v1::Step* step) const;

  // Whether the row's server said that it cannot go on. It is opened again all the same: its id is
  // taken until it is closed.
  [[nodiscard]] bool IsFailed(RowId row) const;

  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }

 private:
  struct Row {
    v1::OpenRow open;  // its tokens are those taken so far
    // The token count at which none is left. Absent: no bound.
    std::optional<std::int64_t> token_limit;
    bool failed = false;
  };

  void ApplyForks(const v1::Step& step, std::span<const RowResult> replies);
  void ApplyOpens(const v1::Step& step, std::span<const RowResult> replies);
  // `update` is null for a row that is answered unasked.
  static void ApplyReply(const v1::RowUpdate* update, const RowResult& reply, Row* row);

  // Ordered, so that a replay is the same in every run.
  absl::btree_map<RowId, Row> rows_;
  absl::flat_hash_map<std::string, v1::Grammar> grammars_;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_ROW_LEDGER_H_
