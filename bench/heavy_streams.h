// Streams whose steps are as hard as a client can make them, for bench/bystanders.py.
//
// Threads  one call at a time; each has its stream.
#ifndef MASKD_BENCH_HEAVY_STREAMS_H_
#define MASKD_BENCH_HEAVY_STREAMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "client/cpp/client.h"

namespace maskd::bench {

// Which vocabulary the streams are of, and for how long steps follow each other.
struct HeavyOptions {
  std::string address;
  std::string tokenizer;
  absl::Duration time = absl::ZeroDuration();
};

// What the server got done meanwhile.
struct HeavyWork {
  std::int64_t steps = 0;
  std::int64_t tokens = 0;          // taken by rows, or sent as drafts
  std::int64_t failed = 0;          // rows answered by an error
  std::int64_t bytes = 0;           // of the steps' messages
  std::string fault = {};           // of the first row that failed
  std::vector<double> micros = {};  // of each step
};

// Random texts of `schemas`, row i of schema i % size. Each row has 10 to 40 tokens left from its
// start on, so it is near its end always, and begins again where it ended. Errors: the stream's.
absl::StatusOr<HeavyWork> WalkNearEnd(const HeavyOptions& options,
                                      const std::vector<std::string>& schemas, int rows);
// Each row has so many drafts a step, of an array of distinct strings. No two steps or rows share
// their strings. Errors: the stream's.
absl::StatusOr<HeavyWork> SendDrafts(const HeavyOptions& options, int rows, int drafts);
// Each row takes so many words a step, each of an id above 16,383: three bytes a token. Errors: the
// stream's; NOT_FOUND: the vocabulary has none.
absl::StatusOr<HeavyWork> SendWords(const HeavyOptions& options, int rows, int words);
// All rows open again in each step, with so many tokens taken before. Errors: the stream's.
absl::StatusOr<HeavyWork> Replay(const HeavyOptions& options, int rows, int tokens);
// The rows have taken so many tokens each, and every step asks for all their snapshots. Errors: the
// stream's.
absl::StatusOr<HeavyWork> TakeSnapshots(const HeavyOptions& options, int rows, int tokens);
// All rows open again, each with the text of a new grammar and so many tokens taken before, which
// it takes once the grammar is compiled; steps that ask for their masks until then. Errors: the
// stream's.
absl::StatusOr<HeavyWork> OpenNewTexts(const HeavyOptions& options, int rows, int tokens);

}  // namespace maskd::bench

#endif  // MASKD_BENCH_HEAVY_STREAMS_H_
