// Threads of calls: every job once, and none behind those that take long.
#include "service/callers/call_threads.h"

#include <atomic>
#include <cstddef>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace maskd::service {
namespace {

TEST(CallThreadsTest, EveryJobRunsOnce) {
  constexpr int kCallers = 4;
  constexpr int kJobs = 2'000;
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(kCallers) * kJobs);
  std::latch all_run(kCallers * kJobs);
  CallThreads threads(2);
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (std::size_t job = 0; job < kJobs; ++job) {
        threads.Run(absl::StrCat(caller), [&, at = caller * kJobs + job] {
          ++runs[at];
          all_run.count_down();
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  all_run.wait();
  for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1);
}

// Each waits for the one behind it, so all run at once in the end, beside one at work.
TEST(CallThreadsTest, WhoWorksLongIsInNobodysWay) {
  constexpr std::size_t kJobs = 10;
  std::vector<std::unique_ptr<std::latch>> begun;
  for (std::size_t i = 0; i <= kJobs; ++i) begun.push_back(std::make_unique<std::latch>(1));
  CallThreads threads(1);
  for (std::size_t i = 0; i < kJobs; ++i) {
    threads.Run("a", [&begun, i] {
      begun[i]->count_down();
      begun[i + 1]->wait();
    });
  }
  threads.Run("a", [&begun] { begun[kJobs]->count_down(); });
  begun[kJobs]->wait();
}

}  // namespace
}  // namespace maskd::service
