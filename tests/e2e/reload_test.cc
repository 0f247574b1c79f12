// What changes while a server runs, and what is refused whole.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/running_server.h"
#include "tests/e2e/server_program.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReloadTest : public testing::Test {
 protected:
  ReloadTest() : folder_(std::filesystem::path(SocketPath("x")).parent_path()) {}

  void Start(const std::string& config) {
    Write("maskd.conf", config);
    program_ = std::make_unique<ServerProgram>(
        ServerProgram::Options{.flags = {"--config=" + (folder_ / "maskd.conf").string()}});
    channel_ = ConnectTo(program_->address());
    ASSERT_TRUE(IsLive(channel_));
  }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  // Waits for the `count`-th line of that event; gives the log.
  std::string Await(const std::string& event, int count = 1) const {
    const absl::Time patience = absl::Now() + absl::Seconds(60);
    std::string log;
    while (absl::Now() < patience) {
      log = program_->Log();
      int found = 0;
      for (std::size_t at = 0; (at = log.find(absl::StrCat(" ", event, " "), at)) != log.npos; ++at)
        ++found;
      if (found >= count) return log;
      absl::SleepFor(absl::Milliseconds(5));
    }
    ADD_FAILURE() << "no line " << event << " in\n" << log;
    return log;
  }

  void Reload(const std::string& config) const {
    Write("maskd.conf", config);
    program_->Signal(SIGHUP);
  }

  // Says hello and gives what comes of it.
  [[nodiscard]] grpc::StatusCode Greet(const std::string& tokenizer = "") const {
    TestStream stream(channel_);
    v1::DecodeRequest hello;
    hello.mutable_hello()->set_logits_width(300);
    hello.mutable_hello()->set_tokenizer(tokenizer);
    stream.Send(hello);
    return stream.Finish().error_code();
  }

  // A vocabulary of the single bytes, as a rank file.
  void WriteVocabulary(const std::string& name) const {
    std::string text;
    for (int byte = 0; byte < 256; ++byte) {
      const std::string one(1, static_cast<char>(byte));
      absl::StrAppend(&text, absl::Base64Escape(one), " ", byte, "\n");
    }
    Write(name, text);
  }

  [[nodiscard]] std::string Tokenizer(const std::string& name) const {
    return absl::StrCat("tokenizer: \"", name, "=", (folder_ / "v.tiktoken").string(),
                        ",format=tiktoken,special=<end>:256,stop=<end>\"\n");
  }

  const std::filesystem::path folder_;
  std::unique_ptr<ServerProgram> program_;
  std::shared_ptr<grpc::Channel> channel_;
};

std::string Tenant(int max_streams) {
  return absl::StrCat("tenant { name: \"us\" identity: \"*\" max_streams: ", max_streams, " }\n");
}

