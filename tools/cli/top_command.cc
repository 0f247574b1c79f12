// maskctl top: what a server does now, again and again on a terminal, once elsewhere. A look is
// three calls to the admin address; what they answer is one screen, drawn over the last one.
//
// Invariant  a look that fails ends the command with the error of its first failing call.
// Cost       three calls for each look, of one page each.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include <grpcpp/client_context.h>
#include <nlohmann/json.hpp>

#include "client/cpp/base/wire_status.h"
#include "client/cpp/connect/channel.h"
#include "client/cpp/connect/security.h"
#include "maskd/v1/admin_service.grpc.pb.h"
#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/print.h"
#include "tools/cli/terminal.h"
#include "tools/cli/top/screen.h"

namespace maskd::cli {
namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr int kMaxReplyBytes = 4 << 20;
constexpr char kDefaultAddress[] = "unix:/tmp/maskd-admin.sock";

// What comes first, in either list; a word that only one of them has leaves the other as it is.
struct SortKey {
  absl::string_view word;
  v1::StreamOrder streams;
  v1::GrammarOrder grammars;
};
constexpr std::array kSortKeys = {
    SortKey{"memory", v1::STREAM_ORDER_UNSPECIFIED, v1::GRAMMAR_ORDER_MEMORY},
    SortKey{"time", v1::STREAM_ORDER_TIME, v1::GRAMMAR_ORDER_TIME},
    SortKey{"rows", v1::STREAM_ORDER_ROWS, v1::GRAMMAR_ORDER_ROWS},
    SortKey{"idle", v1::STREAM_ORDER_IDLE, v1::GRAMMAR_ORDER_MEMORY},
    SortKey{"tokens", v1::STREAM_ORDER_TOKENS, v1::GRAMMAR_ORDER_MEMORY},
    SortKey{"bytes", v1::STREAM_ORDER_BYTES, v1::GRAMMAR_ORDER_MEMORY},
    SortKey{"hits", v1::STREAM_ORDER_UNSPECIFIED, v1::GRAMMAR_ORDER_HITS},
};

struct Question {
  SortKey sort;
  std::int64_t limit = 0;  // of each list
  absl::Duration interval;
  bool once = false;
  bool as_json = false;
};

std::vector<Flag> TopFlags() {
  return WithServerFlags(
      {"server", "ADDRESS",
       "an address of the server's --admin_listen; MASKD_ADMIN_ADDRESS says it too",
       kDefaultAddress},
      {
          {"json", "", "print JSON, once"},
          {"once", "", "print once, on a terminal too"},
          {"interval", "SECONDS", "how long between two looks", "2"},
          {"sort", "KEY",
           "what comes first: memory, time (of steps, of compiles), rows, hits, idle, tokens, "
           "bytes",
           "memory"},
          {"limit", "COUNT", "streams and grammars at most, of each", "20"},
      });
}

absl::StatusOr<SortKey> ReadSortKey(const Flags& flags) {
  std::vector<absl::string_view> words;
  words.reserve(kSortKeys.size());
  for (const SortKey& key : kSortKeys) words.push_back(key.word);
  const absl::StatusOr<int> choice = flags.GetChoice("sort", words);
  if (!choice.ok()) return UsageError(choice.status().message());
  return kSortKeys[static_cast<std::size_t>(*choice)];
}

absl::StatusOr<absl::Duration> ReadInterval(const std::string& text) {
  constexpr double kLeast = 0.1;
  constexpr double kMost = 3'600;
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds) && seconds >= kLeast && seconds <= kMost)
    return absl::Seconds(seconds);
  return UsageError(absl::StrCat("--interval: \"", text, "\" is not a number of seconds from ",
                                 kLeast, " to ", kMost));
}

absl::StatusOr<Question> ReadQuestion(const Flags& flags) {
  constexpr std::int64_t kMostLimit = 500;
  const auto sort = ReadSortKey(flags);
  if (!sort.ok()) return sort.status();
  const auto limit = flags.GetNumber("limit", 1, kMostLimit);
  if (!limit.ok()) return UsageError(limit.status().message());
  const auto interval = ReadInterval(flags.Get("interval"));
  if (!interval.ok()) return interval.status();
  const bool as_json = flags.Has("json");
  return Question{*sort, *limit, *interval, flags.Has("once") || as_json || !IsTerminal(), as_json};
}

