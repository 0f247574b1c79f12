// The grammar that a command is about: a file and its options.
#ifndef MASKD_TOOLS_CLI_GRAMMAR_FLAGS_H_
#define MASKD_TOOLS_CLI_GRAMMAR_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "maskd/v1/grammar.pb.h"
#include "tools/cli/flags.h"

namespace maskd::cli {

// `more`, a command's own, then --kind, the options of a grammar and --remotes.
std::vector<Flag> WithGrammarFlags(std::vector<Flag> more);

// The grammar but its source: kind, options, and the documents of --remotes. Errors: usage errors,
// NOT_FOUND for a file that cannot be read, INVALID_ARGUMENT with its path.
absl::StatusOr<v1::Grammar> ReadGrammarFlags(const Flags& flags);

// The same with the text of the file `path` ("-" is standard input).
absl::StatusOr<v1::Grammar> ReadGrammarFile(const std::string& path, const Flags& flags);

// The same with the command's only argument as the path.
absl::StatusOr<v1::Grammar> ReadGrammarArgument(const Flags& flags);

// The files that the command names, or those of the folder --schemas in order of their names.
// Errors: usage errors.
absl::StatusOr<std::vector<std::string>> GrammarFiles(const Flags& flags);

// The command's only argument. Errors: a usage error that says `what` is needed.
absl::StatusOr<std::string> OneArgument(const Flags& flags, absl::string_view what);

// The whole of a file, gzip or plain; "-" is standard input. Errors: NOT_FOUND (it cannot be read),
// INVALID_ARGUMENT (its gzip is cut off).
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_GRAMMAR_FLAGS_H_
