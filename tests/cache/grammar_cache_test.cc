#include "cache/grammar_cache.h"

#include <atomic>
#include <latch>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "cache/load_error.h"
#include "metrics/names.h"
#include "tests/cache/fake_grammar.h"

namespace maskd::cache {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kLong{30};

GrammarCache::Options TestOptions() {
  GrammarCache::Options options;
  options.compile_threads = 2;
  options.held_bytes = [](const GrammarPtr& grammar) { return NumberOf(grammar); };
  options.is_lasting = [](const absl::Status& error) {
    return absl::IsInvalidArgument(error) || absl::IsUnimplemented(error);
  };
  return options;
}

CompileWork Gives(int number) {
  return [number](const std::atomic<bool>&) -> CompileResult { return FakeGrammar(number); };
}

// Runs until it is cancelled, and says so.
CompileWork RunsUntilCancelled(std::latch* begun, std::latch* cancelled_seen) {
  return [=](const std::atomic<bool>& cancelled) -> CompileResult {
    begun->count_down();
    while (!cancelled) std::this_thread::yield();
    cancelled_seen->count_down();
    return absl::CancelledError("as asked");
  };
}

// Keeps a compile thread of `cache` at work until it leaves.
class BusyThread {
 public:
  explicit BusyThread(GrammarCache* cache)
      : ticket_(cache->Get("busy", RunsUntilCancelled(&begun_, &cancelled_seen_))) {
    begun_.wait();
  }
  void Leave() { ticket_ = absl::CancelledError("left"); }

 private:
  std::latch begun_{1};
  std::latch cancelled_seen_{1};
  absl::StatusOr<Ticket> ticket_;
};

// Moves when it is told to. A wait ends with a notification alone.
struct StoppedClock : Clock {
  TimePoint Now() override { return TimePoint(seconds(now_s)); }
  void WaitUntil(CondVar* changed, Mutex* mutex, TimePoint /*until*/) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    changed->Wait(mutex);
  }
  std::atomic<std::int64_t> now_s = 0;
};

CompileResult Await(const absl::StatusOr<Ticket>& ticket) {
  if (!ticket.ok()) return ticket.status();
  return ticket->WaitUntil(Clock::Steady()->Now() + kLong)
             ? ticket->result()
             : absl::DeadlineExceededError("in the test");
}

TEST(GrammarCacheTest, CompilesOnceThenFinds) {
  GrammarCache cache(TestOptions(), nullptr);
  EXPECT_EQ(cache.Find("a"), nullptr);
  const absl::StatusOr<Ticket> first = cache.Get("a", Gives(7));
  ASSERT_TRUE(Await(first).ok());
  EXPECT_EQ(first->origin(), Ticket::Origin::kStarted);
  const absl::StatusOr<Ticket> second = cache.Get("a", Gives(8));
  ASSERT_TRUE(second->ready());
  EXPECT_EQ(second->origin(), Ticket::Origin::kKnown);
  EXPECT_EQ(NumberOf(*second->result()), 7);
  EXPECT_EQ(NumberOf(cache.Find("a")), 7);
}

