// What engines notice when a server goes: several streams of many rows over two real servers, of
// which the one in use is killed, or told to stop, round after round.
//
//   failover_bench --maskd build/release/service/maskd --kills 20 --drains 10
//
// Kill     time from the signal to the collected reply with which each row goes on, on the other
//          server: connection, hello, the rows' grammars and tokens, the step. The killed server is
//          started anew for the next round, so that grammars are compiled there again;
//          --compiled has them compiled first.
// Drain    SIGTERM under load: steps that fail, and the slowest one.
// Checked  each reply is compared with that of one server, to which nothing happens, given the same
//          steps afterwards: state, token count and every word of the masks.
//
// Exit status: 0; 1 when a step failed, a reply differs or the 99th percentile is over --limit_ms.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "client/cpp/client.h"
#include "client/cpp/failover/failover_stream.h"
#include "tests/client/server_program.h"

ABSL_FLAG(std::string, maskd, "build/release/service/maskd", "The server's program.");
ABSL_FLAG(std::string, tokenizer, "", "As maskd's --tokenizer; empty for the embedded bytes.");
ABSL_FLAG(std::string, schemas, "examples/schemas", "Folder of the JSON Schemas.");
ABSL_FLAG(int, streams, 4, "Streams, a thread each.");
ABSL_FLAG(int, rows, 64, "Rows of a stream.");
ABSL_FLAG(int, kills, 20, "Rounds with SIGKILL.");
ABSL_FLAG(int, drains, 10, "Rounds with SIGTERM.");
ABSL_FLAG(int, steps, 30, "Steps of a stream before each signal, and after it.");
ABSL_FLAG(int, forward_ms, 5, "The pretended forward pass of a step.");
ABSL_FLAG(bool, compiled, false, "Whether the other server has the grammars already.");
ABSL_FLAG(bool, shared_memory, false, "Whether steps go through memory shared with the server.");
ABSL_FLAG(int, limit_ms, 250, "What 99 of 100 rows may take to go on.");

