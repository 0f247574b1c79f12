// maskctl tokens: the tokenizers of a server, their entries, and what a grammar allows next. The
// last opens one row with the text's tokens and prints the tokens of its first mask.
//
// Invariant  a vocabulary is listed whole before it is searched: ids are places in it.
// Cost       one listing of the vocabulary; with a schema one step.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include <nlohmann/json.hpp>

#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/print.h"
#include "tools/cli/spelling.h"

namespace maskd::cli {
namespace {

using Json = nlohmann::ordered_json;
using Tokens = std::vector<v1::Token>;

constexpr absl::Duration kCompileWait = absl::Seconds(10);
constexpr absl::Duration kReplyTimeout = absl::Seconds(30);

std::vector<Flag> TokensFlags() {
  return WithConnectionFlags(WithGrammarFlags({
      {"id", "ID,ID,...", "show these entries of the vocabulary"},
      {"text", "TEXT", "show the entries that stand for exactly this text"},
      {"after", "TEXT", "with SCHEMA: show what may follow this text"},
      {"limit", "COUNT", "entries at most", "40"},
  }));
}

void PrintToken(std::size_t id, const v1::Token& token) {
  absl::PrintF("%9d  %s%s\n", id, Quoted(token.text()), token.special() ? "  special" : "");
}

// What is printed of a vocabulary, as JSON: `bytes` in hexadecimal, `text` as for people.
Json TokenJson(std::size_t id, const v1::Token& token) {
  const std::string quoted = Quoted(token.text());
  return {{"id", id},
          {"text", quoted.substr(1, quoted.size() - 2)},
          {"bytes", absl::BytesToHexString(token.text())},
          {"special", token.special()}};
}

void PrintJson(const Json& json) { absl::PrintF("%s\n", json.dump()); }

absl::StatusOr<int> ListTokenizers(const client::Client& client, bool as_json) {
  const auto tokenizers = client.ListTokenizers();
  if (!tokenizers.ok()) return tokenizers.status();
  if (as_json) {
    v1::ListTokenizersResponse all;
    for (const v1::Tokenizer& each : *tokenizers) *all.add_tokenizers() = each;
    absl::PrintF("%s", JsonText(all));
    return kExitYes;
  }
  for (const v1::Tokenizer& each : *tokenizers) {
    absl::PrintF("%s: %d tokens, stop ids %s, %d special, longest %d bytes\n  hash %s\n",
                 each.name(), each.vocab_size(), absl::StrJoin(each.stop_ids(), ","),
                 each.special_ids_size(), each.max_token_bytes(), each.hash());
  }
  return kExitYes;
}

// Prints the entries of `ids`.
void PrintTokens(const Tokens& tokens, const std::vector<std::size_t>& ids, bool as_json) {
  Json list = Json::array();
  for (const std::size_t id : ids)
    if (as_json)
      list.push_back(TokenJson(id, tokens[id]));
    else
      PrintToken(id, tokens[id]);
  if (as_json) PrintJson({{"tokens", std::move(list)}});
}

absl::StatusOr<int> ShowIds(const Tokens& tokens, absl::string_view list, bool as_json) {
  std::vector<std::size_t> ids;
  for (const absl::string_view word : absl::StrSplit(list, ',', absl::SkipWhitespace())) {
    std::size_t id = 0;
    if (!absl::SimpleAtoi(word, &id))
      return UsageError(absl::StrCat("--id: \"", word, "\" is not a token id"));
    if (id >= tokens.size()) {
      return absl::OutOfRangeError(
          absl::StrCat("token ", id, " is not one of the ", tokens.size(), " tokens"));
    }
    ids.push_back(id);
  }
  PrintTokens(tokens, ids, as_json);
  return kExitYes;
}

absl::StatusOr<int> ShowText(const Tokens& tokens, absl::string_view text, bool as_json) {
  std::vector<std::size_t> ids;
  for (std::size_t id = 0; id < tokens.size(); ++id)
    if (tokens[id].text() == text) ids.push_back(id);
  PrintTokens(tokens, ids, as_json);
  if (ids.empty() && !as_json) absl::PrintF("no token stands for exactly %s\n", Quoted(text));
  return ids.empty() ? kExitNo : kExitYes;
}

// `text` in tokens; any spelling leads a grammar to the same place.
absl::StatusOr<std::vector<client::TokenId>> Spell(const Tokens& tokens, absl::string_view text) {
  std::optional<std::vector<client::TokenId>> spelled = SplitterOf(tokens).Longest(text);
  if (spelled.has_value()) return *std::move(spelled);
  return absl::InvalidArgumentError(
      absl::StrCat("--after: no tokens of the vocabulary spell ", Quoted(text)));
}

// The row's answer after its one step.
absl::Status AskOnce(client::MaskStream& stream, client::Step& step, client::StepResult& result) {
  if (auto submitted = stream.Submit(step); !submitted.ok()) return submitted.status();
  if (absl::Status status = stream.Collect(kReplyTimeout, result); !status.ok()) return status;
  const client::RowResult* const row = result.Find(1);
  if (row == nullptr) return absl::InternalError("the server did not answer the row");
  if (!row->error.ok()) return row->error;
  if (row->masks.empty()) return absl::DeadlineExceededError("the grammar still compiles");
  return absl::OkStatus();
}

void PrintAllowed(const Tokens& tokens, const client::RowResult& row, std::int64_t limit,
                  bool as_json) {
  std::int64_t count = 0;
  Json list = Json::array();
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const auto word = static_cast<std::uint32_t>(row.masks.front().words()[id / 32]);
    if (((word >> (id % 32)) & 1) == 0 || count++ >= limit) continue;
    if (as_json)
      list.push_back(TokenJson(id, tokens[id]));
    else
      PrintToken(id, tokens[id]);
  }
  if (as_json) {
    return PrintJson({{"allowed", count},
                      {"vocab_size", tokens.size()},
                      {"may_end", row.may_end},
                      {"tokens", std::move(list)}});
  }
  absl::PrintF("%d of %d tokens are allowed; the text may %send here\n", count, tokens.size(),
               row.may_end ? "" : "not ");
}

absl::StatusOr<int> ShowAllowed(const Connection& connection, const Tokens& tokens,
                                const Flags& flags) {
  const auto limit = flags.GetNumber("limit", 0, 1 << 24);
  if (!limit.ok()) return UsageError(limit.status().message());
  const auto grammar = ReadGrammarArgument(flags);
  if (!grammar.ok()) return grammar.status();
  const auto taken = Spell(tokens, flags.Get("after"));
  if (!taken.ok()) return taken.status();
  const auto stream =
      connection.client().OpenStream({.tokenizer = connection.tokenizer(),
                                      .logits_width = static_cast<std::uint32_t>(tokens.size())});
  if (!stream.ok()) return stream.status();
  client::Step step;
  step.Open(1, *grammar, {.tokens = *taken}).WaitForCompile(kCompileWait);
  client::StepResult result;
  if (absl::Status status = AskOnce(**stream, step, result); !status.ok()) return status;
  if (absl::Status status = (*stream)->Close(kReplyTimeout); !status.ok()) return status;
  const client::RowResult& row = *result.Find(1);
  if (!row.has_mask() && flags.Has("json")) {
    PrintJson({{"finished", true}});
    return kExitYes;
  }
  if (!row.has_mask()) {
    absl::PrintF("the text is finished: anything may follow\n");
    return kExitYes;
  }
  PrintAllowed(tokens, row, *limit, flags.Has("json"));
  return kExitYes;
}

absl::StatusOr<int> RunTokens(const Flags& flags) {
  const bool allowed = !flags.arguments().empty();
  if (flags.Has("after") && !allowed) return UsageError("--after: needs a SCHEMA");
  if (flags.Has("id") + flags.Has("text") + allowed > 1)
    return UsageError("only one of --id, --text and SCHEMA can be asked for");
  const auto connection = Connection::Open(flags);
  if (!connection.ok()) return connection.status();
  const client::Client& client = (*connection)->client();
  const bool as_json = flags.Has("json");
  if (!flags.Has("id") && !flags.Has("text") && !allowed) return ListTokenizers(client, as_json);
  const auto tokens = client.ListTokens((*connection)->tokenizer());
  if (!tokens.ok()) return tokens.status();
  if (flags.Has("id")) return ShowIds(*tokens, flags.Get("id"), as_json);
  if (flags.Has("text")) return ShowText(*tokens, flags.Get("text"), as_json);
  return ShowAllowed(**connection, *tokens, flags);
}

}  // namespace

const Command kTokensCommand = {
    "tokens",
    "[SCHEMA]",
    "lists tokenizers, shows their entries, or what a grammar allows next",
    "Without flags it lists the server's tokenizers. With --id or --text it shows entries of one.\n"
    "With SCHEMA it shows the tokens that are allowed at the start, or after the text of "
    "--after.\n\n"
    "  maskctl tokens --text='{\"'\n"
    "  maskctl tokens order.json --after='{\"id\":'\n",
    &TokensFlags,
    &RunTokens,
};

}  // namespace maskd::cli
