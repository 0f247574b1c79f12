// The rows of the table of JSON Schema's keywords in docs/grammars.md, with what proves them.
#ifndef MASKD_TESTS_FRONTEND_SUPPORT_ROWS_H_
#define MASKD_TESTS_FRONTEND_SUPPORT_ROWS_H_

#include <string>
#include <vector>

namespace maskd {

struct SupportCase {
  const char* schema;
  // Texts that its grammar must take, and refuse. An annotation refuses none; what is refused as a
  // whole has neither.
  std::vector<std::string> valid = {};
  std::vector<std::string> invalid = {};
};

struct SupportRow {
  const char* keywords;
  const char* note;
  std::vector<SupportCase> cases;
};

const std::vector<SupportRow>& SupportRows();

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_SUPPORT_ROWS_H_
