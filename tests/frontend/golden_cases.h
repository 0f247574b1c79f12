// The grammars whose IR, terms and masks are kept in tests/golden, as KIND/NAME.
#ifndef MASKD_TESTS_FRONTEND_GOLDEN_CASES_H_
#define MASKD_TESTS_FRONTEND_GOLDEN_CASES_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/grammar_source.h"

namespace maskd {

struct GoldenCase {
  const char* kind;
  const char* name;
  const char* source;
  GrammarOptions options = {};

  // Where what is made of it is kept: tests/golden/KIND/NAME.EXTENSION.
  [[nodiscard]] std::string PathOf(const char* extension) const {
    return absl::StrCat(MASKD_SOURCE_DIR, "/tests/golden/", kind, "/", name, ".", extension);
  }
};

const std::vector<GoldenCase>& GoldenCases();

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_GOLDEN_CASES_H_
