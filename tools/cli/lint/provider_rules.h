// What providers of models refuse in the schemas of their structured outputs.
//
// Sources  what the providers' own pages on structured outputs said in February 2026 ("Supported
//          schemas" of OpenAI, "JSON Schema limitations" of Anthropic). Providers change them; the
//          tables of provider_rules.cc are the one place to correct.
// Exactness  what is documented. A provider may refuse more, such as a schema that is too large for
//          it.
#ifndef MASKD_TOOLS_CLI_LINT_PROVIDER_RULES_H_
#define MASKD_TOOLS_CLI_LINT_PROVIDER_RULES_H_

#include <array>
#include <vector>

#include "absl/strings/string_view.h"

#include "tools/cli/lint/finding.h"
#include "tools/cli/lint/subschemas.h"

namespace maskd::cli {

inline constexpr std::array<absl::string_view, 2> kProviders = {"openai", "anthropic"};

// `provider` is one of kProviders. Each finding is of severity `severity`.
void FindRefusals(absl::string_view provider, const Subschemas& schemas, Severity severity,
                  std::vector<Finding>* findings);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_LINT_PROVIDER_RULES_H_
