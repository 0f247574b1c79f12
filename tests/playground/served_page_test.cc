// The playground of the real program: what it answers, whom it refuses, and that neither its
// visitors nor itself take anything from engines or hold up the server's end.
#include "playground/served_page.h"

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include "ring/unique_fd.h"
#include "service/process/exit_guard.h"
#include "tests/e2e/running_server.h"
#include "tests/e2e/server_program.h"
#include "tools/attack/targets/socket_address.h"

namespace maskd::service {
namespace {

using Json = nlohmann::json;
using playground::ServedPage;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kListen[] = "--playground_listen=127.0.0.1:0";
// Far above what anything here takes, for a busy machine.
constexpr std::chrono::seconds kPatience{30};

// maskd with a playground, once it serves it.
class PageProgram {
 public:
  explicit PageProgram(std::vector<std::string> flags = {}) : program_({.flags = With(flags)}) {
    const auto end = steady_clock::now() + kPatience;
    while (port_ == 0 && steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(10));
      const std::string log = program_.Log();
      const std::size_t at = log.find(" playground address=127.0.0.1:0 port=");
      if (at == std::string::npos || log.find('\n', at) == std::string::npos) continue;
      const std::size_t from = log.find("port=", at) + 5;
      EXPECT_TRUE(absl::SimpleAtoi(log.substr(from, log.find('\n', at) - from), &port_));
    }
    EXPECT_NE(port_, 0) << program_.Log();
  }

  ServerProgram& program() { return program_; }

  [[nodiscard]] ring::UniqueFd Connect() const {
    auto fd = attack::ConnectSocket(absl::StrCat("127.0.0.1:", port_));
    EXPECT_TRUE(fd.ok()) << fd.status();
    return fd.ok() ? *std::move(fd) : ring::UniqueFd();
  }

  // What comes back, up to the end.
  [[nodiscard]] std::string Send(const std::string& bytes) const {
    const ring::UniqueFd fd = Connect();
    EXPECT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
    std::string answer;
    std::array<char, 4096> part;
    for (ssize_t count; (count = recv(fd.get(), part.data(), part.size(), 0)) > 0;)
      answer.append(part.data(), static_cast<std::size_t>(count));
    return answer;
  }

  [[nodiscard]] std::string Get(const std::string& path,
                                const std::string& headers = "Host: localhost") const {
    return Send(absl::StrCat("GET ", path, " HTTP/1.1\r\n", headers, "\r\n\r\n"));
  }

  static std::string Post(const std::string& path, const std::string& body) {
    return absl::StrCat("POST ", path,
                        " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        "Content-Length: ",
                        body.size(), "\r\n\r\n", body);
  }

  // The answer to a JSON call, with its status under "status".
  [[nodiscard]] Json Call(const std::string& path, const Json& body) const {
    const std::string answer = Send(Post(path, body.dump()));
    Json json = Json::parse(answer.substr(answer.find("\r\n\r\n") + 4), nullptr, false);
    EXPECT_TRUE(json.is_object()) << answer;
    json["status"] = answer.substr(9, 3);
    return json;
  }

  [[nodiscard]] Json Compile(const std::string& kind, const std::string& source) const {
    return Call("/api/compile", {{"grammar", {{"kind", kind}, {"source", source}}}});
  }

  [[nodiscard]] Json Place(const std::string& kind, const std::string& source,
                           const std::string& text) const {
    const Json compiled = Compile(kind, source);
    EXPECT_EQ(compiled["status"], "200") << compiled;
    return Call("/api/place", {{"grammar_id", compiled["grammar_id"]}, {"text", text}});
  }

 private:
  static std::vector<std::string> With(std::vector<std::string> flags) {
    flags.emplace_back(kListen);
    return flags;
  }

