// maskctl check: does this text, or this list of tokens, satisfy the grammar?
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/print.h"

namespace maskd::cli {
namespace {

std::vector<Flag> CheckFlags() {
  return WithConnectionFlags(WithGrammarFlags({
      {"text", "TEXT", "the text to check"},
      {"text_file", "FILE", "the text to check is in this file, \"-\" for standard input"},
      {"tokens", "ID,ID,...", "the tokens to check"},
  }));
}

absl::Status ReadTokens(absl::string_view list, v1::TokenIds& tokens) {
  for (const absl::string_view word : absl::StrSplit(list, ',', absl::SkipWhitespace())) {
    std::int32_t id = 0;
    if (!absl::SimpleAtoi(word, &id)) {
      return UsageError(absl::StrCat("--tokens: \"", word, "\" is not a token id"));
    }
    tokens.add_ids(id);
  }
  return absl::OkStatus();
}

absl::Status ReadInput(const Flags& flags, v1::CheckRequest& request) {
  if (flags.Has("text") + flags.Has("text_file") + flags.Has("tokens") != 1) {
    return UsageError("one of --text, --text_file and --tokens is needed");
  }
  if (flags.Has("tokens")) return ReadTokens(flags.Get("tokens"), *request.mutable_tokens());
  if (flags.Has("text")) {
    request.set_raw_text(flags.Get("text"));
    return absl::OkStatus();
  }
  auto text = ReadFile(flags.Get("text_file"));
  if (!text.ok()) return text.status();
  request.set_raw_text(*std::move(text));
  return absl::OkStatus();
}

std::string StopText(const v1::CheckStop& stop) {
  std::string text = absl::StrCat("refused at byte ", stop.byte_offset());
  if (stop.has_token_index()) absl::StrAppend(&text, ", token ", stop.token_index());
  absl::StrAppend(&text, ": ", Quoted(stop.refused()), "\n");
  if (!stop.rule_place().empty()) absl::StrAppend(&text, "rule        ", stop.rule_place(), "\n");
  absl::StrAppend(&text, "allowed     ", stop.allowed_count(), " tokens");
  for (const v1::AllowedToken& token : stop.allowed_sample()) {
    absl::StrAppend(&text, &token == &stop.allowed_sample(0) ? ", such as " : " ",
                    Quoted(token.text()));
  }
  return text + "\n";
}

int Report(const v1::CheckResponse& response) {
  if (!response.accepted()) {
    absl::PrintF("%s", StopText(response.stop()));
    return kExitNo;
  }
  if (!response.may_end()) {
    absl::PrintF("accepted so far, but the text may not end here\n");
    return kExitNo;
  }
  absl::PrintF("accepted%s\n", response.finished() ? ", finished by a stop token" : "");
  return kExitYes;
}

absl::StatusOr<int> RunCheck(const Flags& flags) {
  v1::CheckRequest request;
  if (absl::Status status = ReadInput(flags, request); !status.ok()) return status;
  auto grammar = ReadGrammarArgument(flags);
  if (!grammar.ok()) return grammar.status();
  *request.mutable_grammar() = *std::move(grammar);
  const auto connection = Connection::Open(flags);
  if (!connection.ok()) return connection.status();
  request.set_tokenizer((*connection)->tokenizer());
  const auto response = (*connection)->client().Check(request);
  if (!response.ok()) return response.status();
  return Report(*response);
}

}  // namespace

const Command kCheckCommand = {
    "check",
    "SCHEMA",
    "runs a text or a token list through a grammar",
    "SCHEMA is a file, or \"-\" for standard input. Exit status 0 only when the whole input is\n"
    "accepted and the text may end there; else it says where the input left the grammar and what\n"
    "was allowed there.\n\n"
    "  maskctl check order.json --text='{\"id\": 7}'\n",
    &CheckFlags,
    &RunCheck,
};

}  // namespace maskd::cli
