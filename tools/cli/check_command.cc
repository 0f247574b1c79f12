// maskctl check: does this text, or this list of tokens, satisfy the grammar? The server judges.
// Why a text is refused is found here, in the source that was sent (reasons/source_reason.h).
//
// Invariant  exit status 0 says that the whole text is accepted and may end there.
// Cost       one call, and for a refused text one walk through its source.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include <nlohmann/json.hpp>

#include "reasons/notation_span.h"
#include "reasons/reason.h"
#include "reasons/source_place.h"
#include "reasons/source_reason.h"
#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/print.h"
#include "tools/cli/terminal.h"

namespace maskd::cli {
namespace {

using Json = nlohmann::ordered_json;

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
    if (!absl::SimpleAtoi(word, &id))
      return UsageError(absl::StrCat("--tokens: \"", word, "\" is not a token id"));
    tokens.add_ids(id);
  }
  return absl::OkStatus();
}

absl::Status ReadInput(const Flags& flags, v1::CheckRequest& request) {
  const int inputs = flags.Has("text") + flags.Has("text_file") + flags.Has("tokens");
  if (inputs != 1) {
    return UsageError(
        absl::StrCat("one of --text, --text_file and --tokens is needed; ", inputs, " were given"));
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

// What the server says of the rule.
reasons::Reason ServersReason(absl::string_view source, const v1::CheckStop& stop) {
  if (stop.rule_place().empty()) return {};
  reasons::PlacedRule rule = {.place = stop.rule_place()};
  const auto begin = static_cast<std::size_t>(stop.rule_begin());
  const auto end = static_cast<std::size_t>(stop.rule_end());
  if (begin < end && end <= source.size()) {
    rule.span = reasons::WithLine(source, {.begin = begin, .end = end});
    rule.says = reasons::NotationText(source, rule.span);
  }
  return {.rules = {std::move(rule)}};
}

// Where a refused text stands in its grammar, and the rules that speak there. Tokens are not known
// here: of them the server alone says where the rule stands.
reasons::Reason ReasonOf(const client::Client& client, const v1::CheckRequest& request,
                         const v1::CheckStop& stop) {
  if (request.input_case() != v1::CheckRequest::kRawText)
    return ServersReason(request.grammar().source(), stop);
  const reasons::Source source(request.grammar().kind(), request.grammar().source());
  const auto is_viable = [&](absl::string_view text) {
    v1::CheckRequest longer = request;
    longer.set_raw_text(std::string(text));
    const auto response = client.Check(longer);
    return !response.ok() || response->accepted();
  };
  return source.ReasonBehind(
      request.raw_text().substr(0, static_cast<std::size_t>(stop.byte_offset())), is_viable);
}

std::string ReasonText(const reasons::Reason& reason) {
  std::string text = reason.where.empty() ? "" : absl::StrCat("stands      ", reason.where, "\n");
  for (const reasons::PlacedRule& rule : reason.rules) {
    const std::string at = absl::StrCat(rule.span.line, ":", rule.span.column);
    absl::StrAppend(&text, "rule        ", rule.place,
                    rule.place == at || rule.span.end == 0 ? "" : absl::StrCat(" (", at, ")"),
                    rule.says.empty() ? "" : ", ", rule.says, "\n");
  }
  if (reason.left_out > 0) absl::StrAppend(&text, "rules       ", reason.left_out, " more\n");
  return text;
}

std::string StopText(const reasons::Reason& reason, const v1::CheckStop& stop) {
  std::string text = absl::StrCat(Painted("refused", Tone::kBad), " at byte ", stop.byte_offset());
  if (stop.has_token_index()) absl::StrAppend(&text, ", token ", stop.token_index());
  absl::StrAppend(&text, ": ", Quoted(stop.refused()), "\n");
  text += ReasonText(reason);
  absl::StrAppend(&text, "allowed     ", stop.allowed_count(), " tokens");
  for (const v1::AllowedToken& token : stop.allowed_sample()) {
    absl::StrAppend(&text, &token == &stop.allowed_sample(0) ? ", such as " : " ",
                    Quoted(token.text()));
  }
  return text + "\n";
}

// The server's answer, and beside it the reason where the text is refused.
std::string AnswerJson(const reasons::Reason& reason, const v1::CheckResponse& response) {
  Json json = Json::parse(JsonText(response));
  if (!response.accepted()) {
    Json rules = Json::array();
    for (const reasons::PlacedRule& rule : reason.rules) {
      rules.push_back({{"place", rule.place},
                       {"line", rule.span.line},
                       {"column", rule.span.column},
                       {"begin", rule.span.begin},
                       {"end", rule.span.end},
                       {"says", rule.says}});
    }
    json["reason"] = {
        {"stands", reason.where}, {"rules", std::move(rules)}, {"left_out", reason.left_out}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// What an answer says, in lines of their own.
std::string MessageText(const v1::ChatMessage& message) {
  std::string text;
  if (!message.reasoning_content().empty())
    absl::StrAppend(&text, "reasoning   ", Quoted(message.reasoning_content()), "\n");
  if (!message.content().empty())
    absl::StrAppend(&text, "content     ", Quoted(message.content()), "\n");
  for (const v1::ChatToolCall& call : message.tool_calls()) {
    absl::StrAppend(&text, "call        ", call.id(), " ", call.name(), " ", call.arguments(),
                    "\n");
  }
  return text;
}

int Report(const reasons::Reason& reason, const v1::CheckResponse& response, bool as_json) {
  const int exit = response.accepted() && response.may_end() ? kExitYes : kExitNo;
  if (as_json) {
    absl::PrintF("%s", AnswerJson(reason, response));
  } else if (!response.accepted()) {
    absl::PrintF("%s", StopText(reason, response.stop()));
  } else if (!response.may_end()) {
    absl::PrintF("%s\n", Painted("accepted so far, but the text may not end here", Tone::kWarning));
  } else {
    absl::PrintF("%s%s\n", Painted("accepted", Tone::kGood),
                 response.finished() ? ", finished by a stop token" : "");
  }
  if (!as_json && response.has_message()) absl::PrintF("%s", MessageText(response.message()));
  return exit;
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
  const reasons::Reason reason = response->accepted()
                                     ? reasons::Reason()
                                     : ReasonOf((*connection)->client(), request, response->stop());
  return Report(reason, *response, flags.Has("json"));
}

}  // namespace

const Command kCheckCommand = {
    "check",
    "SCHEMA",
    "runs a text or a token list through a grammar",
    "SCHEMA is a file, or \"-\" for standard input. Exit status 0 only when the whole input is\n"
    "accepted and the text may end there; else it says where the input left the grammar, which\n"
    "rules of its source speak there, and what was allowed. Of an answer to a chat request it "
    "says\n"
    "what it reads as.\n\n"
    "  maskctl check order.json --text='{\"id\": 7}'\n",
    &CheckFlags,
    &RunCheck,
};

}  // namespace maskd::cli
