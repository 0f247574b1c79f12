#include "client/apply/row_pool.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "tests/service/base/no_threads.h"

namespace maskd::client {
namespace {

// How often each index was called.
std::vector<int> Calls(RowPool& pool, std::int64_t count) {
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
  pool.ForEach(count, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
  return {calls.begin(), calls.end()};
}

TEST(RowPool, EachRowOnceWhateverTheThreads) {
  for (const int threads : {1, 2, 3, 8}) {
    RowPool pool(threads);
    for (const std::int64_t count : {0, 1, 2, 7, 500, 3, 1}) {
      EXPECT_EQ(Calls(pool, count), std::vector<int>(static_cast<std::size_t>(count), 1))
          << threads << " threads, " << count << " rows";
    }
  }
}

TEST(RowPool, ManyAskAtOnce) {
  RowPool pool(3);
  std::vector<std::thread> asking;
  for (int i = 0; i < 4; ++i) {
    asking.emplace_back([&pool] {
      for (std::int64_t count = 0; count < 200; ++count)
        ASSERT_EQ(Calls(pool, count), std::vector<int>(static_cast<std::size_t>(count), 1));
    });
  }
  for (std::thread& thread : asking) thread.join();
}

TEST(RowPool, WithoutThreadsTheCallerDoesAllRows) {
  std::optional<RowPool> pool;
  {
    const service::NoThreads none;
    pool.emplace(4);
  }
  EXPECT_EQ(Calls(*pool, 50), std::vector<int>(50, 1));
}

TEST(RowPool, GoesWithoutHavingWorked) { const RowPool pool(5); }

}  // namespace
}  // namespace maskd::client
