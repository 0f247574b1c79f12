// How the rows of a stream come: opened with a grammar, or forked from another. Each has room in
// its stream and a lease of its tenant's, which goes with it.
#include <utility>

#include "grammar_core/base/error.h"
#include "grammar_core/base/memory_reserve.h"
#include "service/base/errors.h"
#include "service/grammars/audit.h"
#include "service/sequences/row_errors.h"
#include "service/streams/stream_session.h"

namespace maskd::service {

absl::StatusOr<Tenant::Lease> StreamSession::TakeRoom() const {
  if (row_count() >= limits_.max_rows)
    return LimitExceeded("", "max_rows", limits_.max_rows, row_count() + 1);
  return caller_.tenant == nullptr ? Tenant::Lease() : caller_.tenant->Take(Tenant::Use::kRow);
}

void StreamSession::Fork(const RowToFork& fork) {
  // The room is a lease: where the fork is refused it goes back by itself.
  const auto parent = rows_.find(fork.parent);
  absl::StatusOr<Tenant::Lease> room = TakeRoom();
  absl::Status error = room.status();
  if (parent == rows_.end())
    error = RowNotFound(fork.parent);
  else if (rows_.contains(fork.child))
    error = RowExists(fork.child);
  else if (!std::holds_alternative<Sequence>(parent->second.what))
    error = NotReady(fork.parent, "compiles or has failed, it cannot be forked");
  if (!error.ok()) {
    Refuse(fork.child, std::move(error));
    return;
  }
  const StreamRow& of = parent->second;
  StreamRow child{.what = std::get<Sequence>(of.what),
                  .answer = of.answer,
                  .state = of.state,
                  .temperature = of.temperature,
                  .biases = of.biases,
                  .options = of.options,
                  .grammar = of.grammar,
                  .row_of = of.row_of,
                  .lease = *std::move(room)};
  // Nobody has told the child's client anything yet: the first reply says all of the answer.
  if (child.answer.has_value()) child.answer->SetUnsaid();
  to_rest_.Fork(fork.parent, fork.child);
  Add(fork.child, std::move(child));
}

void StreamSession::Open(const RowToOpen& open) {
  if (rows_.contains(open.row)) {
    Refuse(open.row, RowExists(open.row));
    return;
  }
  absl::StatusOr<Tenant::Lease> room = TakeRoom();
  if (!room.ok()) {
    Refuse(open.row, room.status());
    return;
  }
  // From here on the row is there, failed or not, and keeps its place until it is closed: the
  // client learns why with the answer.
  named_.push_back(open.row);
  // A text that is too large to be read is its row's fault alone.
  absl::StatusOr<StreamRow> row = OrOutOfMemory([&] { return MakeRow(open); });
  if (!row.ok()) {
    Add(open.row, StreamRow{.what = FailedRow{},
                            .error = row.status(),
                            .state = RowState::kFailed,
                            .lease = *std::move(room)});
    return;
  }
  row->lease = *std::move(room);
  Add(open.row, *std::move(row));
  compiling_.push_back(open.row);
  SettleRow(open.row);  // a known grammar is there at once
}

absl::StatusOr<StreamRow> StreamSession::MakeRow(const RowToOpen& open) {
  if (!open.refusal.ok()) return open.refusal;
  // Before anything is read or compiled for it: a process that is short of memory takes no new
  // rows.
  if (absl::Status room = grammars_->CheckRoom(); !room.ok()) return room;
  const int size = tokenizer_->vocabulary().size();
  if (absl::Status checked = CheckOptions(open.options, terms_, size); !checked.ok())
    return checked;
  std::shared_ptr<const ReasoningGate> gate;
  // Where the grammar holds from the first token on, reasoning is a part of its text.
  if (open.options.gate.has_value() && !open.options.gate->constrain_inside) {
    auto made = ReasoningGate::Create(*open.options.gate, *tokenizer_);
    if (!made.ok()) return made.status();
    gate = *std::move(made);
  }
  return Compile(open, std::move(gate));
}

absl::StatusOr<StreamRow> StreamSession::Compile(const RowToOpen& open,
                                                 std::shared_ptr<const ReasoningGate> gate) {
  absl::StatusOr<GrammarStore::Request> request = grammars_->Get(open.target, *tokenizer_, caller_);
  Audit(caller_, "open", open.target, request.ok() ? request->id : open.target.id,
        request.status());
  if (!request.ok()) return request.status();
  auto options = std::make_shared<const RowOptions>(open.options);
  return StreamRow{.what = CompilingRow{*std::move(request), open.tokens, std::move(gate),
                                        open.remaining_tokens},
                   .biases = options->biases,
                   .options = std::move(options)};
}

}  // namespace maskd::service
