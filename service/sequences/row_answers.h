// What a stream's rows are answered: where each stands, with its masks in the stream's forms.
//
// Once     an answer takes the row's error, refused token and question with it.
// Bytes    of a step's reply are counted as its masks' forms are chosen. A row whose masks might
//          not fit any more, each written in full, has an error in their place: none of them is
//          made, and the row stands where its tokens have brought it.
// Order    masks are said in the order of the answers: the client's dictionary follows it.
// Threads  one thread at a time, except in MakeMasks().
#ifndef MASKD_SERVICE_SEQUENCES_ROW_ANSWERS_H_
#define MASKD_SERVICE_SEQUENCES_ROW_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

#include "grammar_core/base/work.h"
#include "service/sequences/mask_forms.h"
#include "service/sequences/places_ahead.h"
#include "service/sequences/sequence.h"
#include "service/sequences/stream_row.h"
#include "service/sequences/stream_types.h"

namespace maskd::service {

// Writes the answers of one stream's rows.
class RowAnswers {
 public:
  // `terms` are those the client understands. `ahead`, not owned, is told where each row stands.
  RowAnswers(const FormTerms& terms, int vocab_size, std::int64_t max_reply_bytes,
             PlacesAhead* ahead);

  // A reply begins, of at most so many rows and snapshots, with `bytes` of other things in it.
  void BeginReply(std::size_t parts, std::int64_t bytes);

  // Takes room for a row's snapshot. Errors: RESOURCE_EXHAUSTED, max_reply_bytes.
  absl::Status TakeRoom(const Sequence& sequence, const RowOptions& options);

  // Has the masks made that Write() will ask for, if they fit into the reply as far as it is. What
  // fails is kept for Write(). Threads: other rows of the stream may be in here at the same time.
  void MakeMasks(StreamRow* row) const;

  // Everything but the row's id. A row in use from which nothing can follow has failed with that.
  // False, and nothing is written or taken, where `new_masks` does not let a mask be made.
  bool Write(NewMasks new_masks, StreamRow* row, RowResult* result);

 private:
  // Whether the row's masks fit, each written in full.
  [[nodiscard]] absl::Status CheckRoom(const Sequence& sequence, const StreamRow& row) const;
  static void WriteRefused(absl::Status error, const StreamRow& row, RowResult* result);
  void WriteSequence(const absl::Status& filled, const RowToMove* asked, StreamRow* row,
                     RowResult* result);
  void WriteAnswer(StreamRow* row, RowResult* result);
  void WritePositions(const StreamRow& row, RowResult* result);
  // Takes the position's mask.
  Position WritePosition(SequencePosition& position, const StreamRow& row);

  MaskForms forms_;
  const std::int64_t mask_bytes_;      // of one made for one row
  const std::int64_t position_bytes_;  // at most, without biases
  const std::int64_t max_reply_bytes_;
  std::int64_t reply_bytes_ = 0;
  PlacesAhead* const ahead_;
  std::vector<SequencePosition> positions_;  // of the row that is answered
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_ROW_ANSWERS_H_
