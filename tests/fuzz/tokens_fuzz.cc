// The file of --tokens: a text is refused with a line of its own, or what it names is found by the
// tokens that it says and by nothing else.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

#include "service/token_table.h"
#include "tests/fuzz/fuzz_checks.h"

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

}  // namespace
}  // namespace maskd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  maskd::fuzz::CheckTokens(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
