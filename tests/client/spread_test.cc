// Twelve streams over real servers, each on a thread of its own, which come to be spread evenly and
// whose masks are those of a stream that nothing happened to: at the start, when the servers are
// restarted one after the other, and when one more joins.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/client.h"
#include "client/cpp/failover/failover_stream.h"
#include "client/cpp/failover/load_asker.h"
#include "tests/client/server_program.h"

namespace maskd::client {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(20);
constexpr absl::Duration kStep = absl::Milliseconds(20);
constexpr std::uint32_t kWidth = 257;
constexpr RowId kRows = 4;
constexpr std::size_t kEngines = 12;
constexpr char kName[] = "dns:///maskd.test:7411";

struct Program : ServerProgram {
  explicit Program(const std::string& name)
      : ServerProgram(MASKD_BINARY, absl::StrCat("spread.", name), {"--heap_mib=8"}) {}
};

// The servers that a name has now.
class Names {
 public:
  void Set(std::vector<std::string> servers) {
    const absl::MutexLock lock(&mutex_);
    servers_ = std::move(servers);
  }
  Resolver resolver() {
    return [this](const std::string& address) -> absl::StatusOr<std::vector<std::string>> {
      if (address != kName) return std::vector<std::string>{address};
      const absl::MutexLock lock(&mutex_);
      return servers_;
    };
  }

 private:
  absl::Mutex mutex_;
  std::vector<std::string> servers_ ABSL_GUARDED_BY(mutex_);
};

v1::Grammar Schema() {
  v1::Grammar grammar;
  grammar.set_kind("json_schema");
  grammar.set_source(R"({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                         "required": ["a", "b"], "additionalProperties": false})");
  return grammar;
}

// An engine that steps until it is stopped, and compares each mask with that of `reference`, a
// server to which nothing happens.
class Engine {
 public:
  Engine(std::uint64_t seed, FailoverStream::Options options, std::string reference)
      : random_(seed),
        options_(std::move(options)),
        reference_(std::move(reference)),
        thread_([this] { Run(); }) {}
  ~Engine() { Stop(); }

  void Stop() {
    stops_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] bool is_open() const { return steps_ > 0; }
  [[nodiscard]] int steps() const { return steps_; }
  [[nodiscard]] int moves() const { return moves_; }
  // The first thing that went wrong. After Stop().
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  void Run() {
    auto stream = FailoverStream::Open(options_);
    if (!stream.ok()) return Fail("open", stream.status());
    const auto client = Client::Connect({.address = reference_});
    if (!client.ok()) return Fail("reference", client.status());
    auto unbroken = (*client)->OpenStream({.logits_width = kWidth});
    if (!unbroken.ok()) return Fail("reference", unbroken.status());
    for (RowId row = 1; row <= kRows; ++row) step_.Open(row, Schema());
    step_.WaitForCompile(kTimeout);
    while (!stops_ && fault_.empty()) {
      StepResult result;
      StepResult expected;
      absl::Status done = (*stream)->Submit(step_).status();
      if (done.ok()) done = (*stream)->Collect(kTimeout, result);
      if (!done.ok()) return Fail("step", done);
      done = (*unbroken)->Submit(step_).status();
      if (done.ok()) done = (*unbroken)->Collect(kTimeout, expected);
      if (!done.ok()) return Fail("reference", done);
      step_.Clear();
      Compare(result, expected);
      ++steps_;
      moves_ = (*stream)->moves();
      absl::SleepFor(kStep);
    }
  }

  void Fail(const std::string& what, const absl::Status& status) {
    fault_ = absl::StrCat(what, ": ", status.ToString());
  }

  void Compare(const StepResult& result, const StepResult& expected) {
    if (result.rows().size() != expected.rows().size()) return Fail("rows", {});
    for (std::size_t i = 0; i < result.rows().size(); ++i) {
      const RowResult& row = result.rows()[i];
      const RowResult& same = expected.rows()[i];
      if (row.row != same.row || row.state != same.state || row.token_count != same.token_count ||
          !std::ranges::equal(row.masks[0].words(), same.masks[0].words())) {
        return Fail(absl::StrCat("row ", row.row), row.error);
      }
      Advance(row);
    }
  }

  void Advance(const RowResult& row) {
    if (!row.has_mask()) {
      step_.Close(row.row).Open(row.row, Schema());
      step_.WaitForCompile(kTimeout);
      return;
    }
    const std::span<const std::int32_t> words = row.masks[0].words();
    std::vector<TokenId> allowed;
    for (TokenId id = 0; id < static_cast<TokenId>(kWidth); ++id)
      if ((static_cast<std::uint32_t>(words[id / 32]) >> (id % 32)) & 1U) allowed.push_back(id);
    const TokenId token = allowed[random_() % allowed.size()];
    step_.Take(row.row, {&token, 1});
  }