using Stub = v1::AdminService::Stub;

template <typename Request, typename Response>
absl::Status Ask(Stub* stub,
                 grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                 const Request& request, Response* response) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  const grpc::Status status = (stub->*method)(&context, request, response);
  if (status.error_code() != grpc::StatusCode::UNIMPLEMENTED) return client::FromWire(status);
  return absl::UnimplementedError(
      "this is no admin address; a server has one where it is started with --admin_listen");
}

absl::StatusOr<ServerLook> LookAt(Stub* stub, const Question& question) {
  ServerLook look;
  look.at = absl::Now();
  v1::ListStreamsRequest streams;
  streams.set_page_size(static_cast<int>(question.limit));
  streams.set_order(question.sort.streams);
  v1::ListGrammarsRequest grammars;
  grammars.set_page_size(static_cast<int>(question.limit));
  grammars.set_order(question.sort.grammars);
  absl::Status asked = Ask(stub, &Stub::GetServer, v1::GetServerRequest(), &look.server);
  if (asked.ok()) asked = Ask(stub, &Stub::ListStreams, streams, &look.streams);
  if (asked.ok()) asked = Ask(stub, &Stub::ListGrammars, grammars, &look.grammars);
  if (!asked.ok()) return asked;
  return look;
}

// The three answers of the server under one name each.
std::string LookJson(const ServerLook& look) {
  using Json = nlohmann::ordered_json;
  Json all;
  all["server"] = Json::parse(JsonText(look.server));
  all["streams"] = Json::parse(JsonText(look.streams));
  all["grammars"] = Json::parse(JsonText(look.grammars));
  return absl::StrCat(all.dump(2), "\n");
}

// From the top left corner, each line cleared to its end: without a blink, and nothing of the look
// before is left. What does not fit on the screen is left out.
void Draw(absl::string_view text) {
  std::string drawn = "\x1b[H";
  int lines = TerminalLines() - 1;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (lines-- <= 0) break;
    absl::StrAppend(&drawn, line, "\x1b[K\n");
  }
  absl::StrAppend(&drawn, "\x1b[J");
  absl::PrintF("%s", drawn);
  std::fflush(stdout);
}

absl::Status Unreachable(absl::string_view address, const absl::Status& status) {
  return absl::UnavailableError(
      absl::StrCat("no server at ", address, ": ", status.message(),
                   "; a server has an admin address with --admin_listen"));
}

absl::StatusOr<int> RunTop(const Flags& flags) {
  const absl::StatusOr<Question> question = ReadQuestion(flags);
  if (!question.ok()) return question.status();
  SetSecurity(flags);
  if (absl::Status checked = client::CheckSecurity(); !checked.ok()) return checked;
  const absl::StatusOr<std::string> address = AddressOf(flags, "MASKD_ADMIN_ADDRESS");
  if (!address.ok()) return address.status();
  const auto stub = v1::AdminService::NewStub(client::MakeChannel(*address, kMaxReplyBytes));
  BusyShares shares;
  for (;;) {
    const absl::StatusOr<ServerLook> look = LookAt(stub.get(), *question);
    if (absl::IsUnavailable(look.status())) return Unreachable(*address, look.status());
    if (!look.ok()) return look.status();
    shares.Take(*look);
    if (question->once) {
      absl::PrintF("%s", question->as_json ? LookJson(*look) : ScreenText(*look, shares));
      return kExitYes;
    }
    Draw(ScreenText(*look, shares));
    absl::SleepFor(question->interval);
  }
}

}  // namespace

const Command kTopCommand = {
    "top",
    "",
    "shows what a server does now: limits, memory, streams, grammars",
    "It asks an address of the server's --admin_listen. On a terminal it looks again and again, "
    "until\nCtrl-C; in a pipe, with --once and with --json once.\n\n"
    "  maskctl top --server=unix:/run/maskd/admin.sock --sort=time\n"
    "  maskctl top --json | jq '.grammars.grammars[].grammar_id'\n",
    &TopFlags,
    &RunTop,
};

}  // namespace maskd::cli
