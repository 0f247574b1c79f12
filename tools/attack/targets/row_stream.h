// One Decode stream, and rows of it as cases drive them: one step an operation.
//
// Texts    go in runs: the tokens of a run are drafts first, so that each is looked up in the mask
//          before it; then they are taken, and both answers must agree.
// Threads  one thread.
// Ownership  rows live no longer than their stream.
#ifndef MASKD_TOOLS_ATTACK_TARGETS_ROW_STREAM_H_
#define MASKD_TOOLS_ATTACK_TARGETS_ROW_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "client/cpp/client.h"
#include "tools/attack/targets/target.h"

namespace maskd::attack {

// Its rows count their own numbers; a closed number is not used again.
class RowStream {
 public:
  // Errors: those of Client::OpenStream().
  static absl::StatusOr<std::unique_ptr<RowStream>> Open(const client::Client& client,
                                                         const std::string& tokenizer,
                                                         std::int64_t width);

  // A row of a compiled grammar.
  absl::StatusOr<std::unique_ptr<Row>> OpenRow(const std::string& grammar_id);

  // Tells the server of the rows that are gone. Whether the stream still lives.
  bool CloseRows();

 private:
  class WireRow;
  explicit RowStream(std::unique_ptr<client::MaskStream> stream) : stream_(std::move(stream)) {}

  // Runs the step and gives the answer for `row`, which lives until the next step. Errors: the
  // stream's; INTERNAL where there is no answer.
  absl::StatusOr<const client::RowResult*> Run(client::Step& step, client::RowId row);
  absl::Status Exchange(client::Step& step);

  std::unique_ptr<client::MaskStream> stream_;
  client::StepResult result_;
  client::RowId next_row_ = 1;
  std::vector<client::RowId> gone_;
  bool has_ended_ = false;
};

// The words of a mask of the wire; none where it is full.
MaskWords WordsOf(const client::MaskView& mask);

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_TARGETS_ROW_STREAM_H_
