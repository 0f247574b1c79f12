// What a stream's rows are answered: where each stands, with its masks in the stream's forms.
//
// Once     an answer takes the row's error, refused token and question with it.
// Order    masks are said in the order of the answers: the client's dictionary follows it.
// Threads  one thread at a time.
#ifndef MASKD_SERVICE_ROW_ANSWERS_H_
#define MASKD_SERVICE_ROW_ANSWERS_H_

#include <vector>

#include "absl/status/status.h"

#include "grammar_core/automaton/work.h"
#include "service/mask_forms.h"
#include "service/places_ahead.h"
#include "service/sequence.h"
#include "service/stream_row.h"
#include "service/stream_types.h"

namespace maskd::service {

class RowAnswers {
 public:
  // `terms` are those the client understands. `ahead`, not owned, is told where each row stands.
  RowAnswers(const FormTerms& terms, PlacesAhead* ahead) : forms_(terms), ahead_(ahead) {}

  // Everything but the row's id. A row in use from which nothing can follow has failed with that.
  // False, and nothing is written or taken, where `new_masks` does not let a mask be made.
  bool Write(NewMasks new_masks, StreamRow* row, RowResult* result);

 private:
  void WriteSequence(const absl::Status& filled, const RowToMove* asked, StreamRow* row,
                     RowResult* result);
  void WritePositions(const StreamRow& row, RowResult* result);
  Position WritePosition(const SequencePosition& position, const StreamRow& row);

  MaskForms forms_;
  PlacesAhead* const ahead_;
  std::vector<SequencePosition> positions_;  // of the row that is answered
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_ROW_ANSWERS_H_
