// maskctl explain: what the compiler understood.
#include "absl/strings/str_format.h"

#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/print.h"

namespace maskd::cli {
namespace {

std::vector<Flag> ExplainFlags() { return WithConnectionFlags(WithGrammarFlags({})); }

absl::StatusOr<int> RunExplain(const Flags& flags) {
  v1::ExplainRequest request;
  auto grammar = ReadGrammarArgument(flags);
  if (!grammar.ok()) return grammar.status();
  *request.mutable_grammar() = *std::move(grammar);
  const auto connection = Connection::Open(flags);
  if (!connection.ok()) return connection.status();
  request.set_tokenizer((*connection)->tokenizer());
  const auto response = (*connection)->client().Explain(request);
  if (!response.ok()) return response.status();
  if (flags.Has("json")) {
    absl::PrintF("%s", JsonText(*response));
    return kExitYes;
  }
  absl::PrintF("grammar     %s\nkind        %s\n%s%s%sbegins with %s\n\n%s\n",
               response->grammar_id(), response->kind(), CostsText(response->costs()),
               WarningsText(response->warnings()), BoundsText(response->bounds()),
               Quoted(response->forced_prefix()), response->rules_text());
  return kExitYes;
}

}  // namespace

const Command kExplainCommand = {
    "explain",
    "SCHEMA",
    "shows what the compiler understood of a grammar",
    "SCHEMA is a file, or \"-\" for standard input. Shows sizes, costs, warnings, what is\n"
    "bounded or left out and where, the bytes that every text begins with, and the rules.\n",
    &ExplainFlags,
    &RunExplain,
};

}  // namespace maskd::cli
