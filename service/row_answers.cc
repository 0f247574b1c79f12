#include "service/row_answers.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace maskd::service {
namespace {

// Forced bytes that are looked for, at most.
constexpr int kForcedBytes = 512;

RowState StateOf(const SequencePosition& position) {
  switch (position.state) {
    case SequencePosition::State::kMasked:
      return RowState::kActive;
    case SequencePosition::State::kFree:
      return RowState::kFree;
    case SequencePosition::State::kFinished:
      return RowState::kFinished;
    case SequencePosition::State::kInvalid:
      break;
  }
  return RowState::kFailed;
}

// Draft tokens that have a position.
int CountAccepted(const std::vector<SequencePosition>& positions) {
  return static_cast<int>(std::ranges::count_if(positions,
                                                [](const SequencePosition& position) {
                                                  return position.state !=
                                                         SequencePosition::State::kInvalid;
                                                })) -
         1;
}

}  // namespace

bool RowAnswers::Write(NewMasks new_masks, StreamRow* row, RowResult* result) {
  const auto* const sequence = std::get_if<Sequence>(&row->what);
  absl::Status filled;
  if (sequence != nullptr) {
    const Draft draft =
        row->asked == nullptr ? Draft{} : Draft{row->asked->drafts, row->asked->draft_parents};
    filled = sequence->FillPositions(draft, &positions_, new_masks);
    if (absl::IsUnavailable(filled)) return false;
  }
  result->error = std::exchange(row->error, absl::OkStatus());
  result->refused_token = std::exchange(row->refused_token, std::nullopt);
  const RowToMove* const asked = std::exchange(row->asked, nullptr);
  if (sequence != nullptr) {
    WriteSequence(filled, asked, row, result);
  } else {
    result->state =
        std::holds_alternative<FailedRow>(row->what) ? RowState::kFailed : RowState::kCompiling;
  }
  return true;
}

void RowAnswers::WriteSequence(const absl::Status& filled, const RowToMove* asked, StreamRow* row,
                               RowResult* result) {
  const auto& sequence = std::get<Sequence>(row->what);
  result->token_count = sequence.token_count();
  if (!filled.ok()) {
    result->error = filled;
  }
  if (positions_.front().state == SequencePosition::State::kInvalid) {
    result->state = RowState::kFailed;
    row->what = FailedRow{};
    return;
  }
  result->may_end = positions_.front().may_end;
  WritePositions(*row, result);
  ahead_->Note(row->grammar, sequence.automaton(), positions_.front());
  if (asked != nullptr && asked->has_drafts) {
    result->accepted_drafts = CountAccepted(positions_);
  }
  if (asked != nullptr && asked->want_forced) {
    if (absl::StatusOr<ForcedTokens> forced = sequence.FindForced(kForcedBytes); forced.ok()) {
      result->forced = *std::move(forced);
    }
  }
  if (!std::exchange(row->named, true)) {
    result->grammar_id = sequence.grammar().id();
  }
}

// The row's state and its positions on the wire, of positions_.
void RowAnswers::WritePositions(const StreamRow& row, RowResult* result) {
  result->state = StateOf(positions_.front());
  for (const SequencePosition& position : positions_) {
    result->positions.push_back(WritePosition(position, row));
  }
}

Position RowAnswers::WritePosition(const SequencePosition& position, const StreamRow& row) {
  if (position.state == SequencePosition::State::kInvalid) {
    return {Position::State::kInvalid};
  }
  if (position.state != SequencePosition::State::kMasked) {
    return {};
  }
  Position out{Position::State::kMasked, position.mask, forms_.Say(position.mask)};
  if (position.text_tokens >= 0) {
    out.temperature = row.temperature;
    out.biases = row.options->biases;
  }
  return out;
}

}  // namespace maskd::service
