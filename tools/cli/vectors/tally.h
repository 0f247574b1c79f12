// What became of a file of vectors, counted by kind.
//
// Threads  plain values.
#ifndef MASKD_TOOLS_CLI_VECTORS_TALLY_H_
#define MASKD_TOOLS_CLI_VECTORS_TALLY_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "tools/cli/vectors/text_runner.h"
#include "tools/cli/vectors/vector.h"

namespace maskd::cli {

// Of one kind of grammar. A vector is counted once, a text once.
struct KindTotals {
  int vectors = 0;
  int right = 0;             // as the vector states it, refusals where either is right included
  int refused_open = 0;      // of these, refused where exact or an error is right
  int texts = 0;             // that had a verdict
  int wrongly_accepted = 0;  // texts
  int wrongly_refused = 0;   // texts
  int not_compiled = 0;      // vectors that should have
  int compiled = 0;          // vectors that should not have
  int unclear = 0;           // vectors with an error that is no answer: its code, a broken promise
};

// One line of the report.
struct VectorFailure {
  std::string id;
  std::string what;
};

// All that a run counts; failures in the order of the file.
struct VectorTally {
  std::map<std::string, KindTotals> kinds;
  // Vectors of each kind that the server has no front end for.
  std::map<std::string, int> kinds_not_supported;
  std::vector<VectorFailure> failures;
};

// Whether `refusal` says that there is no such kind of grammar.
bool IsUnknownKind(const absl::Status& refusal);

// Counts a vector whose grammar was refused.
void CountRefusal(const Vector& vector, const absl::Status& refusal, VectorTally& tally);

// Counts a vector whose grammar compiled; `verdicts` are of its accepts, then of its rejects.
void CountTexts(const Vector& vector, const std::vector<TextVerdict>& verdicts, VectorTally& tally);

// A Markdown table, one row a kind; then, if there are any, the kinds not supported.
std::string TallyTable(const VectorTally& tally);

// One JSON object with everything, for programs.
std::string TallyJson(const VectorTally& tally);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_VECTORS_TALLY_H_
