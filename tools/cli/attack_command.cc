#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

#include "tools/attack/attack_run.h"
#include "tools/attack/targets/socket_address.h"
#include "tools/cli/command.h"
#include "tools/cli/connection.h"

namespace maskd::cli {
namespace {

using attack::CaseClock;
using attack::RunOptions;
using attack::ServerAccess;

// In the order of CaseClock's values.
constexpr std::array<absl::string_view, 3> kClocks = {"wall", "cpu", "none"};
constexpr std::int64_t kMostIdle = 86'400;

std::vector<Flag> AttackFlags() {
  return {
      {"server", "ADDRESS",
       "the server to attack, unix:/path or host:port; MASKD_ADDRESS says it too",
       "unix:/tmp/maskd.sock"},
      {"library", "",
       "attack the engine inside this program instead; cases of a server are absent"},
      {"tokenizer", "NAME",
       "a tokenizer of the server [its default one]; with --library a vocabulary file [the "
       "embedded "
       "bytes]"},
      {"special", "PRESET", "special tokens of --library's vocabulary file", "llama3"},
      {"metrics", "HOST:PORT", "the server's metrics: what caches hold, compiles that were begun"},
      {"log", "FILE", "the file that the server's log goes to"},
      {"idle_s", "SECONDS", "after how long the server ends what is idle; 0: never", "0"},
      {"clock", "wall|cpu|none",
       "which time is held to a case's budget; for machines that are busy otherwise, cpu: the\n"
       "        processor's, or none. Other connections' requests are held to 50 ms, and health to "
       "its\n"
       "        second, under wall alone",
       "wall"},
      {"known", "FILE", "cases that are known to fail, lines of ID and reason; counted apart"},
      {"only", "ID,ID", "run these cases and no other"},
      {"expand", "", "print id, size and SHA-256 of each payload and its texts, and run nothing"},
  };
}

absl::StatusOr<RunOptions> ReadOptions(const Flags& flags) {
  RunOptions options;
  options.files = flags.arguments();
  if (options.files.empty()) return UsageError("FILE: is needed, a file or a folder of cases");
  const auto clock = flags.GetChoice("clock", kClocks);
  if (!clock.ok()) return UsageError(clock.status().message());
  options.clock = static_cast<CaseClock>(*clock);
  options.only = absl::StrSplit(flags.Get("only"), ',', absl::SkipEmpty());
  if (flags.Get("known").empty()) return options;
  auto known = attack::ReadKnown(flags.Get("known"));
  if (!known.ok()) return UsageError(absl::StrCat("--known: ", known.status().message()));
  options.known = *std::move(known);
  return options;
}

absl::StatusOr<ServerAccess> ReadServer(const Flags& flags) {
  const auto idle_s = flags.GetNumber("idle_s", 0, kMostIdle);
  if (!idle_s.ok()) return UsageError(idle_s.status().message());
  absl::StatusOr<std::string> address = ServerAddress(flags);
  if (!address.ok()) return address.status();
  ServerAccess server;
  server.address = *std::move(address);
  server.tokenizer = flags.Get("tokenizer");
  server.metrics = flags.Get("metrics");
  server.log_path = flags.Get("log");
  server.idle_s = *idle_s;
  server.process = attack::ProcessWatch::OfSocket(attack::SocketPath(server.address));
  return server;
}

absl::StatusOr<int> RunAttack(const Flags& flags) {
  const absl::StatusOr<RunOptions> options = ReadOptions(flags);
  if (!options.ok()) return options.status();
  if (flags.Has("library") && flags.Has("server"))
    return UsageError("--server: has no meaning with --library");
  absl::StatusOr<bool> passed;
  if (flags.Has("expand")) {
    const absl::Status printed = attack::PrintPayloads(*options);
    passed = printed.ok() ? absl::StatusOr<bool>(true) : printed;
  } else if (flags.Has("library")) {
    passed = attack::AttackLibrary(flags.Get("tokenizer"), flags.Get("special"), *options);
  } else {
    const absl::StatusOr<ServerAccess> server = ReadServer(flags);
    if (!server.ok()) return server.status();
    passed = attack::AttackServer(*server, *options);
  }
  if (!passed.ok()) return passed.status();
  return *passed ? kExitYes : kExitNo;
}

}  // namespace

const Command kAttackCommand = {
    "attack",
    "FILE ...",
    "runs hostile inputs against a server or the engine, and judges the answers",
    "Each FILE, or file of a folder, has one case a line in the format of the attack set. Prints a "
    "line\n"
    "for each fault, then a table by family; exit status 0 only when no case failed, the process "
    "lives\n"
    "and its memory came back. docs/attacks.md says what is held to which rule.\n\n"
    "  maskctl attack --server=unix:/tmp/maskd.sock --metrics=127.0.0.1:9411 attacks/\n"
    "  maskctl attack --library attacks/regex.jsonl\n",
    &AttackFlags,
    &RunAttack,
};

}  // namespace maskd::cli
