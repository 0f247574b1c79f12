// A row's answer in three parts: is there room for its masks at their largest; what stands at each
// of its positions (Sequence); how each mask is said (MaskForms). The first two change nothing, so
// a row whose mask may not be made now is simply asked again, by another thread.
//
// Invariant  the row's error, refused token and question are taken exactly when an answer is
//            written; masks are said in the order of the reply.
// Cost       that of the masks; for known ones two look-ups a position.
#include "service/sequences/row_answers.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "grammar_core/base/error.h"

namespace maskd::service {
namespace {

// Forced bytes that are looked for, at most.
constexpr int kForcedBytes = 512;

// Bytes of a row or snapshot on the wire beside its masks, tokens and error. Then those of a
// position beside its mask, on the wire and here until the next step; of one bias; of one token.
constexpr std::int64_t kPartBytes = 256;
constexpr std::int64_t kPositionBytes = sizeof(Position);
constexpr std::int64_t kBiasBytes = 16;
constexpr std::int64_t kTokenBytes = 5;

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

// What the row is asked about, beside its own position.
Draft DraftOf(const StreamRow& row) {
  return row.asked == nullptr ? Draft{} : Draft{row.asked->drafts, row.asked->draft_parents};
}

std::int64_t DenseBytes(int mask_words, int vocab_size) {
  return std::int64_t{4} * std::max(mask_words, MaskWordCount(vocab_size));
}

std::int64_t BytesOf(const ForcedTokens& forced) {
  return static_cast<std::int64_t>(forced.bytes.size()) +
         2 * kTokenBytes * static_cast<std::int64_t>(forced.tokens.size());
}

}  // namespace

RowAnswers::RowAnswers(const FormTerms& terms, int vocab_size, std::int64_t max_reply_bytes,
                       PlacesAhead* ahead)
    : forms_(terms),
      mask_bytes_(DenseBytes(0, vocab_size)),
      position_bytes_(kPositionBytes + DenseBytes(terms.mask_words, vocab_size)),
      max_reply_bytes_(max_reply_bytes),
      ahead_(ahead) {}

void RowAnswers::BeginReply(std::size_t parts, std::int64_t bytes) {
  reply_bytes_ = kPartBytes * static_cast<std::int64_t>(parts) + bytes;
}

absl::Status RowAnswers::TakeRoom(const Sequence& sequence, const RowOptions& options) {
  auto tokens = std::int64_t{sequence.token_count()} + std::ssize(options.stop_ids);
  if (options.gate.has_value())
    tokens += std::ssize(options.gate->end_tokens) + std::ssize(options.gate->prompt_tail);
  const std::int64_t needed =
      reply_bytes_ + kTokenBytes * tokens + kBiasBytes * std::ssize(options.biases);
  if (needed > max_reply_bytes_)
    return LimitExceeded("snapshot", "max_reply_bytes", max_reply_bytes_, needed);
  reply_bytes_ = needed;
  return absl::OkStatus();
}

absl::Status RowAnswers::CheckRoom(const Sequence& sequence, const StreamRow& row) const {
  const auto biases = static_cast<std::int64_t>(row.biases.size());
  const std::int64_t drafts =
      row.asked == nullptr ? 0 : static_cast<std::int64_t>(row.asked->drafts.size());
  const std::int64_t position =
      sequence.finished() ? kPositionBytes : position_bytes_ + kBiasBytes * biases;
  const std::int64_t answer = row.answer.has_value() ? row.answer->UnsaidBytes() : 0;
  // Dense for every position: which form each takes is not known before it is made.
  const std::int64_t needed = reply_bytes_ + (1 + drafts) * position + answer;
  if (needed <= max_reply_bytes_) return absl::OkStatus();
  return LimitExceeded("positions", "max_reply_bytes", max_reply_bytes_, needed);
}

void RowAnswers::MakeMasks(StreamRow* row) const {
  const auto* const sequence = std::get_if<Sequence>(&row->what);
  if (sequence == nullptr || row->failed_masks != nullptr || !CheckRoom(*sequence, *row).ok())
    return;
  row->failed_masks = sequence->MakeMasks(DraftOf(*row));
}

bool RowAnswers::Write(NewMasks new_masks, StreamRow* row, RowResult* result) {
  const auto* const sequence = std::get_if<Sequence>(&row->what);
  const auto failed = std::exchange(row->failed_masks, nullptr);
  absl::Status filled;
  absl::Status room;
  if (sequence != nullptr) room = CheckRoom(*sequence, *row);
  if (sequence != nullptr && room.ok()) {
    filled = sequence->FillPositions(DraftOf(*row), &positions_, new_masks, failed.get());
    // Before anything of the row is taken: the row is as it was, for whoever makes the mask.
    if (absl::IsUnavailable(filled)) return false;
  }
  result->error = std::exchange(row->error, absl::OkStatus());
  result->refused_token = std::exchange(row->refused_token, std::nullopt);
  const RowToMove* const asked = std::exchange(row->asked, nullptr);
  if (!room.ok()) {
    WriteRefused(std::move(room), *row, result);
  } else if (sequence != nullptr) {
    WriteSequence(filled, asked, row, result);
  } else {
    result->state =
        std::holds_alternative<FailedRow>(row->what) ? RowState::kFailed : RowState::kCompiling;
  }
  reply_bytes_ += static_cast<std::int64_t>(result->error.message().size());
  return true;
}

// An error of the row's tokens is to be said before that of its masks.
void RowAnswers::WriteRefused(absl::Status error, const StreamRow& row, RowResult* result) {
  const auto& sequence = std::get<Sequence>(row.what);
  result->state = sequence.finished()                           ? RowState::kFinished
                  : sequence.reasoning() || sequence.observed() ? RowState::kFree
                                                                : RowState::kActive;
  result->token_count = sequence.token_count();
  if (result->error.ok()) result->error = std::move(error);
}

void RowAnswers::WriteSequence(const absl::Status& filled, const RowToMove* asked, StreamRow* row,
                               RowResult* result) {
  const auto& sequence = std::get<Sequence>(row->what);
  result->token_count = sequence.token_count();
  if (!filled.ok()) result->error = filled;
  WriteAnswer(row, result);
  // Nothing can follow where the row itself stands: it is over, and its memory is given back.
  if (positions_.front().state == SequencePosition::State::kInvalid) {
    result->state = RowState::kFailed;
    row->what = FailedRow{};
    return;
  }
  result->may_end = positions_.front().may_end;
  WritePositions(*row, result);
  ahead_->Note(sequence.matcher(), positions_.front());
  if (asked != nullptr && asked->has_drafts) result->accepted_drafts = CountAccepted(positions_);
  if (asked != nullptr && asked->want_forced) {
    if (absl::StatusOr<ForcedTokens> forced = sequence.FindForced(kForcedBytes); forced.ok()) {
      reply_bytes_ += BytesOf(*forced);
      result->forced = *std::move(forced);
    }
  }
  // The grammar's id once, with the first answer: it may have been sent as a text.
  if (!std::exchange(row->named, true)) result->grammar_id = sequence.grammar().id();
}

void RowAnswers::WriteAnswer(StreamRow* row, RowResult* result) {
  if (!row->answer.has_value()) return;
  reply_bytes_ += row->answer->UnsaidBytes();
  AnswerDelta delta = row->answer->Unsaid();
  row->answer->SetSaid();
  if (!delta.empty()) result->answer = std::move(delta);
}

// The row's state and its positions on the wire, of positions_.
void RowAnswers::WritePositions(const StreamRow& row, RowResult* result) {
  result->state = StateOf(positions_.front());
  for (SequencePosition& position : positions_)
    result->positions.push_back(WritePosition(position, row));
}

Position RowAnswers::WritePosition(SequencePosition& position, const StreamRow& row) {
  if (position.state == SequencePosition::State::kInvalid) {
    reply_bytes_ += kPositionBytes;
    return {Position::State::kInvalid};
  }
  if (position.state != SequencePosition::State::kMasked) {
    reply_bytes_ += kPositionBytes;
    return {};
  }
  // A mask without a number was made for this row alone. It lives until the next step, however
  // short it is said.
  const bool is_own = position.mask->serial() == 0;
  Position out{Position::State::kMasked, nullptr, forms_.Say(position.mask)};
  out.mask = std::move(position.mask);
  reply_bytes_ += kPositionBytes + std::max(out.form.bytes, is_own ? mask_bytes_ : 0);
  if (position.text_tokens >= 0) {
    out.temperature = row.temperature;
    out.biases = row.biases;
    reply_bytes_ += kBiasBytes * static_cast<std::int64_t>(out.biases.size());
  }
  return out;
}

}  // namespace maskd::service