  ServerProgram program_;
  int port_ = 0;
};

TEST(ServedPageTest, ThePageAsksTheServerItself) {
  const PageProgram page;
  EXPECT_THAT(page.Get("/"), HasSubstr("<title>maskd playground</title>"));
  for (const char* file : {"/app.js", "/live.js", "/style.css"})
    EXPECT_THAT(page.Get(file), StartsWith("HTTP/1.1 200")) << file;
  EXPECT_THAT(page.Get("/api/about"), HasSubstr(R"("name":"bytes")"));
  const Json place = page.Place("choice", R"(["red", "rose"])", "ro");
  EXPECT_EQ(place["status"], "200") << place;
  EXPECT_EQ(place["forced"], "se");
  EXPECT_EQ(place["likely"][0]["text"], "s");
  EXPECT_EQ(place["window"].size(), 3U);
}

TEST(ServedPageTest, TheLiveViewNeedsNoMetricsPort) {
  const PageProgram page;
  EXPECT_THAT(page.Get("/api/about"), HasSubstr(R"("has_metrics":true)"));
  EXPECT_EQ(page.Place("choice", R"(["red", "rose"])", "ro")["status"], "200");
  const std::string metrics = page.Get("/api/metrics");
  EXPECT_THAT(metrics, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(metrics, HasSubstr("maskd_build_info"));
  EXPECT_THAT(metrics, HasSubstr("\nmaskd_streams_open 1\n")) << "the page's own";
  EXPECT_THAT(metrics, HasSubstr("maskd_tenant_streams_open{tenant=\"playground\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("maskd_tenant_streams_open{tenant=\"all\"} 0"));
}

TEST(ServedPageTest, OtherSitesAreRefused) {
  const PageProgram page({"--playground_names=Box.lan"});
  EXPECT_THAT(page.Get("/", "Host: evil.example"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(page.Get("/", "Host: box.lan"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(page.Get("/api/about", "Host: localhost\r\nOrigin: http://evil.example"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(page.Get("/", "Host: localhost\r\nHost: evil.example"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(page.Send("POST /api/place HTTP/1.1\r\nHost: localhost\r\n"
                        "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}"),
              StartsWith("HTTP/1.1 415"));
}

TEST(ServedPageTest, BodiesAreBounded) {
  const PageProgram page;
  const std::string long_body(ServedPage::kMostBody + 1, ' ');
  EXPECT_THAT(page.Send(PageProgram::Post("/api/place", long_body)), StartsWith("HTTP/1.1 413"));
  const std::string long_head(64 << 10, 'x');
  EXPECT_THAT(page.Get("/", "Host: localhost\r\nX: " + long_head), StartsWith("HTTP/1.1 431"));
  // Values take many times their text: those beyond any request are not kept.
  std::string many = R"({"grammar":[1)";
  while (many.size() < ServedPage::kMostBody - 16) many += ",1";
  EXPECT_THAT(page.Send(PageProgram::Post("/api/compile", many + "]}")),
              StartsWith("HTTP/1.1 400"));
}

// Of more connections than there may be the oldest goes, and who asks is answered.
TEST(ServedPageTest, WhoSaysNothingKeepsNobodyOut) {
  const PageProgram page;
  std::vector<ring::UniqueFd> silent;
  for (std::size_t i = 0; i < 4 * ServedPage::kMostConnections; ++i) {
    silent.push_back(page.Connect());
    if (i % 2 == 0) send(silent.back().get(), "POST /", 6, MSG_NOSIGNAL);
  }
  EXPECT_THAT(page.Get("/"), StartsWith("HTTP/1.1 200"));
  char byte = 0;
  EXPECT_EQ(recv(silent.front().get(), &byte, 1, 0) > 0, false) << "the oldest was closed";
}

TEST(ServedPageTest, ThePageTakesNoPlacesOfEngines) {
  PageProgram page({"--max_streams=1", "--max_peer_streams=1"});
  EXPECT_EQ(page.Place("choice", R"(["red", "rose"])", "ro")["status"], "200");
  const auto channel = ConnectTo(page.program().address());
  ASSERT_TRUE(IsLive(channel));
  TestStream stream(channel);
  stream.Greet();  // fails the test where there is no place
  stream.Run(OpeningStep(OpenOf(1, "choice", R"(["abc"])")));
  EXPECT_EQ(page.Place("regex", "a+", "aa")["status"], "200") << "nor does an engine take its";
  EXPECT_TRUE(stream.Finish().ok());
}

TEST(ServedPageTest, AskedByManyItHasItsOwnFewStreams) {
  const PageProgram page;
  const Json compiled = page.Compile("regex", "(ab|cd)*e");
  std::vector<std::thread> visitors;
  for (int i = 0; i < 8; ++i) {
    visitors.emplace_back([&] {
      const Json question = {{"grammar_id", compiled["grammar_id"]}, {"text", "ab"}};
      for (const char* call : {"/api/place", "/api/ending", "/api/place"})
        EXPECT_EQ(page.Call(call, question)["status"], "200");
    });
  }
  for (std::thread& visitor : visitors) visitor.join();
  EXPECT_THAT(page.Get("/api/metrics"),
              HasSubstr("maskd_tenant_refused_total{tenant=\"playground\"} 0"));
}

// The tenant has one compile at once; what comes meanwhile waits, or is told so.
TEST(ServedPageTest, ItCompilesOneGrammarAtOnce) {
  const PageProgram page({"--compile_threads=4"});
  std::vector<std::thread> visitors;
  for (int i = 0; i < 6; ++i) {
    visitors.emplace_back([&page, i] {
      const Json compiled = page.Compile("regex", absl::StrCat("(a|b)*a(a|b){", 8 + i, "}"));
      EXPECT_THAT(compiled["status"].get<std::string>(), AnyOf("200", "429")) << compiled;
    });
  }
  for (std::thread& visitor : visitors) visitor.join();
  EXPECT_EQ(page.Compile("regex", "abc")["status"], "200");
}

TEST(ServedPageTest, OnlyThePageItselfIsThePlayground) {
  PageProgram page;
  const auto channel = ConnectTo(page.program().address());
  ASSERT_TRUE(IsLive(channel));
  grpc::ClientContext context;
  context.AddMetadata("maskd-inside", std::string(32, '0'));
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("choice", R"(["abc"])");
  v1::CompileResponse response;
  ASSERT_TRUE(v1::CompileService::NewStub(channel)->Compile(&context, request, &response).ok());
  const std::string metrics = page.Get("/api/metrics");
  EXPECT_THAT(metrics, HasSubstr("maskd_tenant_compiles_total{tenant=\"playground\"} 0"));
  EXPECT_THAT(metrics, HasSubstr("maskd_tenant_compiles_total{tenant=\"all\"} 1"));
}

// An open stream of the page's, a visitor that never ends its request, one that reads nothing.
TEST(ServedPageTest, VisitorsThatHangDoNotDelayTheEnd) {
  PageProgram page({"--drain_ms=60000"});
  EXPECT_EQ(page.Place("choice", R"(["red", "rose"])", "ro")["status"], "200");
  const ring::UniqueFd silent = page.Connect();
  send(silent.get(), "GET /", 5, MSG_NOSIGNAL);
  const ring::UniqueFd deaf = page.Connect();
  const std::string request = "GET /api/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  send(deaf.get(), request.data(), request.size(), MSG_NOSIGNAL);
  page.program().Signal(SIGTERM);
  EXPECT_EQ(page.program().Wait(kPatience.count()), 0) << page.program().Log();
}

TEST(ServedPageTest, ALongCompileOfThePageDoesNotOutliveTheDrain) {
  PageProgram page(
      {"--drain_ms=200", "--max_compile_work=1000000000000", "--max_grammar_bytes=100GiB"});
  const ring::UniqueFd visitor = page.Connect();
  std::string product = R"({"allOf":[)";  // takes hours
  for (int i = 0; i < 14; ++i) {
    absl::StrAppend(&product, i == 0 ? "" : ",", R"({"oneOf":[)");
    for (int j = 0; j < 14; ++j) {
      absl::StrAppend(&product, j == 0 ? "" : ",", R"({"properties":{"p)", i, R"(":{"const":)", j,
                      "}}}");
    }
    product += "]}";
  }
  product += "]}";
  const Json asked = {{"grammar", {{"kind", "json_schema"}, {"source", product}}}};
  const std::string request = PageProgram::Post("/api/compile", asked.dump());
  send(visitor.get(), request.data(), request.size(), MSG_NOSIGNAL);
  const ring::UniqueFd second = page.Connect();  // waits for it, with a call to come
  send(second.get(), request.data(), request.size(), MSG_NOSIGNAL);
  std::this_thread::sleep_for(milliseconds(500));  // sooner it has not begun, which holds as well
  page.program().Signal(SIGTERM);
  EXPECT_THAT(page.program().Wait(kPatience.count()), AnyOf(0, ExitGuard::kOverrun))
      << page.program().Log();
}

TEST(ServedPageTest, AnAddressThatIsTakenIsAnErrorOfTheFlag) {
  PageProgram first;
  const std::string log = first.program().Log();
  const std::size_t from = log.find("port=", log.find(" playground ")) + 5;
  const std::string port = log.substr(from, log.find('\n', from) - from);
  ServerProgram second({.flags = {absl::StrCat("--playground_listen=127.0.0.1:", port)}});
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_THAT(second.Log(),
              HasSubstr(absl::StrCat("--playground_listen: cannot listen on 127.0.0.1:", port)));
}

TEST(ServedPageTest, ThereIsNoneByDefault) {
  const RunningServer running;
  const auto page = ServedPage::Start(Config(), &running.server());
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(*page, nullptr);
  EXPECT_THAT(running.server().ReadMetrics(), Not(HasSubstr("tenant=\"playground\"")));
}

}  // namespace
}  // namespace maskd::service
