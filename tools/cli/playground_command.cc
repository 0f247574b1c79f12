// maskctl playground: a page that shows what a grammar allows, token by token.
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

#include "playground/answers.h"
#include "playground/http_server.h"
#include "service/config/addresses.h"
#include "tools/attack/targets/metrics_page.h"
#include "tools/cli/command.h"
#include "tools/cli/connection.h"

namespace maskd::cli {
namespace {

std::vector<Flag> PlaygroundFlags() {
  return WithConnectionFlags({
      {"listen", "HOST:PORT", "where the page is served; port 0 takes a free one",
       "127.0.0.1:8417"},
      {"any_address", "", "let --listen be an address that other machines reach"},
      {"host", "NAME,NAME", "names that the page may be asked for by, beside localhost"},
      {"metrics", "HOST:PORT",
       "the server's metrics page, for the live view [with --local its own]"},
  });
}

// Until SIGINT or SIGTERM, which are blocked before any thread starts.
void AwaitEnd(const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
}

absl::StatusOr<std::string> ReadMetrics(const std::string& address) {
  const auto page = attack::MetricsPage::Read(address);
  return page.ok() ? absl::StatusOr<std::string>(page->text()) : page.status();
}

absl::StatusOr<int> RunPlayground(const Flags& flags) {
  if (!flags.arguments().empty()) return UsageError("no argument is taken");
  const std::string& listen = flags.Get("listen");
  if (!service::IsLoopback(listen) && !flags.Has("any_address")) {
    return UsageError(absl::StrCat("--listen: ", listen,
                                   " is reached from other machines, and whoever reaches it may "
                                   "use the server; --any_address allows it"));
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const auto connection = Connection::OpenWithMetrics(flags);
  if (!connection.ok()) return connection.status();
  playground::PlaygroundSetup setup = {
      .client = &(*connection)->client(),
      .version = MASKD_VERSION,
      .server = flags.Has("local") ? "inside maskctl" : *ServerAddress(flags),
      .metrics = nullptr,
  };
  const std::string metrics =
      flags.Has("metrics") ? flags.Get("metrics") : (*connection)->metrics_address();
  if (!metrics.empty()) setup.metrics = [metrics] { return ReadMetrics(metrics); };
  playground::Answers answers(std::move(setup));
  const auto server = playground::HttpServer::Start(
      listen, {.names = absl::StrSplit(flags.Get("host"), ',', absl::SkipEmpty())},
      [&](const playground::HttpRequest& request) { return answers.Answer(request); });
  if (!server.ok()) return server.status();
  absl::PrintF("http://%s:%d/\n", listen.substr(0, listen.rfind(':')), (*server)->port());
  std::fflush(stdout);
  AwaitEnd(signals);
  return kExitYes;
}

}  // namespace

const Command kPlaygroundCommand = {
    "playground",
    "",
    "serves a page that shows what a grammar allows, token by token",
    "Prints the page's address and serves it until the program is interrupted. The page shows a\n"
    "grammar, a text, and at each place of the text the tokens that are allowed, why another is\n"
    "refused, what is forced and the shortest ending. It needs no network. docs/playground.md says "
    "more.\n\n"
    "  maskctl playground --local --tokenizer=tokenizer.json\n",
    &PlaygroundFlags,
    &RunPlayground,
};

}  // namespace maskd::cli
