// What a stream does between two steps: masks are made ahead of its rows, and rows rest.
//
// Invariant  each rest gets on by one row at least, and leaves the others where the next one goes
//            on: however many steps come, all rows have rested in the end.
// Threads    LookAhead() on the stream's; a rest on that of IdleRows, within a turn of turns_.
#include <cassert>
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
// that ends just now. Where a grammar was renewed after the rows were listed all are listed again:
// nobody else asks for that as long as the stream is idle.
void StreamSession::RestIfIdle() {
  rest_is_owed_ = true;
  if (!turns_.TryBeginRest()) return;
  const std::int64_t renewals = CompiledGrammar::TotalRenewals();
  if (to_rest_.empty()) ListForRest(renewals);
  do {
    if (!to_rest_.empty()) RestRow(to_rest_.Take());
    if (to_rest_.empty() && listed_renewals_ < renewals) ListForRest(renewals);
  } while (!to_rest_.empty() && !turns_.IsAwaited());
  if (to_rest_.empty()) rest_is_owed_ = false;
  turns_.EndRest();
}

void StreamSession::ListForRest(std::int64_t renewals) {
  listed_renewals_ = renewals;
  for (const auto& [id, row] : rows_) to_rest_.Add(id);
}

void StreamSession::RestRow(RowId id) {
  const auto found = rows_.find(id);
  assert(found != rows_.end() && "a row that is closed is not listed any more");
  if (const auto* sequence = std::get_if<Sequence>(&found->second.what); sequence != nullptr)
    sequence->Rest();
}

}  // namespace maskd::service
