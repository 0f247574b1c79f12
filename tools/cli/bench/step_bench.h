// How long a server takes for the steps of an engine whose forward pass takes no time: rows held to
// grammars, each of which is given one random token of its mask, step after step. A row that ends,
// or has kMaxTokens, is closed, and the next step opens another one on the next grammar.
//
// Threads  one.
#ifndef MASKD_TOOLS_CLI_BENCH_STEP_BENCH_H_
#define MASKD_TOOLS_CLI_BENCH_STEP_BENCH_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "client/cpp/streams/mask_stream.h"

namespace maskd::cli {

class StepBench {
 public:
  // Tokens of a row at most.
  static constexpr int kMaxTokens = 200;

  // `grammar_ids` are known to the server, at least one. The same seed draws the same tokens from
  // the same masks. `stream` must outlive it.
  StepBench(client::MaskStream& stream, std::vector<std::string> grammar_ids, std::uint64_t seed);

  // Opens `row_count` rows, does so many steps and closes what is open. Errors: the stream's, and
  // that of the first row that fails.
  absl::Status Run(int row_count, int step_count);

  // About the last Run(): microseconds from Submit() to the end of Collect() of each step after the
  // first, and the masks that these steps brought.
  [[nodiscard]] const std::vector<double>& step_us() const { return step_us_; }
  [[nodiscard]] std::int64_t mask_count() const { return mask_count_; }

 private:
  struct Row {
    client::RowId id = 0;  // 0: is to be opened
    std::vector<std::int32_t> sampled;
    int token_count = 0;
  };

  void WriteStep();
  absl::Status DoStep();
  absl::Status ReadRow(Row& row);
  std::int32_t Draw(std::span<const std::int32_t> words);
  [[nodiscard]] bool IsStop(std::int32_t token) const;

  client::MaskStream& stream_;
  const std::vector<std::string> grammar_ids_;
  std::size_t next_grammar_ = 0;
  client::RowId next_row_ = 1;
  std::mt19937_64 random_;
  std::vector<Row> rows_;
  std::vector<client::RowId> ended_;  // rows that the next step closes
  client::Step step_;
  client::StepResult result_;
  std::vector<double> step_us_;
  std::int64_t mask_count_ = 0;
};

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_BENCH_STEP_BENCH_H_
