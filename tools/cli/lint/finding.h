// What lint has to say about one place of a grammar.
#ifndef MASKD_TOOLS_CLI_LINT_FINDING_H_
#define MASKD_TOOLS_CLI_LINT_FINDING_H_

#include <cstdint>
#include <string>

namespace maskd::cli {

// In ascending order: the exit status follows from the highest.
enum class Severity : std::uint8_t {
  kNote,     // works, and may be meant so
  kWarning,  // works, and is probably not meant so
  kError,    // does not compile, or the provider that was asked for refuses it
};

// One line of the report, with where and what to do.
struct Finding {
  Severity severity = Severity::kNote;
  std::string rule;  // stable, such as "open-string"
  // JSON Pointer or line:column in the source; empty: the grammar as a whole.
  std::string place;
  std::string message;
  std::string fix;  // what to do; empty: nothing is known
};

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_LINT_FINDING_H_
