// What one abstract operation came to, and whether that is what its `want` says.
//
// want     codes and words, joined by _OR_: OK, a canonical code, ROW_ and a code (of a row, while
//          its stream goes on), INVALID, REFUSED (any proper refusal), QUEUED, CLOSED (the
//          connection). Other words are judged by their operation.
// Threads  plain values.
#ifndef MASKD_TOOLS_ATTACK_SERVERS_OUTCOME_H_
#define MASKD_TOOLS_ATTACK_SERVERS_OUTCOME_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

namespace maskd::attack {

// A status, or what no status can say.
struct Outcome {
  absl::Status status;
  bool is_of_a_row = false;  // the status; the stream goes on
  bool is_closed = false;    // the connection, by the server
  bool is_queued = false;    // all that was asked waits, and nothing was refused
  bool is_known = true;      // whether there is such an operation
  bool any_answer = false;   // whatever is no failure will do, unless `want` says more
  std::string fault = {};    // what is wrong whatever `want` says
  std::string absent = {};   // what it needs and there is not

  Outcome() = default;
  // Implicit, so that an operation may return the status of its call.
  Outcome(absl::Status of) : status(std::move(of)) {}  // NOLINT(google-explicit-constructor)
  // What went wrong whatever was wanted; what there is not on this machine; an operation not known.
  static Outcome Fault(std::string what);
  static Outcome Absent(std::string what);
  static Outcome Unknown();
};

// What is wrong with it; empty: nothing. `codes` are those of the case that count as the right
// refusal, where `want` is one.
std::string JudgeOutcome(const Outcome& outcome, const nlohmann::json& step,
                         const std::vector<std::string>& codes);

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_SERVERS_OUTCOME_H_
