// Nearly every step has moves with a few tokens each and nothing else. Those are read straight from
// the wire into the rows of the last step, without a protobuf message and without allocations.
// Whatever has more in it is read by protobuf, row by row or as a whole.
//
// Invariant  both ways give the same step or the same error: the short way says false where it is
//            not sure, and the long way decides. Tests compare the two.
// Cost       a pass over the bytes; a step that is refused for its size is only counted, not read.
// Source     the wire format (protobuf.dev/programming-guides/encoding).
#include "service/wire/step_reader.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"

#include "cpu/thread_priority.h"
#include "grammar_core/base/error.h"
#include "maskd/v1/mask_service.pb.h"
#include "protos/wire_fields.h"
#include "service/base/errors.h"
#include "service/wire/request_reader.h"

namespace maskd::service {
namespace {

// As many are read in the time of a unit of OfferCoreAfter().
constexpr std::int64_t kBytesAUnit = 32;

void Reset(RowToMove* move) {
  move->row = 0;
  move->refusal = absl::OkStatus();
  move->rollback = 0;
  move->tokens.clear();
  move->drafts.clear();
  move->draft_parents.clear();
  move->has_drafts = false;
  move->want_forced = false;
  move->remaining_tokens.reset();
}

bool ReadDrafts(WireInput& in, RowToMove* move) {
  using Wire = v1::Drafts;
  move->has_drafts = true;
  return ReadNested(in, [&](std::uint32_t tag) {
    switch (tag) {
      case BytesTag(Wire::kTokensFieldNumber):
        return ReadVarints(in, tag, move->drafts);
      case BytesTag(Wire::kParentsFieldNumber):
        return ReadVarints(in, tag, move->draft_parents);
      default:
        return false;
    }
  });
}

// False: the row is told more than this reads, or its bytes are no message.
bool ReadTokens(absl::string_view bytes, RowToMove* move) {
  using Wire = v1::RowUpdate;
  WireInput in(bytes);
  return ReadFields(in, [&](std::uint32_t tag) {
    switch (tag) {
      case VarintTag(Wire::kRowFieldNumber):
        return in.ReadVarint64(&move->row);
      case BytesTag(Wire::kTokensFieldNumber):
        return ReadVarints(in, tag, move->tokens);
      case BytesTag(Wire::kDraftsFieldNumber):
        return !move->has_drafts && ReadDrafts(in, move);
      default:
        return false;
    }
  });
}

bool ReadMove(WireInput& in, RowToMove* move) {
  absl::string_view bytes;
  if (!in.ReadBytes(&bytes)) return false;
  OfferCoreAfter(static_cast<std::int64_t>(bytes.size()) / kBytesAUnit);
  // The move was another row's in the last step; its vectors keep their memory.
  Reset(move);
  if (ReadTokens(bytes, move)) return true;
  v1::RowUpdate wire;
  if (!wire.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
  Reset(move);
  ReadMove(wire, move);
  return true;
}

bool ReadOpen(WireInput& in, StepRequest* step) {
  v1::OpenRow wire;
  if (!ReadMessage(in, wire)) return false;
  ReadOpen(wire, &step->opens.emplace_back());
  return true;
}

bool ReadFork(WireInput& in, StepRequest* step) {
  v1::ForkRow wire;
  if (!ReadMessage(in, wire)) return false;
  step->forks.push_back({wire.parent(), wire.child()});
  return true;
}

// False also for more than `most` ids.
bool ReadIds(WireInput& in, std::uint32_t tag, std::size_t most, std::vector<RowId>* ids) {
  return ReadElements(in, tag,
                      [&] { return ids->size() < most && in.ReadVarint64(&ids->emplace_back()); });
}

void Reset(StepRequest* step) {
  step->step = 0;
  step->wait_ms = 0;
  step->opens.clear();
  step->forks.clear();
  step->snapshots.clear();
  step->closes.clear();
}

// The moves keep their memory: `*moves` of them are of this step.
bool ReadStepField(WireInput& in, std::uint32_t tag, std::size_t most, StepRequest* step,
                   std::size_t* moves) {
  using Wire = v1::Step;
  // Looked at as they come: a message of small rows takes many times its bytes.
  if (step->opens.size() + *moves + step->forks.size() > most) return false;
  switch (tag) {
    case VarintTag(Wire::kStepFieldNumber):
      return in.ReadVarint64(&step->step);
    case BytesTag(Wire::kOpenFieldNumber):
      return ReadOpen(in, step);
    case BytesTag(Wire::kRowsFieldNumber):
      if (step->moves.size() == *moves) step->moves.emplace_back();
      return ReadMove(in, &step->moves[(*moves)++]);
    case BytesTag(Wire::kForkFieldNumber):
      return ReadFork(in, step);
    case BytesTag(Wire::kSnapshotFieldNumber):
      return ReadIds(in, tag, most, &step->snapshots);
    case BytesTag(Wire::kCloseFieldNumber):
      return ReadIds(in, tag, most, &step->closes);
    case VarintTag(Wire::kWaitForCompileMsFieldNumber): {
      std::uint32_t wait_ms = 0;
      const bool whole = in.ReadVarint32(&wait_ms);
      step->wait_ms = wait_ms;
      return whole;
    }
    default:
      return false;
  }
}

// False: no step, or with more in it than this reads, or than `most` rows.
bool ReadPlain(absl::string_view bytes, std::size_t most, StepRequest* step) {
  WireInput in(bytes);
  if (in.ReadTag() != BytesTag(v1::DecodeRequest::kStepFieldNumber)) return false;
  Reset(step);
  std::size_t moves = 0;
  const bool whole =
      ReadNested(in, [&](std::uint32_t tag) { return ReadStepField(in, tag, most, step, &moves); });
  step->moves.resize(moves);
  const std::size_t named = step->opens.size() + moves + step->forks.size() +
                            step->snapshots.size() + step->closes.size();
  return whole && named <= most && in.at_limit();
}

// Rows that a step names, as often as it does; of bytes that are no message, as far as they are.
std::size_t CountNamed(absl::string_view bytes) {
  using Wire = v1::Step;
  std::size_t named = 0;
  const auto count = [&](WireInput& in, std::uint32_t tag) {
    switch (tag) {
      case BytesTag(Wire::kOpenFieldNumber):
      case BytesTag(Wire::kRowsFieldNumber):
      case BytesTag(Wire::kForkFieldNumber):
        ++named;
        return SkipField(in, tag);
      case BytesTag(Wire::kSnapshotFieldNumber):
      case VarintTag(Wire::kSnapshotFieldNumber):
      case BytesTag(Wire::kCloseFieldNumber):
      case VarintTag(Wire::kCloseFieldNumber): {
        std::uint64_t row = 0;
        return ReadElements(in, tag, [&] { return ++named, in.ReadVarint64(&row); });
      }
      default:
        return SkipField(in, tag);
    }
  };
  WireInput in(bytes);
  ReadFields(in, [&](std::uint32_t tag) {
    if (tag != BytesTag(v1::DecodeRequest::kStepFieldNumber)) return SkipField(in, tag);
    return ReadNested(in, [&](std::uint32_t inner) { return count(in, inner); });
  });
  return named;
}

}  // namespace

absl::Status ReadStep(absl::string_view bytes, std::size_t max_named_rows, StepRequest* step) {
  if (ReadPlain(bytes, max_named_rows, step)) return absl::OkStatus();
  // A message takes many times the memory of its bytes.
  if (const std::size_t named = CountNamed(bytes); named > max_named_rows) {
    return ErrorAt(absl::StatusCode::kResourceExhausted, "step", "LIMIT_EXCEEDED",
                   absl::StrCat("a step of this stream may name ", max_named_rows,
                                " rows, and this one names ", named));
  }
  v1::DecodeRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return BadField("", "the message is no DecodeRequest");
  return ReadStep(request, step);
}

}  // namespace maskd::service