  std::mt19937_64 random_;
  FailoverStream::Options options_;
  std::string reference_;
  Step step_;
  std::atomic<bool> stops_ = false;
  std::atomic<int> steps_ = 0;
  std::atomic<int> moves_ = 0;
  std::string fault_;
  std::thread thread_;
};

class SpreadTest : public testing::Test {
 protected:
  void SetUp() override {
    for (Program* program : {&a_, &b_, &c_, &reference_}) ASSERT_TRUE(program->Start(kTimeout));
  }

  void Begin(FailoverStream::Options options) {
    options.stream.logits_width = kWidth;
    for (std::size_t i = 0; i < kEngines; ++i)
      engines_.push_back(std::make_unique<Engine>(i, options, reference_.address()));
  }

  // How many streams each has.
  std::vector<int> Counts(const std::vector<Program*>& programs) {
    std::vector<std::string> addresses;
    for (const Program* program : programs) addresses.push_back(program->address());
    const LoadAsker::Loads loads = asker_.Ask(std::move(addresses), std::nullopt, kTimeout);
    std::vector<int> counts;
    for (const std::optional<int>& count : loads.streams) counts.push_back(count.value_or(-1));
    return counts;
  }

  // Waits until each has as many as the others: it fails when that takes longer than any machine.
  void AwaitEven(const std::vector<Program*>& programs, const std::string& when) {
    const std::vector<int> even(programs.size(), static_cast<int>(kEngines / programs.size()));
    const SteadyTime begin = SteadyTime::Now();
    std::vector<int> counts;
    do {
      counts = Counts(programs);
      if (counts == even) break;
      absl::SleepFor(absl::Milliseconds(10));
    } while (SteadyTime::Now() < begin + absl::Minutes(1));
    ASSERT_EQ(counts, even) << when;
    RecordProperty(absl::StrCat("even_ms_", when),
                   static_cast<int>(absl::ToInt64Milliseconds(SteadyTime::Now() - begin)));
  }

  // SIGTERM one after the other, each back before the next.
  void RestartInTurn() {
    for (Program* program : {&a_, &b_, &c_}) {
      program->Signal(SIGTERM);
      ASSERT_EQ(program->Wait(), 0);
      ASSERT_TRUE(program->Start(kTimeout));
    }
  }

  void ExpectNothingWentWrong() {
    for (const auto& engine : engines_) {
      engine->Stop();
      EXPECT_EQ(engine->fault(), "");
      EXPECT_GT(engine->steps(), 1);
    }
  }

  Program a_{"a"};
  Program b_{"b"};
  Program c_{"c"};
  Program d_{"d"};
  Program reference_{"reference"};
  Names names_;
  LoadAsker asker_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

TEST_F(SpreadTest, ByNameThroughARestartOfAllAndWithOneMore) {
  names_.Set({a_.address(), b_.address(), c_.address()});
  Begin({.addresses = {kName}, .resolve = names_.resolver()});
  ASSERT_NO_FATAL_FAILURE(AwaitEven({&a_, &b_, &c_}, "start"));
  ASSERT_NO_FATAL_FAILURE(RestartInTurn());
  ASSERT_NO_FATAL_FAILURE(AwaitEven({&a_, &b_, &c_}, "restart"));
  ASSERT_TRUE(d_.Start(kTimeout));
  names_.Set({a_.address(), b_.address(), c_.address(), d_.address()});
  ASSERT_NO_FATAL_FAILURE(AwaitEven({&a_, &b_, &c_, &d_}, "joined"));
  ExpectNothingWentWrong();
}

// A server that is in the list and comes later is one that joins.
TEST_F(SpreadTest, ByListAndThroughSharedMemory) {
  Begin({.addresses = {a_.address(), b_.address(), c_.address(), d_.address()},
         .stream = {.shared_memory = true}});
  ASSERT_NO_FATAL_FAILURE(AwaitEven({&a_, &b_, &c_}, "start"));
  ASSERT_TRUE(d_.Start(kTimeout));
  ASSERT_NO_FATAL_FAILURE(AwaitEven({&a_, &b_, &c_, &d_}, "joined"));
  ASSERT_NO_FATAL_FAILURE(RestartInTurn());
  ASSERT_NO_FATAL_FAILURE(AwaitEven({&a_, &b_, &c_, &d_}, "restart"));
  ExpectNothingWentWrong();
}

}  // namespace
}  // namespace maskd::client
