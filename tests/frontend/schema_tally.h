// Counts what a grammar of each schema makes of texts whose verdict is known, by the slow
// recogniser.
#ifndef MASKD_TESTS_FRONTEND_SCHEMA_TALLY_H_
#define MASKD_TESTS_FRONTEND_SCHEMA_TALLY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/json/json_document.h"

namespace maskd {

// What became of the groups of a file.
struct Tally {
  int groups = 0;
  int right = 0;
  int unsatisfiable = 0;  // refused, and no instance is valid
  int refused = 0;        // UNIMPLEMENTED, RESOURCE_EXHAUSTED
  std::vector<std::string> refusals;
  std::vector<std::string> valid_refused;
  std::vector<std::string> invalid_accepted;
  std::vector<std::string> errors;

  // A line of counts, then one a refusal or failure: "KIND: ID TEXT".
  void Print() const;
};

// Reads the schema `text`, which may refer to `documents`, with properties in any order, and takes
// the strings of `valid` and `invalid` in `group`, which has an `id`, into the tally.
void Take(const JsonValue& group, absl::string_view text,
          const std::vector<GrammarSource::Document>& documents, Tally* tally,
          Formats formats = Formats::kByDraft);

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_SCHEMA_TALLY_H_
