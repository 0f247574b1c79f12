// The reply is read from the wire straight into the result that the caller gets, field by field,
// with no message between. Only what is rare (an error, an answer, a snapshot) is parsed as a
// message.
//
// Invariant  a view in a row lives in the result's own storage, which is cleared before the next
//            reply.
// Cost       linear in the bytes; storage of the last reply is used again.
// Source     the protocol buffers' wire format; protos/maskd/v1.
#include "client/cpp/steps/reply_reader.h"

#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/support/slice.h"

#include "client/cpp/base/wire_status.h"

namespace maskd::client {
namespace {

// Keeps a text of the reply for as long as its result lives.
bool ReadKept(WireInput& in, std::vector<std::unique_ptr<std::string>>& texts,
              absl::string_view& text) {
  std::string& kept = *texts.emplace_back(std::make_unique<std::string>());
  const bool whole = ReadText(in, kept);
  text = kept;
  return whole;
}

// Adds to a list, which may come in parts.
bool ReadForced(WireInput& in, std::uint32_t tag, std::vector<std::vector<TokenId>>& lists,
                std::span<const TokenId>& tokens) {
  std::vector<TokenId> all(tokens.begin(), tokens.end());
  const bool whole = ReadVarints(in, tag, all);
  tokens = lists.emplace_back(std::move(all));
  return whole;
}

bool ReadState(WireInput& in, v1::RowState& state) {
  std::uint32_t value = 0;
  const bool whole = in.ReadVarint32(&value);
  state = static_cast<v1::RowState>(value);
  return whole;
}

}  // namespace

absl::Status ReplyReader::Read(const grpc::ByteBuffer& bytes, ServerMessage& message) {
  grpc::Slice whole;
  if (!bytes.TrySingleSlice(&whole).ok() && !bytes.DumpToSingleSlice(&whole).ok())
    return absl::InternalError("the server sent nothing");
  return Read({reinterpret_cast<const char*>(whole.begin()), whole.size()}, message);
}

absl::Status ReplyReader::Read(absl::string_view bytes, ServerMessage& message) {
  using Wire = v1::DecodeResponse;
  if (bytes.size() > std::numeric_limits<int>::max())
    return absl::InternalError("the server sent what is too long");
  WireInput in(bytes);
  status_ = absl::OkStatus();
  message.has_step = false;
  message.go_away.reset();
  const bool whole = ReadFields(in, [&](std::uint32_t tag) {
    switch (tag) {
      case BytesTag(Wire::kStepFieldNumber):
        message.has_step = true;
        return ReadStep(in, message.result);
      case BytesTag(Wire::kGoAwayFieldNumber):
        return ReadMessage(in, message.go_away.emplace());
      default:
        return SkipField(in, tag);
    }
  });
  if (!status_.ok()) return status_;
  return whole ? absl::OkStatus() : absl::InternalError("the server sent what is no message");
}

bool ReplyReader::ReadStep(WireInput& in, StepResult& result) {
  using Wire = v1::StepReply;
  if (result.storage_.pool == nullptr || result.mask_words_ != masks_.mask_words()) {
    result.mask_words_ = masks_.mask_words();
    result.storage_.pool = std::make_unique<WordPool>(static_cast<std::size_t>(result.mask_words_));
  }
  result.vocab_size_ = masks_.vocab_size();
  result.storage_.Clear();
  result.texts_.clear();
  result.forced_.clear();
  result.rows_.clear();
  result.snapshots_.Clear();
  result.answers_.Clear();
  result.step_ = 0;
  return ReadNested(in, [&](std::uint32_t tag) {
    switch (tag) {
      case VarintTag(Wire::kStepFieldNumber):
        return in.ReadVarint64(&result.step_);
      case BytesTag(Wire::kRowsFieldNumber):
        return ReadRow(in, result);
      case BytesTag(Wire::kSnapshotsFieldNumber):
        return ReadMessage(in, *result.snapshots_.Add());
      default:
        return SkipField(in, tag);
    }
  });
}

bool ReplyReader::ReadRow(WireInput& in, StepResult& result) {
  RowResult& row = result.rows_.emplace_back();
  const bool whole =
      ReadNested(in, [&](std::uint32_t tag) { return ReadRowField(in, tag, result, row); });
  if (!status_.ok())
    status_ = absl::InternalError(absl::StrCat("row ", row.row, ": ", status_.message()));
  return whole;
}

bool ReplyReader::ReadRowField(WireInput& in, std::uint32_t tag, StepResult& result,
                               RowResult& row) {
  using Wire = v1::RowReply;
  switch (tag) {
    case VarintTag(Wire::kRowFieldNumber):
      return in.ReadVarint64(&row.row);
    case VarintTag(Wire::kStateFieldNumber):
      return ReadState(in, row.state);
    case BytesTag(Wire::kPositionsFieldNumber):
      return ReadMask(in, result, row);
    case BytesTag(Wire::kErrorFieldNumber):
      return ReadError(in, result, row);
    case VarintTag(Wire::kTokenCountFieldNumber):
      return in.ReadVarint32(&row.token_count);
    case VarintTag(Wire::kMayEndFieldNumber):
      return ReadBool(in, row.may_end);
    case BytesTag(Wire::kGrammarIdFieldNumber):
      return ReadKept(in, result.texts_, row.grammar_id);
    case VarintTag(Wire::kAcceptedDraftsFieldNumber):
      return in.ReadVarint32(&row.accepted_drafts.emplace());
    case BytesTag(Wire::kForcedBytesFieldNumber):
      return ReadKept(in, result.texts_, row.forced_bytes);
    case BytesTag(Wire::kForcedTokensFieldNumber):
    case VarintTag(Wire::kForcedTokensFieldNumber):
      return ReadForced(in, tag, result.forced_, row.forced_tokens);
    case BytesTag(Wire::kForcedDraftFieldNumber):
    case VarintTag(Wire::kForcedDraftFieldNumber):
      return ReadForced(in, tag, result.forced_, row.forced_draft);
    case BytesTag(Wire::kAnswerFieldNumber):
      return ReadAnswer(in, result, row);
    default:
      return SkipField(in, tag);
  }
}

bool ReplyReader::ReadAnswer(WireInput& in, StepResult& result, RowResult& row) {
  v1::AnswerDelta& answer = *result.answers_.Add();
  row.answer = &answer;
  return ReadMessage(in, answer);
}

bool ReplyReader::ReadMask(WireInput& in, StepResult& result, RowResult& row) {
  return ReadSized(in, [&] {
    const absl::StatusOr<MaskView> mask = masks_.Read(in, result.storage_);
    if (mask.ok())
      row.masks.push_back(*mask);
    else
      status_ = mask.status();
    return mask.ok();
  });
}

bool ReplyReader::ReadError(WireInput& in, StepResult& result, RowResult& row) {
  v1::RowError error;
  if (!ReadMessage(in, error)) return false;
  row.error = FromWire(error);
  if (error.has_token()) {
    v1::RefusedToken& token = *error.mutable_token();
    const std::string& text = *result.texts_.emplace_back(
        std::make_unique<std::string>(std::move(*token.mutable_text())));
    row.refused_token = RefusedToken{token.index(), token.id(), text};
  }
  return true;
}

}  // namespace maskd::client
