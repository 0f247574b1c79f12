// A reply is written from its end to its begin, so that the length of a message, which stands
// before it, is known when it is written: one pass, no measuring, no message objects. Rows that
// carry more than masks (errors, forced tokens, answers) are few and are written by protobuf.
//
// Invariant  the bytes are those that protobuf would write for the same reply: fields in ascending
//            order, fields of no value left out. Tests compare them.
// Cost       a copy of each mask's form into the buffer, which is kept from step to step.
// Source     the wire format (protobuf.dev/programming-guides/encoding).
#include "service/wire/reply_writer.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>

#include "cpu/thread_priority.h"
#include "maskd/v1/mask_service.pb.h"
#include "service/streams/step_turn.h"
#include "service/wire/response_writer.h"

namespace maskd::service {
namespace {

constexpr std::size_t kFirstBytes = 1 << 12;

std::size_t VarintBytes(std::uint64_t value) {
  return static_cast<std::size_t>((std::bit_width(value | 1U) + 6) / 7);
}

// Whether a row has what only its message can say.
bool NeedsMessage(const RowResult& row) {
  return !row.error.ok() || row.forced.has_value() || row.answer.has_value() ||
         row.refused_token.has_value();
}

}  // namespace

// One large reply must not keep its memory for as long as the stream lives.
void BackwardWriter::Trim(std::size_t bytes) {
  if (buffer_.size() > bytes) buffer_ = std::vector<std::uint8_t>();
  Clear();
}

// Doubles, so that a reply that grows is copied about once. The buffer is kept, so the next reply
// is not copied at all.
void BackwardWriter::Grow(std::size_t count) {
  const std::size_t used = size();
  // What is there moves to the end of the larger buffer: room is needed in front.
  std::vector<std::uint8_t> larger(std::max(kFirstBytes, 2 * (used + count)));
  std::copy_n(buffer_.data() + begin_, used, larger.data() + larger.size() - used);
  buffer_.swap(larger);
  begin_ = buffer_.size() - used;
}

void BackwardWriter::LongVarint(std::uint64_t value) {
  const std::size_t count = VarintBytes(value);
  std::uint8_t* const to = Prepend(count);
  for (std::size_t i = 0; i + 1 < count; ++i, value >>= 7)
    to[i] = static_cast<std::uint8_t>(value | 0x80);
  to[count - 1] = static_cast<std::uint8_t>(value);
}

void BackwardWriter::Bytes(absl::string_view bytes) {
  std::copy_n(bytes.data(), bytes.size(), Prepend(bytes.size()));
}

void BackwardWriter::FloatField(int number, float value) {
  std::memcpy(Prepend(sizeof(value)), &value, sizeof(value));
  Tag(number, kFixed32Type);
}

void BackwardWriter::BytesField(int number, absl::string_view bytes) {
  const std::size_t before = size();
  Bytes(bytes);
  Header(number, before);
}

// The last row first, as all is written from the end. The outer header needs no length from
// outside: what was written is the message.
absl::string_view ReplyWriter::Write(const StepResult& result, int mask_words) {
  out_.Clear();
  mask_words_ = mask_words;
  std::for_each(result.snapshots.rbegin(), result.snapshots.rend(),
                [this](const RowSnapshot& snapshot) { WriteSnapshot(snapshot); });
  std::for_each(result.rows.rbegin(), result.rows.rend(),
                [this](const RowResult& row) { WriteRow(row); });
  if (result.step != 0) out_.VarintField(v1::StepReply::kStepFieldNumber, result.step);
  out_.Header(v1::DecodeResponse::kStepFieldNumber, 0);
  return out_.bytes();
}

void ReplyWriter::WriteSnapshot(const RowSnapshot& snapshot) {
  OfferCoreAfter(std::ssize(snapshot.tokens) / kCopiedTokensAUnit);
  v1::OpenRow wire;
  service::WriteSnapshot(snapshot, &wire);
  wire.SerializeToString(&message_);
  out_.BytesField(v1::StepReply::kSnapshotsFieldNumber, message_);
}

void ReplyWriter::WriteRow(const RowResult& row) {
  if (NeedsMessage(row)) {
    v1::RowReply wire;
    service::WriteRow(row, mask_words_, &wire);
    wire.SerializeToString(&message_);
    return out_.BytesField(v1::StepReply::kRowsFieldNumber, message_);
  }
  const std::size_t before = out_.size();
  WriteFields(row);
  out_.Header(v1::StepReply::kRowsFieldNumber, before);
}

// The last field first. What is 0 or empty is not written, but for fields that say their presence.
void ReplyWriter::WriteFields(const RowResult& row) {
  using Wire = v1::RowReply;
  if (row.accepted_drafts.has_value()) {
    out_.VarintField(Wire::kAcceptedDraftsFieldNumber,
                     static_cast<std::uint64_t>(*row.accepted_drafts));
  }
  if (!row.grammar_id.empty()) out_.BytesField(Wire::kGrammarIdFieldNumber, row.grammar_id);
  if (row.may_end) out_.VarintField(Wire::kMayEndFieldNumber, 1);
  if (row.token_count != 0)
    out_.VarintField(Wire::kTokenCountFieldNumber, static_cast<std::uint64_t>(row.token_count));
  for (std::size_t i = row.positions.size(); i > 0; --i) {
    const std::size_t before = out_.size();
    WritePosition(row.positions[i - 1]);
    out_.Header(Wire::kPositionsFieldNumber, before);
  }
  out_.VarintField(Wire::kStateFieldNumber, static_cast<std::uint64_t>(WireState(row.state)));
  if (row.row != 0) out_.VarintField(Wire::kRowFieldNumber, row.row);
}

void ReplyWriter::WritePosition(const Position& position) {
  using Wire = v1::Position;
  if (position.state == Position::State::kFull) return out_.VarintField(Wire::kFullFieldNumber, 1);
  if (position.state == Position::State::kInvalid)
    return out_.VarintField(Wire::kInvalidFieldNumber, 1);
  WriteTuning(position);
  if (position.form.put.has_value()) {
    out_.VarintField(Wire::kDictionarySlotFieldNumber,
                     static_cast<std::uint64_t>(*position.form.put));
  }
  WriteMask(*position.mask, position.form);
}

void ReplyWriter::WriteTuning(const Position& position) {
  using Wire = v1::LogitBias;
  for (std::size_t i = position.biases.size(); i > 0; --i) {
    const LogitBias& bias = position.biases[i - 1];
    // A bias of a token that is forbidden here says nothing, and may be most of them.
    if (!position.mask->Allows(bias.id)) continue;
    const std::size_t before = out_.size();
    if (std::bit_cast<std::uint32_t>(bias.bias) != 0)
      out_.FloatField(Wire::kBiasFieldNumber, bias.bias);
    if (bias.id != 0) out_.VarintField(Wire::kIdFieldNumber, static_cast<std::uint64_t>(bias.id));
    out_.Header(v1::Position::kBiasesFieldNumber, before);
  }
  if (position.temperature.has_value())
    out_.FloatField(v1::Position::kTemperatureFieldNumber, *position.temperature);
}

void ReplyWriter::WriteMask(const TokenMask& mask, const MaskForm& form) {
  using Wire = v1::Position;
  switch (form.kind) {
    case MaskForm::Kind::kDense:
      return WriteDense(mask);
    case MaskForm::Kind::kSameAs:
      return out_.VarintField(Wire::kSameAsFieldNumber, static_cast<std::uint64_t>(form.slot));
    case MaskForm::Kind::kAllowedIds:
      return WriteIds(Wire::kAllowedIdsFieldNumber, *form.ids);
    case MaskForm::Kind::kForbiddenIds:
      return WriteIds(Wire::kForbiddenIdsFieldNumber, *form.ids);
    case MaskForm::Kind::kDelta:
      return WriteDelta(*form.delta);
  }
}

void ReplyWriter::WriteDense(const TokenMask& mask) {
  const std::size_t before = out_.size();
  const std::size_t mask_bytes = mask.word_count() * sizeof(std::int32_t);
  const std::size_t bytes = static_cast<std::size_t>(mask_words_) * sizeof(std::int32_t);
  std::uint8_t* const to = out_.Prepend(bytes);
  mask.CopyTo(to);
  std::memset(to + mask_bytes, 0, bytes - mask_bytes);
  out_.Header(v1::Position::kDenseFieldNumber, before);
}

void ReplyWriter::WriteIds(int number, const std::vector<TokenId>& ids) {
  const std::size_t before = out_.size();
  for (std::size_t i = ids.size(); i > 0; --i) out_.Varint(static_cast<std::uint64_t>(ids[i - 1]));
  if (!ids.empty()) out_.Header(v1::IdList::kIdsFieldNumber, before);
  out_.Header(number, before);
}

void ReplyWriter::WriteDelta(const MaskDelta& delta) {
  using Wire = v1::MaskDelta;
  const std::size_t before = out_.size();
  if (!delta.words.empty()) {
    const std::size_t bytes = delta.words.size() * sizeof(delta.words[0]);
    std::memcpy(out_.Prepend(bytes), delta.words.data(), bytes);
    out_.Header(Wire::kWordsFieldNumber, before);
    const std::size_t words_end = out_.size();
    for (std::size_t i = delta.word_indices.size(); i > 0; --i)
      out_.Varint(delta.word_indices[i - 1]);
    out_.Header(Wire::kWordIndicesFieldNumber, words_end);
  }
  if (delta.base != 0)
    out_.VarintField(Wire::kBaseFieldNumber, static_cast<std::uint64_t>(delta.base));
  out_.Header(v1::Position::kDeltaFieldNumber, before);
}

}  // namespace maskd::service
