// What a stream does between two steps: masks are made ahead of its rows, and rows rest.
//
// Invariant  each rest gets on by one row at least, and leaves the others where the next one goes
//            on: however many steps come, all rows have rested in the end.
// Threads    LookAhead() on the stream's; a rest on that of IdleRows, within a turn of turns_.
#include <cstdint>
#include <variant>

#include "grammar_core/compile/compiled_grammar.h"
#include "service/streams/stream_session.h"

namespace maskd::service {

void StreamSession::LookAhead() {
  ahead_.LookAhead();
  IdleRows& idle = grammars_->idle_rows();
  rest_is_owed_.exchange(false) ? idle.RestSoon() : idle.RestAfterRenewals();
}

// A step that comes meanwhile waits in BeginStep() for one row at most; the others rest when it has
// been answered. So do all of a stream that is within a step: the debt is noted first, for a step
// that ends just now. It stays where a grammar was renewed after the rows were listed.
void StreamSession::RestIfIdle() {
  rest_is_owed_ = true;
  if (!turns_.TryBeginRest()) return;
  const std::int64_t renewals = CompiledGrammar::TotalRenewals();
  if (to_rest_.empty()) {
    listed_renewals_ = renewals;
    for (const auto& [id, row] : rows_) to_rest_.push_back(id);
  }
  while (!to_rest_.empty()) {
    RestRow(to_rest_.back());
    to_rest_.pop_back();
    if (turns_.IsAwaited()) break;
  }
  if (to_rest_.empty() && listed_renewals_ == renewals) rest_is_owed_ = false;
  turns_.EndRest();
}

void StreamSession::RestRow(RowId id) {
  const auto found = rows_.find(id);
  if (found == rows_.end()) return;  // closed since it was listed
  if (const auto* sequence = std::get_if<Sequence>(&found->second.what); sequence != nullptr)
    sequence->Rest();
}

}  // namespace maskd::service
