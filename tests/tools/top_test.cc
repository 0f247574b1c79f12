// maskctl top, against a server in this process: in a pipe, and on a terminal.
#include <array>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/base/log.h"
#include "service/process/server.h"
#include "tests/tools/maskctl_run.h"

namespace maskd {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class TopTest : public MaskctlTest {
 protected:
  TopTest() {
    service::SilenceLog();
    service::Config config;
    config.listen = {Main()};
    config.admin_listen = {Admin()};
    config.metrics_listen = "";
    auto server = service::Server::Start(config);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    const std::string schema = Write("s.json", R"({"enum": ["red", "blue"]})");
    EXPECT_EQ(Maskctl(absl::StrCat("compile ", schema, " --server=", Main())).exit, 0);
  }

  [[nodiscard]] std::string Main() const { return absl::StrCat("unix:", Path("main.sock")); }
  [[nodiscard]] std::string Admin() const { return absl::StrCat("unix:", Path("admin.sock")); }

  std::unique_ptr<service::Server> server_;
};

TEST_F(TopTest, PrintsOnceInAPipeAndWithoutColour) {
  const Outcome outcome = Maskctl(absl::StrCat("top --server=", Admin()));
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("maskd "));
  EXPECT_THAT(outcome.output, ContainsRegex("max_streams +0 +64"));
  EXPECT_THAT(outcome.output, ContainsRegex("\nbytes +257 "));
  EXPECT_THAT(outcome.output, HasSubstr("0 of 0 streams"));
  EXPECT_THAT(outcome.output, ContainsRegex("\n[0-9a-f]+ json_schema +25 B"));
  EXPECT_THAT(outcome.output, HasSubstr("1 of 1 grammars"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("\x1b")));
}

TEST_F(TopTest, PrintsJson) {
  const Outcome outcome = Maskctl(absl::StrCat("top --json --sort=hits --server=", Admin()));
  EXPECT_EQ(outcome.exit, 0) << outcome.output;
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["grammars"]["grammars"][0]["kind"], "json_schema");
  EXPECT_EQ(json["server"]["limits"][0]["name"], "max_streams");
  EXPECT_EQ(json["server"]["vocabularies"][0]["vocab_size"], 257);
}

TEST_F(TopTest, SaysThatTheMainAddressIsNoneForAdmins) {
  const Outcome outcome = Maskctl(absl::StrCat("top --server=", Main()));
  EXPECT_EQ(outcome.exit, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("this is no admin address"));
}

TEST_F(TopTest, RefusesAnUnknownKeyAndAWrongInterval) {
  EXPECT_EQ(Maskctl("top --sort=size").exit, 2);
  EXPECT_EQ(Maskctl("top --interval=0").exit, 2);
}

// Reads what the program draws until `text` has come twice.
std::string ReadUntilTwice(int terminal, const std::string& text) {
  std::string drawn;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = read(terminal, buffer.data(), buffer.size())) > 0;) {
    drawn.append(buffer.data(), static_cast<std::size_t>(count));
    const std::size_t first = drawn.find(text);
    if (first != std::string::npos && drawn.find(text, first + 1) != std::string::npos) break;
  }
  return drawn;
}

TEST_F(TopTest, DrawsAgainAndAgainOnATerminal) {
  winsize size{.ws_row = 60, .ws_col = 160, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const std::string server = absl::StrCat("--server=", Admin());
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    execl(MASKD_MASKCTL, "maskctl", "top", "--interval=1", server.c_str(), nullptr);
    _exit(127);
  }
  ASSERT_GT(child, 0);
  const std::string drawn = ReadUntilTwice(terminal, "1 of 1 grammars");
  kill(child, SIGINT);
  waitpid(child, nullptr, 0);
  close(terminal);
  EXPECT_THAT(drawn, HasSubstr("\x1b[H"));
  EXPECT_THAT(drawn, HasSubstr("\x1b[2m")) << "headings are faint";
  EXPECT_THAT(drawn, HasSubstr("1 of 1 grammars"));
}

}  // namespace
}  // namespace maskd
