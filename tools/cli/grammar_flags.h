// The grammar that a command is about: a file and its options.
#ifndef MASKD_TOOLS_CLI_GRAMMAR_FLAGS_H_
#define MASKD_TOOLS_CLI_GRAMMAR_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "maskd/v1/grammar.pb.h"
#include "tools/cli/flags.h"

namespace maskd::cli {

// --kind and the options of a grammar, then `more`.
std::vector<Flag> WithGrammarFlags(std::vector<Flag> more);

// The grammar of the file `path` ("-" is standard input). Errors: usage errors of the flags,
// NOT_FOUND for a file that cannot be read.
absl::StatusOr<v1::Grammar> ReadGrammarFile(const std::string& path, const Flags& flags);

// The grammar of the command's only argument. Errors: as above, and another number of arguments.
absl::StatusOr<v1::Grammar> ReadGrammarArgument(const Flags& flags);

// The whole of a file; "-" is standard input.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_GRAMMAR_FLAGS_H_
