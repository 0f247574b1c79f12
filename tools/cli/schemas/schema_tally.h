// What became of a file of schema cases, counted.
//
// Threads  plain values.
#ifndef MASKD_TOOLS_CLI_SCHEMAS_SCHEMA_TALLY_H_
#define MASKD_TOOLS_CLI_SCHEMAS_SCHEMA_TALLY_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "tools/cli/schemas/schema_case.h"
#include "tools/cli/vectors/text_runner.h"

namespace maskd::cli {

// Of one group. A schema is counted once in each column that one of its texts put it in: it may
// refuse a valid one, accept an invalid one and fail at a third.
struct SchemaTotals {
  int schemas = 0;
  int right = 0;             // compiled, every text right; or refused as wrong, and none is valid
  int not_compiled = 0;      // the other refused ones
  int with_refused = 0;      // a valid text was refused
  int with_accepted = 0;     // an invalid text was accepted
  int failed = 0;            // no verdict on some text
  int texts = 0;             // that had a verdict
  int valid_refused = 0;     // texts, shuffled ones included
  int invalid_accepted = 0;  // texts
};

// All that a run counts; plain sums, so parts can be counted in any order.
struct SchemaTally {
  // By the value of the field that is counted by; "" for schemas without it.
  std::map<std::string, SchemaTotals> groups;
  // Schemas not compiled, by the limit that was met or the keyword at the place of the refusal.
  std::map<std::string, int> refused_for;
  // One line each.
  std::vector<std::string> failures;
};

// The texts of a case in the order of their verdicts: valid ones, invalid ones, shuffled ones if
// `with_shuffled`.
std::vector<std::string> TextsOf(const SchemaCase& one, bool with_shuffled);

// Counts a case whose schema was refused.
void CountRefusedSchema(const SchemaCase& one, const std::string& group,
                        const absl::Status& refusal, SchemaTally& tally);

// Counts a case whose schema compiled; `verdicts` are of `texts`, which are TextsOf().
void CountSchema(const SchemaCase& one, const std::string& group,
                 const std::vector<std::string>& texts, const std::vector<TextVerdict>& verdicts,
                 SchemaTally& tally);

// Markdown: a table of totals, one row a group, headed `by`; a table of refusals, if there are any.
// Names that stand in a file of cases cannot break it.
std::string SchemaTables(const SchemaTally& tally, const std::string& by);

// The same as one JSON object: groups, refused_for, failures.
std::string SchemaTallyJson(const SchemaTally& tally);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_SCHEMAS_SCHEMA_TALLY_H_
