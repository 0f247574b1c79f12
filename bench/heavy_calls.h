// Calls that keep a server's compile threads busy, for bench/bystanders.py.
//
// Threads  one call at a time; each has its connections.
#ifndef MASKD_BENCH_HEAVY_CALLS_H_
#define MASKD_BENCH_HEAVY_CALLS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "bench/heavy_streams.h"

namespace maskd::bench {

// What became of calls, and how long their callers waited, in milliseconds.
struct CallTimes {
  std::int64_t sent = 0;
  std::vector<double> done = {};     // compiled
  std::vector<double> refused = {};  // RESOURCE_EXHAUSTED
  std::int64_t failed = 0;           // otherwise
  std::string fault = {};            // of the first of those
  double seconds = 0;                // from the first call to the end of the time
};

// Compiles of grammars that the server has not seen: variants of `schemas` by turns. `same` calls
// in a row ask for the same one.
struct CompileCalls {
  std::vector<std::string> schemas;
  int same = 1;
};
// So many are open at any time.
absl::StatusOr<CallTimes> KeepCompiling(const HeavyOptions& options, const CompileCalls& calls,
                                        int at_once);
// So many begin each second, as long as no more than 2,000 are open.
absl::StatusOr<CallTimes> SendCompiles(const HeavyOptions& options, const CompileCalls& calls,
                                       double per_second);

// Calls of Watch that are open until this goes.
class Watchers {
 public:
  // Errors: UNAVAILABLE where one is not told that the server is ready.
  static absl::StatusOr<std::unique_ptr<Watchers>> Open(const std::string& address, int count);
  virtual ~Watchers() = default;
};

// What a caller sees who asks for health, and then compiles a choice of two words, 50 times a
// second: milliseconds.
struct ProbeTimes {
  std::vector<double> health = {};
  std::vector<double> compile = {};
};
// Errors: those of the first call that fails.
absl::StatusOr<ProbeTimes> Probe(const HeavyOptions& options);

}  // namespace maskd::bench

#endif  // MASKD_BENCH_HEAVY_CALLS_H_
