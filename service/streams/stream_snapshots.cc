// What the snapshots of a step take. Many rows of many tokens are megabytes, so the core is offered
// between two of them, and a step that nobody wants takes no further one.
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

#include "cpu/thread_priority.h"
#include "service/base/errors.h"
#include "service/sequences/row_errors.h"
#include "service/streams/step_turn.h"
#include "service/streams/stream_session.h"

namespace maskd::service {

std::int64_t StreamSession::UnitsOfSnapshot(RowId id) const {
  const auto found = rows_.find(id);
  if (found == rows_.end()) return 1;
  const auto* const sequence = std::get_if<Sequence>(&found->second.what);
  return 1 + (sequence == nullptr ? 0 : sequence->token_count() / kCopiedTokensAUnit);
}

std::int64_t StreamSession::UnitsOfSnapshots(const StepRequest& request) const {
  std::int64_t units = 0;
  for (const RowId id : request.snapshots) units += UnitsOfSnapshot(id);
  return units;
}

bool StreamSession::TakeSnapshots(const StepRequest& request, StepTurn& turn) {
  for (const RowId id : request.snapshots) {
    if (turn.IsOver()) return false;
    const std::int64_t units = UnitsOfSnapshot(id);
    OfferCoreAfter(units);
    Snapshot(id);
    turn.Spend(units);
  }
  return true;
}

void StreamSession::Snapshot(RowId id) {
  const auto found = rows_.find(id);
  if (found == rows_.end()) {
    Refuse(id, RowNotFound(id));
    return;
  }
  if (std::exchange(found->second.snapshot_step, result_.step) == result_.step) {
    Refuse(id, BadField("snapshot", absl::StrCat("row ", id, " is named twice")));
    return;
  }
  const auto* sequence = std::get_if<Sequence>(&found->second.what);
  if (sequence == nullptr) {
    Refuse(id, NotReady(id, "compiles or has failed, there is nothing to describe"));
    return;
  }
  const auto& options = found->second.options;
  if (absl::Status room = answers_.TakeRoom(*sequence, *options); !room.ok()) {
    Refuse(id, std::move(room));
    return;
  }
  result_.snapshots.push_back(
      {id, sequence->grammar().id(), sequence->tokens(), options, sequence->remaining()});
}

}  // namespace maskd::service