namespace maskd::client {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(60);

void Require(const absl::Status& status, absl::string_view what) {
  if (status.ok()) return;
  std::fprintf(stderr, "failover_bench: %s: %s\n", std::string(what).c_str(),
               status.ToString().c_str());
  std::exit(1);
}

std::vector<v1::Grammar> ReadGrammars(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  std::vector<v1::Grammar> grammars;
  for (const std::string& path : paths) {
    std::ifstream file(path);
    v1::Grammar& grammar = grammars.emplace_back();
    grammar.set_kind("json_schema");
    grammar.set_source(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return grammars;
}

// What one row was answered, for the comparison.
struct Answer {
  RowId row = 0;
  int state = 0;
  std::uint32_t token_count = 0;
  std::size_t masks = 0;
  bool operator==(const Answer&) const = default;
};

std::vector<Answer> AnswersOf(const StepResult& result) {
  std::vector<Answer> answers;
  for (const RowResult& row : result.rows()) {
    const std::span<const std::int32_t> words =
        row.has_mask() ? row.masks[0].words() : std::span<const std::int32_t>();
    answers.push_back({row.row, row.state, row.token_count,
                       absl::HashOf(absl::MakeConstSpan(words.data(), words.size()))});
  }
  return answers;
}

// One stream: its rows, what it said, what it was answered.
class Engine {
 public:
  Engine(int number, std::vector<v1::Grammar> grammars, std::uint32_t width,
         std::vector<std::string> addresses)
      : grammars_(std::move(grammars)), random_(static_cast<std::uint64_t>(number)) {
    FailoverStream::Options options;
    options.addresses = std::move(addresses);
    options.in_order = true;  // the server that is killed is the one in use
    options.stream.logits_width = width;
    options.stream.shared_memory = absl::GetFlag(FLAGS_shared_memory);
    auto stream = FailoverStream::Open(std::move(options));
    Require(stream.status(), "open");
    stream_ = *std::move(stream);
    for (RowId row = 1; row <= static_cast<RowId>(absl::GetFlag(FLAGS_rows)); ++row) Open(row);
    step_.WaitForCompile(kTimeout);
    RunStep();
  }

  void Run(int steps) {
    for (int i = 0; i < steps; ++i) RunStep();
  }

  // The first reply that another server gave since Watch(); absl::InfinitePast() when none did.
  [[nodiscard]] absl::Time moved_at() const { return moved_at_; }
  void Watch() {
    moved_at_ = absl::InfinitePast();
    slowest_ = absl::ZeroDuration();
  }
  [[nodiscard]] absl::Duration slowest() const { return slowest_; }
  [[nodiscard]] std::size_t step_count() const { return said_.size(); }

  // How many steps one server answers otherwise.
  int CompareWith(const std::string& address, std::uint32_t width) {
    const auto client = Client::Connect({.address = address, .connect_timeout = kTimeout});
    Require(client.status(), "connect");
    auto stream = (*client)->OpenStream({.logits_width = width});
    Require(stream.status(), "open");
    int different = 0;
    StepResult result;
    for (std::size_t i = 0; i < said_.size(); ++i) {
      said_[i].WaitForCompile(kTimeout);
      Require((*stream)->Submit(said_[i]).status(), "submit");
      Require((*stream)->Collect(kTimeout, result), "collect");
      different += AnswersOf(result) == answers_[i] ? 0 : 1;
    }
    return different;
  }

 private:
  void Open(RowId row) { step_.Open(row, grammars_[row % grammars_.size()]); }

  void RunStep() {
    const absl::Time begin = absl::Now();
    const int moves = stream_->moves();
    said_.push_back(step_);
    absl::Status status = stream_->Submit(step_).status();
    absl::SleepFor(absl::Milliseconds(absl::GetFlag(FLAGS_forward_ms)));
    if (status.ok()) status = stream_->Collect(kTimeout, result_);
    Require(status, "step");
    slowest_ = std::max(slowest_, absl::Now() - begin);
    if (stream_->moves() > moves) moved_at_ = absl::Now();
    answers_.push_back(AnswersOf(result_));
    step_.Clear();
    for (const RowResult& row : result_.rows()) Advance(row);
  }

  void Advance(const RowResult& row) {
    if (!row.has_mask()) {
      step_.Close(row.row);
      Open(row.row);
      step_.WaitForCompile(kTimeout);
      return;
    }
    const TokenId token = AnyAllowed(row.masks[0].words());
    step_.Take(row.row, {&token, 1});
  }

  TokenId AnyAllowed(std::span<const std::int32_t> words) {
    std::size_t word = random_() % words.size();
    while (words[word] == 0) word = (word + 1) % words.size();
    int bit = static_cast<int>(random_() % 32);
    while (((static_cast<std::uint32_t>(words[word]) >> bit) & 1U) == 0) bit = (bit + 1) % 32;
    return static_cast<TokenId>(word * 32) + bit;
  }

  std::vector<v1::Grammar> grammars_;
  std::mt19937_64 random_;
  std::unique_ptr<FailoverStream> stream_;
  Step step_;
  StepResult result_;
  std::vector<Step> said_;
  std::vector<std::vector<Answer>> answers_;
  absl::Time moved_at_ = absl::InfinitePast();
  absl::Duration slowest_;
};

// The servers in turn, and the engines over them.
class Bench {
 public:
  Bench() {
    for (ServerProgram* server : {&first_, &second_})
      if (!server->Start(kTimeout)) Require(absl::UnavailableError("does not serve"), "maskd");
    const auto client = Client::Connect({.address = first_.address(), .connect_timeout = kTimeout});
    Require(client.status(), "connect");
    const auto tokens = (*client)->ListTokens("");
    Require(tokens.status(), "tokens");
    width_ = static_cast<std::uint32_t>(tokens->size());
    for (int i = 0; i < absl::GetFlag(FLAGS_streams); ++i) {
      engines_.push_back(std::make_unique<Engine>(
          i, grammars_, width_, std::vector<std::string>{first_.address(), second_.address()}));
    }
  }

  // Adds the times of all rows, in milliseconds.
  void Kill(std::vector<double>* times) {
    if (absl::GetFlag(FLAGS_compiled)) Compile(*spare_);
    absl::Time killed;
    RunRound([&] {
      killed = absl::Now();
      used_->Signal(SIGKILL);
    });
    for (const auto& engine : engines_) {
      if (engine->moved_at() < killed) Require(absl::InternalError("did not move"), "stream");
      const double ms = absl::ToDoubleMilliseconds(engine->moved_at() - killed);
      times->insert(times->end(), static_cast<std::size_t>(absl::GetFlag(FLAGS_rows)), ms);
    }
    Restart();
  }

  // The slowest step, in milliseconds.
  double Drain() {
    RunRound([&] { used_->Signal(SIGTERM); });
    for (const auto& engine : engines_) engine->Run(1);
    double slowest = 0;
    for (const auto& engine : engines_)
      slowest = std::max(slowest, absl::ToDoubleMilliseconds(engine->slowest()));
    if (used_->Wait() != 0) Require(absl::InternalError("did not end well"), "drained server");
    Restart();
    return slowest;
  }

  int Different() {
    int different = 0;
    for (const auto& engine : engines_) different += engine->CompareWith(used_->address(), width_);
    return different;
  }
  [[nodiscard]] std::size_t StepCount() const {
    std::size_t count = 0;
    for (const auto& engine : engines_) count += engine->step_count();
    return count;
  }

 private:
  // All engines step; the signal comes at a random moment of theirs.
  template <typename Send>
  void RunRound(const Send& send) {
    const int steps = absl::GetFlag(FLAGS_steps);
    std::vector<std::thread> threads;
    for (const auto& engine : engines_) {
      engine->Watch();
      threads.emplace_back([&engine, steps] { engine->Run(2 * steps); });
    }
    absl::SleepFor(absl::Milliseconds(steps * absl::GetFlag(FLAGS_forward_ms) / 2 +
                                      static_cast<int>(random_() % 50)));
    send();
    for (std::thread& thread : threads) thread.join();
  }

  // The server that is gone comes back, as the one to move to.
  void Restart() {
    std::swap(used_, spare_);
    if (!spare_->Start(kTimeout)) Require(absl::UnavailableError("does not serve"), "maskd");
  }

  void Compile(const ServerProgram& server) {
    const auto client = Client::Connect({.address = server.address(), .connect_timeout = kTimeout});
    Require(client.status(), "connect");
    for (const v1::Grammar& grammar : grammars_) {
      v1::CompileRequest request;
      *request.mutable_grammar() = grammar;
      Require((*client)->Compile(request).status(), "compile");
    }
  }

  static std::vector<std::string> Flags() {
    const std::string tokenizer = absl::GetFlag(FLAGS_tokenizer);
    return tokenizer.empty() ? std::vector<std::string>()
                             : std::vector<std::string>{absl::StrCat("--tokenizer=", tokenizer)};
  }

  const std::vector<v1::Grammar> grammars_ = ReadGrammars(absl::GetFlag(FLAGS_schemas));
  ServerProgram first_{absl::GetFlag(FLAGS_maskd), "a", Flags()};
  ServerProgram second_{absl::GetFlag(FLAGS_maskd), "b", Flags()};
  ServerProgram* used_ = &first_;
  ServerProgram* spare_ = &second_;
  std::uint32_t width_ = 0;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::mt19937_64 random_{1};
};

double Percentile(std::vector<double> samples, int percent) {
  std::ranges::sort(samples);
  return samples[(samples.size() - 1) * static_cast<std::size_t>(percent) / 100];
}

int Main() {
  Bench bench;
  std::vector<double> times;
  for (int i = 0; i < absl::GetFlag(FLAGS_kills); ++i) bench.Kill(&times);
  bool good = true;
  if (!times.empty()) {
    const double p99 = Percentile(times, 99);
    std::printf("kill -9, %d rounds, %zu rows moved: p50 %.1f ms, p99 %.1f ms, max %.1f ms\n",
                absl::GetFlag(FLAGS_kills), times.size(), Percentile(times, 50), p99,
                Percentile(times, 100));
    good = p99 <= absl::GetFlag(FLAGS_limit_ms);
  }
  double slowest = 0;
  for (int i = 0; i < absl::GetFlag(FLAGS_drains); ++i) slowest = std::max(slowest, bench.Drain());
  std::printf("SIGTERM, %d rounds: 0 failed steps, slowest step %.1f ms\n",
              absl::GetFlag(FLAGS_drains), slowest);
  const int different = bench.Different();
  std::printf("steps: %zu, of which another server answers otherwise: %d\n", bench.StepCount(),
              different);
  return good && different == 0 ? 0 : 1;
}

}  // namespace
}  // namespace maskd::client

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("times rows that go on when their server is killed or drained");
  absl::ParseCommandLine(argc, argv);
  return maskd::client::Main();
}
