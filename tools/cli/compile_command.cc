// maskctl compile: is this grammar good, and what does it cost?
#include "absl/strings/str_format.h"

#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/print.h"

namespace maskd::cli {
namespace {

std::vector<Flag> CompileFlags() { return WithConnectionFlags(WithGrammarFlags({})); }

absl::StatusOr<int> RunCompile(const Flags& flags) {
  v1::CompileRequest request;
  auto grammar = ReadGrammarArgument(flags);
  if (!grammar.ok()) return grammar.status();
  *request.mutable_grammar() = *std::move(grammar);
  const auto connection = Connection::Open(flags);
  if (!connection.ok()) return connection.status();
  request.set_tokenizer((*connection)->tokenizer());
  const auto response = (*connection)->client().Compile(request);
  if (!response.ok()) return response.status();
  if (flags.Has("json")) {
    absl::PrintF("%s", JsonText(*response));
    return kExitYes;
  }
  absl::PrintF("grammar     %s\ntokenizer   %s\nfrom cache  %s\n%s%s", response->grammar_id(),
               response->tokenizer_hash(), response->from_cache() ? "yes" : "no",
               CostsText(response->costs()), WarningsText(response->warnings()));
  return kExitYes;
}

}  // namespace

const Command kCompileCommand = {
    "compile",
    "SCHEMA",
    "compiles a grammar and shows its id and costs",
    "SCHEMA is a file, or \"-\" for standard input. A grammar that is wrong or not supported is "
    "an\n"
    "error that begins with the place: a JSON Pointer or line:column.\n",
    &CompileFlags,
    &RunCompile,
};

}  // namespace maskd::cli