TEST_F(ReloadTest, LimitsChangeAndOpenStreamsGoOn) {
  Start(Tenant(1));
  TestStream first(channel_);
  first.Greet();
  EXPECT_EQ(Greet(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  Reload(Tenant(2));
  EXPECT_THAT(Await("reloaded"), Not(HasSubstr("reload_refused")));
  EXPECT_EQ(Greet(), grpc::StatusCode::OK);
  first.Run(OpeningStep(OpenOf(1, "choice", R"(["yes"])")));
  EXPECT_TRUE(first.Finish().ok());
}

TEST_F(ReloadTest, ABrokenFileIsRefusedWithLineAndKeyAndNothingChanges) {
  Start(Tenant(1));
  TestStream first(channel_);
  first.Greet();
  const std::string path = (folder_ / "maskd.conf").string();
  Reload(Tenant(5) + "max_rows: many\n");
  EXPECT_THAT(Await("reload_refused"), HasSubstr(absl::StrCat(path, ":2:11: ")));
  Reload(Tenant(5) + "\nmax_rows: 0\n");
  EXPECT_THAT(Await("reload_refused", 2), HasSubstr(absl::StrCat(path, ":3: max_rows: ")));
  Reload(Tenant(5) + "max_rows: 7\n");
  EXPECT_THAT(Await("reload_refused", 3),
              HasSubstr(absl::StrCat(path, ":2: max_rows: changes only with a restart")));
  Reload(Tenant(5) + "tokenizer: \"a=/nonexistent\"\n");
  EXPECT_THAT(Await("reload_refused", 4), HasSubstr("--tokenizer: a: "));
  Reload(Tenant(5) + "tokens: \"/nonexistent\"\n");
  EXPECT_THAT(Await("reload_refused", 5), HasSubstr("--tokens: /nonexistent: No such file"));
  Reload(Tenant(5) + "grammars: \"/nonexistent\"\n");
  EXPECT_THAT(Await("reload_refused", 6), HasSubstr("--grammars: /nonexistent: No such file"));
  EXPECT_EQ(Greet(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(first.Finish().ok());
  EXPECT_EQ(Greet(), grpc::StatusCode::OK);
}

TEST_F(ReloadTest, TokenizersComeAndGo) {
  WriteVocabulary("v.tiktoken");
  Start(Tokenizer("a"));
  EXPECT_EQ(Greet("b"), grpc::StatusCode::NOT_FOUND);
  TestStream old(channel_);
  v1::DecodeRequest hello;
  hello.mutable_hello()->set_logits_width(257);
  hello.mutable_hello()->set_tokenizer("a");
  ASSERT_TRUE(old.Send(hello));
  v1::DecodeResponse welcome;
  ASSERT_TRUE(old.Read(&welcome));
  Reload(Tokenizer("b"));
  EXPECT_THAT(Await("reloaded"), HasSubstr("tokenizer name=b"));
  EXPECT_EQ(Greet("b"), grpc::StatusCode::OK);
  EXPECT_EQ(Greet("a"), grpc::StatusCode::NOT_FOUND);
  const v1::StepReply reply = old.Run(OpeningStep(OpenOf(1, "choice", R"(["yes","no"])")));
  EXPECT_EQ(reply.rows(0).state(), v1::ROW_STATE_ACTIVE) << reply.ShortDebugString();
  EXPECT_TRUE(old.Finish().ok());
  Reload(Tokenizer("a") + Tokenizer("b"));
  Await("reloaded", 2);
  EXPECT_EQ(Greet("a"), grpc::StatusCode::OK);
}

TEST_F(ReloadTest, TokensAreReadAgainWithoutASignal) {
  Write("tokens", "red red-token-0123456789\n");
  Start(absl::StrCat("tokens: \"", (folder_ / "tokens").string(), "\"\n"));
  const auto ask = [this](const std::string& token) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
    v1::ListTokenizersResponse response;
    return v1::TokenizerService::NewStub(channel_)
        ->ListTokenizers(&context, v1::ListTokenizersRequest(), &response)
        .error_code();
  };
  EXPECT_EQ(ask("red-token-0123456789"), grpc::StatusCode::OK);
  EXPECT_EQ(ask("new-token-0123456789"), grpc::StatusCode::UNAUTHENTICATED);
  Write("tokens", "a line that is none");
  EXPECT_THAT(Await("tokens_refused"), HasSubstr("tokens:1: is not a name and a token"));
  EXPECT_EQ(ask("red-token-0123456789"), grpc::StatusCode::OK);
  Write("tokens", "red new-token-0123456789 # the second\n");
  const std::string log = Await("tokens_read");
  EXPECT_EQ(ask("new-token-0123456789"), grpc::StatusCode::OK);
  EXPECT_EQ(ask("red-token-0123456789"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(log, Not(HasSubstr("token-0123456789")));
}

TEST_F(ReloadTest, ATokenFileThatBecomesAPipeHoldsNothingUp) {
  Write("tokens", "red red-token-0123456789\n");
  Start(absl::StrCat("tokens: \"", (folder_ / "tokens").string(), "\"\n"));
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::filesystem::rename(folder_ / "pipe", folder_ / "tokens");
  EXPECT_THAT(Await("tokens_refused"), HasSubstr("tokens: is no file"));
  program_->Signal(SIGTERM);
  EXPECT_EQ(program_->Wait(), 0);
}

TEST_F(ReloadTest, GrammarsOfAFolderAreThereFromTheStartUnderTheIdsOfTheirTexts) {
  std::filesystem::create_directory(folder_ / "grammars");
  std::filesystem::create_directory(folder_ / "grammars" / "..data");
  Write("grammars/answer.choice", R"(["yes","no"])");
  Write("grammars/number.json_schema", R"({"type":"integer"})");
  Write("grammars/.hidden", "not a grammar");
  Start(absl::StrCat("grammars: \"", (folder_ / "grammars").string(),
                     "\"\ntenant { name: \"us\" identity: \"*\" inline_grammars: false }\n"));
  RunningServer other;
  for (const auto& [kind, text] : {std::pair("choice", R"(["yes","no"])"),
                                   std::pair("json_schema", R"({"type":"integer"})")}) {
    grpc::ClientContext context;
    v1::CompileRequest request;
    *request.mutable_grammar() = GrammarOf(kind, text);
    v1::CompileResponse compiled;
    ASSERT_TRUE(other.compiler()->Compile(&context, request, &compiled).ok());
    TestStream stream(channel_);
    stream.Greet();
    v1::OpenRow open;
    open.set_row(1);
    open.set_grammar_id(compiled.grammar_id());
    const v1::StepReply reply = stream.Run(OpeningStep(open));
    EXPECT_EQ(reply.rows(0).state(), v1::ROW_STATE_ACTIVE) << reply.ShortDebugString();
    const v1::StepReply text_refused = stream.Run(OpeningStep(OpenOf(2, kind, text)));
    EXPECT_THAT(text_refused.rows(0).error().message(), HasSubstr("by their ids alone"));
    EXPECT_THAT(program_->Log(), HasSubstr(compiled.grammar_id()));
    EXPECT_TRUE(stream.Finish().ok());
  }
}

TEST_F(ReloadTest, AFolderWithATextThatIsNoGrammarEndsTheStart) {
  std::filesystem::create_directory(folder_ / "grammars");
  Write("grammars/wrong.json_schema", R"({"type":)");
  Config config;
  config.listen = {absl::StrCat("unix:", SocketPath("m.sock"))};
  config.metrics_listen.clear();
  config.grammars = folder_ / "grammars";
  const auto started = Server::Start(config);
  EXPECT_TRUE(absl::IsInvalidArgument(started.status())) << started.status();
  EXPECT_THAT(std::string(started.status().message()), HasSubstr("wrong.json_schema: 1:"));
}

TEST_F(ReloadTest, TheAuditSaysWhoHadWhichGrammarAndNoText) {
  Start("audit: true\n");
  TestStream stream(channel_);
  stream.Greet();
  stream.Run(OpeningStep(OpenOf(1, "choice", R"(["secret-text"])")));
  EXPECT_TRUE(stream.Finish().ok());
  const std::string log = Await("audit");
  EXPECT_THAT(log,
              HasSubstr(absl::StrCat("caller=uid:", getuid(), " tenant=all what=open grammar=")));
  EXPECT_THAT(log, HasSubstr("kind=choice options=spelling:canonical verdict=OK"));
  EXPECT_THAT(log, Not(HasSubstr("secret-text")));
}

}  // namespace
}  // namespace maskd::service
