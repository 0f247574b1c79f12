// The file of --tokens: a text is refused with a line of its own, or what it names is found by the
// tokens that it says and by nothing else.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

#include "service/callers/token_table.h"
#include "tests/fuzz/fuzz_checks.h"
#include "tests/fuzz/fuzz_target.h"

namespace maskd::fuzz {
namespace {

void CheckTokens(const std::string& text) {
  const auto table = service::TokenTable::Parse(text);
  if (!table.ok()) {
    Require(absl::IsInvalidArgument(table.status()), "a refusal has its code", text);
    Require(absl::StrContains(table.status().message(), ": "), "a refusal says its line", text);
    return;
  }
  std::size_t found = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(
        line.substr(0, line.find('#')), absl::ByAnyChar(" \t\r\v\f"), absl::SkipEmpty());
    if (parts.size() != 2 || absl::StartsWith(parts[1], "sha256:")) continue;
    found += table->Find(parts[1]).has_value() ? 1 : 0;
    Require(table->Find(parts[1]).has_value(), "a token of the file is not found", text);
  }
  Require(found <= table->size(), "more tokens than lines", text);
  Require(!table->Find("").has_value(), "nothing is a token", text);
}

void RunTokens(absl::string_view /*name*/, absl::string_view input) {
  CheckTokens(std::string(input));
}

}  // namespace

MASKD_FUZZ_TARGETS(RunTokens, "tokens");

}  // namespace maskd::fuzz
