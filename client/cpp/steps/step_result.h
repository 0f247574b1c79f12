// The answer to one step: for each row its state, and the mask of each of its positions.
//
// Layout   a mask is Welcome.mask_words int32 words; bit t % 32 (least significant first) of word
//          t / 32 is token t, 1 = allowed; bits past the vocabulary are 0. See mask_view.h for the
//          short forms in which masks come.
// Ownership  rows and masks are views into the StepResult. They live until it is collected into
//          again or goes, and move with it.
// Threads  a plain value.
#ifndef MASKD_CLIENT_CPP_STEPS_STEP_RESULT_H_
#define MASKD_CLIENT_CPP_STEPS_STEP_RESULT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "client/cpp/masks/mask_reader.h"
#include "client/cpp/masks/mask_view.h"
#include "client/cpp/steps/step.h"
#include "maskd/v1/mask_service.pb.h"

namespace maskd::client {

// A token that its row refused.
struct RefusedToken {
  std::uint32_t index = 0;  // in the tokens that were sent
  TokenId id = 0;
  absl::string_view text = {};  // its bytes; empty when there is no such token
};

// Answer for one row.
struct RowResult {
  RowId row = 0;
  v1::RowState state = v1::ROW_STATE_UNSPECIFIED;
  // Position 0 is the mask after the tokens taken, position i + 1 the one after draft i. Empty when
  // compiling, failed or refused, and when they would not have fitted into the reply: `error` says
  // RESOURCE_EXHAUSTED at "positions", and the next step may ask for them.
  absl::InlinedVector<MaskView, 1> masks;
  // What went wrong, with place and reason (errors.h). When the state is active or finished the row
  // goes on from token_count.
  absl::Status error;
  std::optional<RefusedToken> refused_token;
  // Tokens the row has taken, those after its end included.
  std::uint32_t token_count = 0;
  // Whether the text may end here.
  bool may_end = false;
  // Set in the reply that first has a position.
  absl::string_view grammar_id;
  // Draft tokens that have a mask: of a chain its first ones. Absent: none were sent.
  std::optional<std::uint32_t> accepted_drafts;
  // What must come next, when it was asked for: bytes; the tokens that may be appended without
  // asking the model; and those and more as drafts.
  absl::string_view forced_bytes = {};
  std::span<const TokenId> forced_tokens = {};
  std::span<const TokenId> forced_draft = {};
  // What its answer has more or less than before; null: nothing new, or not wanted.
  const v1::AnswerDelta* answer = nullptr;

  // Whether there is something to apply.
  [[nodiscard]] bool has_mask() const { return !masks.empty() && !masks.front().full(); }
};

// The caller's own memory for masks: row i starts `i * row_words` words after `words`.
struct MaskBuffer {
  std::int32_t* words = nullptr;
  std::int64_t row_count = 0;
  std::int64_t row_words = 0;  // at least Welcome.mask_words
};

// Kept and reused: collecting into it again keeps its memory.
class StepResult {
 public:
  // The step's number.
  [[nodiscard]] std::uint64_t step() const { return step_; }
  // In the server's order: opened rows, named rows, rows that have compiled since.
  [[nodiscard]] std::span<const RowResult> rows() const { return rows_; }
  // Tokens of the vocabulary that the masks are of.
  [[nodiscard]] std::int64_t vocab_size() const { return vocab_size_; }
  // The row's answer that has its state, or null when it has none.
  [[nodiscard]] const RowResult* Find(RowId row) const;

  // Descriptions of the rows that Step::Snapshot() named.
  [[nodiscard]] const google::protobuf::RepeatedPtrField<v1::OpenRow>& snapshots() const {
    return snapshots_;
  }

  // Copies masks in the caller's order: row i of `buffer` becomes the mask of `order[i]`, all ones
  // where it is full; words past the mask become 0. Errors, before anything is written:
  // INVALID_ARGUMENT (a buffer that is null or too small), NOT_FOUND (a row without an answer),
  // FAILED_PRECONDITION (an answer without a mask).
  absl::Status CopyMasks(std::span<const RowId> order, const MaskBuffer& buffer) const;
  // The same with all positions of each row: `positions` rows of the buffer for every row of
  // `order`, one after the other. Positions that are invalid, or that the row does not have, are
  // not written.
  absl::Status CopyPositions(std::span<const RowId> order, int positions,
                             const MaskBuffer& buffer) const;
  // The same of rows whose drafts are chains, whose masks are those of their first positions:
  // known[i] becomes how many order[i] has. `stride` above 0: row i begins at row i * stride of the
  // buffer, and is all ones where it has no mask; 0: it begins behind the masks of the row before.
  absl::Status CopyChains(std::span<const RowId> order, int stride, const MaskBuffer& buffer,
                          std::span<std::int32_t> known) const;

 private:
  friend class MaskPlane;
  friend class ReplyReader;
  // Calls visit(mask, i, words of row i) for each row of `buffer` that CopyPositions() writes,
  // after all is checked. Errors: those of CopyMasks().
  using RowVisitor =
      absl::FunctionRef<void(const MaskView& mask, std::size_t row, std::span<std::int32_t> words)>;
  [[nodiscard]] absl::Status VisitPositions(std::span<const RowId> order, int positions,
                                            const MaskBuffer& buffer,
                                            const RowVisitor& visit) const;
  // The rows of `order`, each with a mask. Errors: those of CopyMasks().
  [[nodiscard]] absl::StatusOr<std::vector<const RowResult*>> FindAll(
      std::span<const RowId> order) const;

  std::uint64_t step_ = 0;
  std::vector<RowResult> rows_;
  google::protobuf::RepeatedPtrField<v1::OpenRow> snapshots_;
  google::protobuf::RepeatedPtrField<v1::AnswerDelta> answers_;
  // What the rows point into.
  MaskStorage storage_;
  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<std::vector<TokenId>> forced_;
  std::int64_t mask_words_ = 0;
  std::int64_t vocab_size_ = 0;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_STEPS_STEP_RESULT_H_
