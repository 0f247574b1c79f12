// Reads lines {"id", "schema" (its text), "valid", "invalid"} from standard input and prints the
// tally. --assert_formats: formats are asserted, whatever the draft.
#include <iostream>
#include <string>

#include "tests/frontend/schema_tally.h"

int main(int argc, char** argv) {
  const bool asserts = argc > 1 && std::string(argv[1]) == "--assert_formats";
  const maskd::Formats formats = asserts ? maskd::Formats::kAsserted : maskd::Formats::kByDraft;
  maskd::Limits limits;
  limits.source_depth = 10'000;
  maskd::Tally tally;
  for (std::string line; std::getline(std::cin, line);) {
    const auto group = maskd::JsonDocument::Parse(line, limits);
    if (!group.ok()) {
      std::cerr << group.status() << "\n";
      return 1;
    }
    maskd::Take(group->root(), group->root().Find("schema")->text(), {}, &tally, formats);
  }
  tally.Print();
  return 0;
}