TEST(GrammarCacheTest, AThousandCallersOneCompile) {
  GrammarCache cache(TestOptions(), nullptr);
  std::atomic<int> compiles = 0;
  std::atomic<int> right = 0;
  std::latch all_there(1000);
  const CompileWork work = [&](const std::atomic<bool>&) -> CompileResult {
    ++compiles;
    all_there.wait();
    return FakeGrammar(3);
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 1000; ++i) {
    callers.emplace_back([&] {
      const absl::StatusOr<Ticket> ticket = cache.Get("a", work);
      all_there.count_down();
      const CompileResult result = Await(ticket);
      right += result.ok() && NumberOf(*result) == 3;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(compiles, 1);
  EXPECT_EQ(right, 1000);
}

// A caller that asked to be told needs no thread, and hears of its compile's end once.
TEST(GrammarCacheTest, TellsWhoAskedOnceThereIsAResult) {
  GrammarCache cache(TestOptions(), nullptr);
  std::latch goes_on(1);
  const CompileWork work = [&](const std::atomic<bool>&) -> CompileResult {
    goes_on.wait();
    return FakeGrammar(3);
  };
  constexpr int kCallers = 100;
  std::vector<absl::StatusOr<Ticket>> tickets;
  std::vector<int> told(kCallers);
  std::latch all_told(kCallers);
  for (int i = 0; i < kCallers; ++i) tickets.push_back(cache.Get("a", work));
  for (std::size_t i = 0; i < kCallers; ++i) {
    tickets[i]->WhenReady([&, i] {
      told[i] += tickets[i]->ready() ? 1 : 100;
      all_told.count_down();
    });
  }
  goes_on.count_down();
  all_told.wait();
  EXPECT_EQ(told, std::vector<int>(kCallers, 1));
  int here = 0;
  tickets[0]->WhenReady([&] { ++here; });
  EXPECT_EQ(here, 1) << "it is there";
  cache.Get("a", work)->WhenReady([&] { ++here; });
  EXPECT_EQ(here, 2) << "it was known";
}

TEST(GrammarCacheTest, WhoLeavesIsToldNothing) {
  GrammarCache cache(TestOptions(), nullptr);
  std::latch goes_on(1);
  std::latch told(1);
  const CompileWork work = [&](const std::atomic<bool>&) -> CompileResult {
    goes_on.wait();
    return FakeGrammar(3);
  };
  std::optional<Ticket> stays(*cache.Get("a", work));
  // What is told holds the ticket that it is told of, and another one.
  auto leaves = std::make_shared<Ticket>(*cache.Get("a", work));
  auto held = std::make_shared<Ticket>(*cache.Get("a", work));
  leaves->WhenReady([held] { FAIL() << "it has left"; });
  held.reset();
  leaves.reset();
  stays->WhenReady([&] {
    stays.reset();
    told.count_down();
  });
  goes_on.count_down();
  told.wait();
  EXPECT_FALSE(stays.has_value());
}

TEST(GrammarCacheTest, ACompileThatNobodyWaitsForTellsNobody) {
  GrammarCache cache(TestOptions(), nullptr);
  std::latch begun(1);
  std::latch cancelled_seen(1);
  {
    absl::StatusOr<Ticket> ticket = cache.Get("a", RunsUntilCancelled(&begun, &cancelled_seen));
    ticket->WhenReady([] { FAIL() << "it has left"; });
    begun.wait();
  }
  cancelled_seen.wait();
}

TEST(GrammarCacheTest, TheFirstCallersLeavingDoesNotFailTheRest) {
  GrammarCache cache(TestOptions(), nullptr);
  std::latch begun(1);
  std::latch release(1);
  absl::StatusOr<Ticket> leader = cache.Get("a", [&](const std::atomic<bool>& c) -> CompileResult {
    begun.count_down();
    release.wait();
    return c ? CompileResult(absl::CancelledError("cancelled")) : FakeGrammar(1);
  });
  const absl::StatusOr<Ticket> follower = cache.Get("a", Gives(99));
  EXPECT_EQ(follower->origin(), Ticket::Origin::kJoined);
  begun.wait();
  leader = absl::CancelledError("left");
  release.count_down();
  const CompileResult result = Await(follower);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(NumberOf(*result), 1);
}

TEST(GrammarCacheTest, TheLastCallersLeavingCancels) {
  GrammarCache cache(TestOptions(), nullptr);
  std::latch begun(1);
  std::latch cancelled_seen(1);
  {
    const auto one = cache.Get("a", RunsUntilCancelled(&begun, &cancelled_seen));
    const auto two = cache.Get("a", Gives(99));
    begun.wait();
    EXPECT_FALSE(one->ready());
  }
  cancelled_seen.wait();
  const CompileResult again = Await(cache.Get("a", Gives(5)));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(NumberOf(*again), 5);
}

TEST(GrammarCacheTest, AQueuedCompileThatNobodyWaitsForNeverBegins) {
  GrammarCache::Options options = TestOptions();
  options.compile_threads = 1;
  options.compile_queue = 1;
  GrammarCache cache(options, nullptr);
  BusyThread busy(&cache);
  std::atomic<bool> ran = false;
  {
    const auto queued = cache.Get("queued", [&](const std::atomic<bool>&) -> CompileResult {
      ran = true;
      return FakeGrammar(1);
    });
    ASSERT_TRUE(queued.ok());
  }
  const auto in_its_place = cache.Get("other", Gives(2));
  ASSERT_TRUE(in_its_place.ok()) << in_its_place.status();
  busy.Leave();
  EXPECT_TRUE(Await(in_its_place).ok());
  EXPECT_FALSE(ran);
}

TEST(GrammarCacheTest, RefusesOverTheQueueWithARetryHint) {
  GrammarCache::Options options = TestOptions();
  options.compile_threads = 1;
  options.compile_queue = 1;
  GrammarCache cache(options, nullptr);
  BusyThread busy(&cache);
  const auto queued = cache.Get("queued", Gives(1));
  const auto refused = cache.Get("refused", Gives(1));
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
  EXPECT_TRUE(RetryAfterMs(refused.status()).has_value());
  EXPECT_TRUE(cache.Get("queued", Gives(1)).ok()) << "joining needs no place in the queue";
  busy.Leave();
}

TEST(GrammarCacheTest, AShortCompileDoesNotWaitForTheThreadsOfLongOnes) {
  GrammarCache::Options options = TestOptions();
  options.compile_threads = 1;
  GrammarCache cache(options, nullptr);
  BusyThread busy(&cache);
  const auto queued = cache.Get("queued", Gives(1));
  EXPECT_TRUE(Await(cache.Get("short", Gives(2), nullptr, {.is_short = true})).ok());
  EXPECT_FALSE(queued->ready());
  busy.Leave();
  EXPECT_TRUE(Await(queued).ok());
}

double QueueGauge(const metrics::Metrics& metrics) {
  for (const auto& family : metrics.registry()->Collect())
    if (family.name == metrics::kCompileQueue.name) return family.metric.at(0).gauge.value;
  return -1;
}

TEST(GrammarCacheTest, TheQueueGaugeComesBackToZero) {
  metrics::Metrics metrics("test");
  GrammarCache::Options options = TestOptions();
  options.compile_threads = 1;
  options.compile_queue = 4;
  GrammarCache cache(options, &metrics);
  BusyThread busy(&cache);
  EXPECT_EQ(QueueGauge(metrics), 0) << "what runs does not wait";
  std::vector<absl::StatusOr<Ticket>> queued;
  for (const char* id : {"a", "b", "c", "d"}) queued.push_back(cache.Get(id, Gives(1)));
  const auto joined = cache.Get("a", Gives(1));
  EXPECT_FALSE(cache.Get("refused", Gives(1)).ok());
  EXPECT_EQ(QueueGauge(metrics), 4);
  queued.pop_back();
  EXPECT_EQ(QueueGauge(metrics), 3) << "withdrawn";
  busy.Leave();
  for (const absl::StatusOr<Ticket>& ticket : queued) EXPECT_TRUE(Await(ticket).ok());
  EXPECT_EQ(QueueGauge(metrics), 0);
}

TEST(GrammarCacheTest, EachCallerWaitsUntilItsOwnDeadline) {
  GrammarCache cache(TestOptions(), nullptr);
  std::latch release(1);
  const CompileWork work = [&](const std::atomic<bool>&) -> CompileResult {
    release.wait();
    return FakeGrammar(1);
  };
  const auto patient = cache.Get("a", work);
  const auto hasty = cache.Get("a", work);
  const Clock::TimePoint before = Clock::Steady()->Now();
  EXPECT_FALSE(hasty->WaitUntil(before + milliseconds(20)));
  EXPECT_GE(Clock::Steady()->Now(), before + milliseconds(20));
  release.count_down();
  EXPECT_TRUE(Await(patient).ok());
}

struct ErrorCase {
  const char* name;
  absl::Status error;
  int compiles;
};

class ErrorCacheTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(ErrorCacheTest, KeepsOnlyErrorsThatLast) {
  GrammarCache cache(TestOptions(), nullptr);
  std::atomic<int> compiles = 0;
  const CompileWork work = [&](const std::atomic<bool>&) -> CompileResult {
    ++compiles;
    return GetParam().error;
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Await(cache.Get("a", work)).status(), GetParam().error);
  EXPECT_EQ(compiles, GetParam().compiles);
}

INSTANTIATE_TEST_SUITE_P(Codes, ErrorCacheTest,
                         testing::ValuesIn(std::vector<ErrorCase>{
                             {"InvalidArgument", absl::InvalidArgumentError("/a: wrong"), 1},
                             {"Unimplemented", absl::UnimplementedError("/a: not"), 1},
                             {"Cancelled", absl::CancelledError("left"), 3},
                             {"Deadline", absl::DeadlineExceededError("late"), 3},
                             {"Load", absl::ResourceExhaustedError("busy"), 3},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(GrammarCacheTest, ForgetsAnErrorAfterItsTime) {
  GrammarCache::Options options = TestOptions();
  StoppedClock clock;
  options.clock = &clock;
  GrammarCache cache(options, nullptr);
  std::atomic<int> compiles = 0;
  const CompileWork work = [&](const std::atomic<bool>&) -> CompileResult {
    ++compiles;
    return absl::InvalidArgumentError("bad");
  };
  EXPECT_FALSE(Await(cache.Get("a", work)).ok());
  clock.now_s = 59;
  EXPECT_FALSE(Await(cache.Get("a", work)).ok());
  EXPECT_EQ(compiles, 1);
  clock.now_s = 60;
  EXPECT_FALSE(Await(cache.Get("a", work)).ok());
  EXPECT_EQ(compiles, 2);
}

TEST(GrammarCacheTest, ACompileWithoutMemoryIsAnErrorOfItsCallers) {
  GrammarCache cache(TestOptions(), nullptr);
  const CompileResult refused = Await(
      cache.Get("x", [](const std::atomic<bool>&) -> CompileResult { throw std::bad_alloc(); }));
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
  EXPECT_TRUE(RetryAfterMs(refused.status()).has_value());
  EXPECT_TRUE(Await(cache.Get("x", Gives(1))).ok()) << "it is tried again";
}

TEST(GrammarCacheTest, ShrinksByWhatWasUsedLeastRecently) {
  GrammarCache cache(TestOptions(), nullptr);
  for (const int bytes : {100, 30, 50})
    EXPECT_TRUE(Await(cache.Get(absl::StrCat(bytes), Gives(bytes))).ok());
  cache.Find("100");
  cache.Shrink(20);
  EXPECT_EQ(cache.held_bytes(), 150);
  EXPECT_EQ(cache.Find("30"), nullptr);
  cache.Shrink(1'000);
  EXPECT_EQ(cache.size(), 1U) << "the most recently used one stays";
}

TEST(GrammarCacheTest, AGrammarInUseLivesOnAfterEviction) {
  GrammarCache::Options options = TestOptions();
  options.capacity_bytes = 10;
  options.compile_threads = 0;  // one of its own may still hold a result that it has handed out
  GrammarCache cache(options, nullptr);
  const auto compile = [&cache](const char* key, int bytes) -> CompileResult {
    const absl::StatusOr<Ticket> ticket = cache.Get(key, Gives(bytes));
    cache.TakeCompile()();
    return ticket->result();
  };
  const CompileResult in_use = compile("a", 8);
  const CompileResult other = compile("b", 9);
  ASSERT_TRUE(in_use.ok() && other.ok());
  EXPECT_EQ(cache.Find("a"), nullptr);
  EXPECT_EQ(NumberOf(*in_use), 8);
  EXPECT_EQ(in_use->use_count(), 1) << "the cache still holds it";
  EXPECT_EQ(cache.held_bytes(), 9);
}

TEST(GrammarCacheTest, MeasuresAgainOnUse) {
  GrammarCache::Options options = TestOptions();
  std::atomic<std::int64_t> grown = 0;
  options.held_bytes = [&](const GrammarPtr& grammar) { return NumberOf(grammar) + grown; };
  options.capacity_bytes = 50;
  GrammarCache cache(options, nullptr);
  ASSERT_TRUE(Await(cache.Get("a", Gives(10))).ok());
  ASSERT_TRUE(Await(cache.Get("b", Gives(10))).ok());
  EXPECT_EQ(cache.held_bytes(), 20);
  grown = 35;
  EXPECT_NE(cache.Find("b"), nullptr);
  EXPECT_EQ(cache.held_bytes(), 45) << "b has 45, a was dropped for it";
  EXPECT_EQ(cache.size(), 1U);
}

// Callers of few keys that find, wait, leave early and evict: for ThreadSanitizer above all.
void UseAtRandom(GrammarCache* cache, unsigned seed, std::atomic<int>* answers) {
  for (int i = 0; i < 300; ++i) {
    seed = seed * 1664525U + 1013904223U;
    const int key = static_cast<int>(seed >> 16) % 8;
    const auto ticket = cache->Get(absl::StrCat("key", key), Gives(key));
    if (!ticket.ok() || seed % 4 == 0) continue;  // leaves at once
    const CompileResult result = Await(ticket);
    *answers += result.ok() && NumberOf(*result) == key;
  }
}

TEST(GrammarCacheTest, StandsUpToManyThreads) {
  GrammarCache::Options options = TestOptions();
  options.capacity_bytes = 12;
  GrammarCache cache(options, nullptr);
  std::atomic<int> answers = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back([&, t] { UseAtRandom(&cache, t, &answers); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(answers, 8 * 300 / 2);
  EXPECT_LE(cache.held_bytes(), 12);
}

}  // namespace
}  // namespace maskd::cache
