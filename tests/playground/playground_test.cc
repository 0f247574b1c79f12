// The playground's HTTP server and its JSON calls, over a real server of masks with the embedded
// vocabulary: ids 0 to 255 are the bytes, 256 is the end.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "client/cpp/client.h"
#include "playground/answers.h"
#include "playground/http_server.h"
#include "service/base/log.h"
#include "service/process/server.h"
#include "tools/attack/targets/socket_address.h"

namespace maskd::playground {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr char kOrder[] = R"({"type": "object",
 "properties": {"item": {"enum": ["tea", "cake"]}, "count": {"type": "integer", "maximum": 9}},
 "required": ["item", "count"], "additionalProperties": false})";

// A server of masks, its playground, and requests to it as a browser writes them.
class PlaygroundTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    service::SilenceLog();
    service::Config config;
    config.listen = {};
    config.insecure_listen = {"127.0.0.1:0"};
    config.metrics_listen = "";
    auto server = service::Server::Start(config);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server).release();
    auto client =
        client::Client::Connect({.address = absl::StrCat("127.0.0.1:", server_->ports().front())});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = std::move(*client).release();
    answers_ = new Answers({.client = client_, .version = "1.2.3", .server = "here", .metrics = [] {
                              return server_->ReadMetrics();
                            }});
    auto http = HttpServer::Start(
        "127.0.0.1:0", {}, [](const HttpRequest& request) { return answers_->Answer(request); });
    ASSERT_TRUE(http.ok()) << http.status();
    http_ = std::move(*http).release();
  }

  static void TearDownTestSuite() {
    delete http_;
    delete answers_;
    delete client_;
    delete server_;
  }

  // What the server writes for these bytes, up to its end.
  static std::string Send(const std::string& bytes) {
    auto fd = attack::ConnectSocket(absl::StrCat("127.0.0.1:", http_->port()));
    EXPECT_TRUE(fd.ok()) << fd.status();
    EXPECT_EQ(send(fd->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
    shutdown(fd->get(), SHUT_WR);
    std::string answer;
    std::array<char, 4096> part;
    for (ssize_t count; (count = recv(fd->get(), part.data(), part.size(), 0)) > 0;)
      answer.append(part.data(), static_cast<std::size_t>(count));
    return answer;
  }

  static std::string Get(const std::string& path, const std::string& headers = "Host: localhost") {
    return Send(
        absl::StrCat("GET ", path, " HTTP/1.1\r\n", headers, "\r\nConnection: close\r\n\r\n"));
  }

  // The answer to a JSON call, with its status under "status".
  static Json Call(const std::string& path, const Json& body) {
    const HttpResponse response = answers_->Answer({"POST", path, body.dump()});
    Json json = Json::parse(response.body);
    json["status"] = response.status;
    return json;
  }

  static Json Compile(const std::string& kind, const std::string& source,
                      const Json& options = Json::object()) {
    return Call("/api/compile",
                {{"grammar", {{"kind", kind}, {"source", source}, {"options", options}}}});
  }

  static Json Ask(const std::string& call, const std::string& kind, const std::string& source,
                  Json question) {
    question["grammar_id"] = Compile(kind, source)["grammar_id"];
    return Call(absl::StrCat("/api/", call), question);
  }

  static service::Server* server_;
  static client::Client* client_;
  static Answers* answers_;
  static HttpServer* http_;
};

service::Server* PlaygroundTest::server_ = nullptr;
client::Client* PlaygroundTest::client_ = nullptr;
Answers* PlaygroundTest::answers_ = nullptr;
HttpServer* PlaygroundTest::http_ = nullptr;

TEST_F(PlaygroundTest, ThePageAndItsFilesAreServedWithAStrictPolicy) {
  const std::string page = Get("/");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'"));
  EXPECT_THAT(page, HasSubstr("X-Content-Type-Options: nosniff"));
  EXPECT_THAT(page, HasSubstr("<title>maskd playground</title>"));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  for (const char* file : {"/app.js", "/live.js", "/style.css"})
    EXPECT_THAT(Get(file), StartsWith("HTTP/1.1 200")) << file;
  EXPECT_THAT(Get("/../etc/passwd"), Not(StartsWith("HTTP/1.1 200")));
  EXPECT_THAT(Get("/nothing"), StartsWith("HTTP/1.1 404"));
}

TEST_F(PlaygroundTest, AnotherSitesRequestsAreRefused) {
  EXPECT_THAT(Get("/api/about", "Host: evil.example"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Get("/api/about", "Host: localhost\r\nOrigin: http://evil.example"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Send("POST /api/place HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                   "Content-Length: 2\r\nConnection: close\r\n\r\n{}"),
              StartsWith("HTTP/1.1 415"));
}

TEST_F(PlaygroundTest, BodiesAreBounded) {
  EXPECT_THAT(Send("POST /api/place HTTP/1.1\r\nHost: localhost\r\n"
                   "Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
  EXPECT_EQ(Call("/api/place", Json::array())["status"], 400);
  std::string deep(100'000, '[');
  EXPECT_EQ(answers_->Answer({"POST", "/api/compile", deep}).status, 400);
  const Json longest = Ask("place", "json", "", {{"text", std::string(kMostText + 1, 'x')}});
  EXPECT_THAT(longest["error"]["message"], HasSubstr("text: has 262145 bytes"));
}

TEST_F(PlaygroundTest, AboutSaysWhatThereIs) {
  const HttpResponse response = answers_->Answer({"GET", "/api/about"});
  const Json about = Json::parse(response.body);
  EXPECT_EQ(about["version"], "1.2.3");
  EXPECT_EQ(about["has_metrics"], true);
  EXPECT_EQ(about["tokenizers"][0]["name"], "bytes");
}

// Each kind that the page offers is known to the server, and none is missing.
TEST_F(PlaygroundTest, TheKindsAreTheServersOwn) {
  const Json unknown = Compile("no_such_kind", "");
  const std::string known = unknown["error"]["message"];
  const Json about = Json::parse(answers_->Answer({"GET", "/api/about"}).body);
  for (const Json& kind : about["kinds"]) EXPECT_THAT(known, HasSubstr(kind.get<std::string>()));
  EXPECT_EQ(about["kinds"].size(), 11U);
}

TEST_F(PlaygroundTest, AWrongSourceIsMarkedWhereItIsWrong) {
  const Json wrong = Compile("json_schema", "{\n \"type\": \"strange\"}");
  EXPECT_EQ(wrong["status"], 400);
  EXPECT_EQ(wrong["error"]["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(wrong["error"]["place"], "/type");
  EXPECT_EQ(wrong["error"]["span"]["line"], 2);
  EXPECT_EQ(wrong["error"]["span"]["column"], 10);
  const Json grammar = Compile("gbnf", "root ::= \"a\" foo\n");
  EXPECT_EQ(grammar["error"]["span"]["begin"], 13);
}

TEST_F(PlaygroundTest, AnUnknownOptionIsSaid) {
  const Json wrong = Compile("json", "", {{"colour", 1}});
  EXPECT_EQ(wrong["status"], 400);
  EXPECT_THAT(wrong["error"]["message"], HasSubstr("grammar: "));
}

TEST_F(PlaygroundTest, AGoodTextHasMasksForEachPlace) {
  const Json place = Ask("place", "choice", R"(["red", "rose"])", {{"text", "ro"}});
  EXPECT_EQ(place["status"], 200) << place;
  EXPECT_EQ(place["accepted"], true);
  EXPECT_EQ(place["may_end"], false);
  ASSERT_EQ(place["window"].size(), 3U);
  EXPECT_EQ(place["window"][0]["allowed"], 1);
  EXPECT_EQ(place["window"][0]["token"]["text"], "r");
  EXPECT_EQ(place["window"][1]["allowed"], 2);
  EXPECT_EQ(place["here"]["form"], "allowed_ids");
  EXPECT_EQ(place["forced"], "se");
  EXPECT_EQ(place["likely"][0]["text"], "s");
}

TEST_F(PlaygroundTest, MasksThatAreKnownAreLeftOut) {
  const Json place = Ask("place", "choice", R"(["red", "rose"])", {{"text", "ros"}, {"known", 2}});
  ASSERT_EQ(place["window"].size(), 4U);
  EXPECT_FALSE(place["window"][0].contains("form"));
  EXPECT_EQ(place["window"][1]["offset"], 1);
  EXPECT_FALSE(place["window"][1].contains("form"));
  EXPECT_EQ(place["window"][2]["allowed"], 1);
  EXPECT_EQ(place["window"][3]["allowed"], 1);
  EXPECT_EQ(place["here"]["allowed"], 1);
}

// The stream of one answer serves the next; where it has ended, another one is opened.
TEST_F(PlaygroundTest, PlacesOfOneGrammarFollowEachOther) {
  for (const char* text : {"r", "re", "r", "ro", "rosa", "rose"}) {
    const Json place = Ask("place", "choice", R"(["red", "rose"])", {{"text", text}});
    EXPECT_EQ(place["status"], 200) << place;
    EXPECT_EQ(place["accepted"], std::string(text) != "rosa");
  }
}

TEST_F(PlaygroundTest, AnEarlierPlaceIsDescribedByItself) {
  const Json place = Ask("place", "choice", R"(["red", "rose"])", {{"text", "ro"}, {"at", 1}});
  EXPECT_EQ(place["at"], 1);
  EXPECT_EQ(place["likely"].size(), 2U);
  EXPECT_EQ(place["forced"], "");
}

TEST_F(PlaygroundTest, ARefusedTextSaysWhereAndByWhichRule) {
  const Json place = Ask("place", "json_schema", kOrder, {{"text", R"({"item": "tee)"}});
  EXPECT_EQ(place["accepted"], false);
  EXPECT_EQ(place["byte_offset"], 12);
  EXPECT_EQ(place["reason"]["where"], "in the string /item");
  const Json rule = place["reason"]["rules"][0];
  EXPECT_EQ(rule["place"], "/properties/item/enum");
  EXPECT_EQ(rule["span"]["line"], 2);
  const std::string source = kOrder;
  EXPECT_EQ(source.substr(rule["span"]["begin"], 15), R"(["tea", "cake"])");
}

TEST_F(PlaygroundTest, ARefusedTokenSaysHowFarItGoes) {
  const Json byte = Ask("why", "json_schema", kOrder, {{"text", R"({"item": ")"}, {"token", 'x'}});
  EXPECT_EQ(byte["message"], "the grammar takes 0 of its 1 bytes; \"x\" may not follow");
  EXPECT_EQ(byte["reason"]["rules"][0]["place"], "/properties/item/enum");
  const Json end = Ask("why", "json_schema", kOrder, {{"text", "{"}, {"token", 256}});
  EXPECT_EQ(end["message"], "the text may not end here");
  const Json none = Ask("why", "json_schema", kOrder, {{"text", "{"}, {"token", 99'999}});
  EXPECT_EQ(none["status"], 400);
}

TEST_F(PlaygroundTest, TheShortestEndingIsShortest) {
  const Json ending = Ask("ending", "json_schema", kOrder, {{"text", R"({"item": ")"}});
  EXPECT_EQ(ending["status"], 200) << ending;
  const std::string text = ending["text"];
  EXPECT_EQ(text.size(), ending["tokens"].size());
  EXPECT_EQ(text.size(), std::string(R"(tea","count":0})").size()) << text;
  const Json whole = Ask("place", "json_schema", kOrder, {{"text", R"({"item": ")" + text}});
  EXPECT_EQ(whole["may_end"], true);
  EXPECT_EQ(Ask("ending", "choice", R"(["a"])", {{"text", "a"}})["text"], "");
  EXPECT_EQ(Ask("ending", "choice", R"(["a"])", {{"text", "b"}})["status"], 400);
  EXPECT_EQ(Ask("ending", "regex", "a{300}", {{"text", ""}})["status"], 404);
}

TEST_F(PlaygroundTest, TokensAreFoundByWhatTheyContain) {
  const Json place = Ask("place", "choice", R"(["ab"])", {{"text", ""}, {"find", "b"}});
  EXPECT_EQ(place["found_count"], 1);
  EXPECT_EQ(place["found"][0]["id"], 'b');
  EXPECT_EQ(place["found"][0]["refused"], true);
}

TEST_F(PlaygroundTest, ALongTextHasAWindowOfMasks) {
  const std::string text(5'000, 'a');
  const Json place = Ask("place", "regex", "a*", {{"text", text}, {"limit", 1'000'000}});
  EXPECT_EQ(place["status"], 200) << place;
  EXPECT_EQ(place["count"], 5'000);
  EXPECT_EQ(place["first"], 5'000 - kWindow);
  EXPECT_EQ(place["window"].size(), static_cast<std::size_t>(kWindow) + 1);
  EXPECT_LE(place["likely"].size(), static_cast<std::size_t>(kMostShown));
}

TEST_F(PlaygroundTest, BytesThatAreNoTextCannotBreakTheAnswer) {
  const Json place = Ask("place", "regex", "[^a]*", {{"text", "é"}, {"limit", 300}});
  EXPECT_EQ(place["accepted"], true);
  EXPECT_EQ(place["window"][0]["token"]["text"], "\\xc3");
  EXPECT_EQ(place["window"][0]["token"]["bytes"], true);
}

TEST_F(PlaygroundTest, AGrammarThatTheServerHasForgottenIsNotFound) {
  const Json place = Call("/api/place", {{"grammar_id", std::string(64, '0')}, {"text", ""}});
  EXPECT_EQ(place["status"], 404);
  EXPECT_EQ(place["error"]["code"], "NOT_FOUND");
}

TEST_F(PlaygroundTest, TheServersMetricsAreHandedOn) {
  const HttpResponse page = answers_->Answer({"GET", "/api/metrics"});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("maskd_build_info"));
  Answers without({.client = client_, .version = "", .server = "", .metrics = nullptr});
  EXPECT_EQ(without.Answer({"GET", "/api/metrics"}).status, 404);
}

}  // namespace
}  // namespace maskd::playground
