#include "cache/shared_loop.h"

#include <atomic>
#include <cstddef>
#include <latch>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "grammar_core/base/mutex.h"

namespace maskd::cache {
namespace {

constexpr auto kNever = [] { return false; };

// How often each of `count` items was run.
class Counts {
 public:
  explicit Counts(std::size_t count) : counts_(count) {}
  void Add(std::size_t at) { ++counts_[at]; }
  // Whether each was run so often.
  [[nodiscard]] bool AreAll(int count) const {
    bool are = true;
    for (const std::atomic<int>& each : counts_) are = are && each == count;
    return are;
  }

 private:
  std::vector<std::atomic<int>> counts_;
};

// Keeps all threads of a pool until it goes.
class Blocked {
 public:
  explicit Blocked(WorkPool* pool) : begun_(static_cast<std::ptrdiff_t>(pool->thread_count())) {
    for (std::size_t i = 0; i < pool->thread_count(); ++i) {
      pool->Submit([this] {
        begun_.count_down();
        release_.wait();
      });
    }
    begun_.wait();
  }
  ~Blocked() { release_.count_down(); }

 private:
  std::latch begun_;
  std::latch release_{1};
};

TEST(SharedLoopTest, RunsEachItemOnce) {
  for (const int threads : {0, 1, 4}) {
    WorkPool pool(threads, 16);
    for (const std::size_t count : {0, 1, 3, 4, 1'000}) {
      Counts counts(count);
      RunShared(&pool, 1, count, [&](std::size_t at) { counts.Add(at); }, kNever);
      EXPECT_TRUE(counts.AreAll(1)) << threads << " threads, " << count << " items";
    }
  }
}

TEST(SharedLoopTest, IdleThreadsOfThePoolTakePartAndOneStaysFree) {
  WorkPool pool(3, 16);
  std::latch all_there(3);
  Mutex mutex;
  std::set<std::thread::id> ids;
  // Nobody is done before three threads are at an item each, and one of the pool's has another job.
  RunShared(
      &pool, 1, 12,
      [&](std::size_t at) {
        {
          const MutexLock lock(&mutex);
          if (!ids.insert(std::this_thread::get_id()).second) return;
        }
        if (at == 0) {
          std::latch free_ran(1);
          pool.Submit([&] { free_ran.count_down(); });
          free_ran.wait();
        }
        all_there.arrive_and_wait();
      },
      kNever);
  EXPECT_EQ(ids.size(), 3U);
}

TEST(SharedLoopTest, TheCallerDoesAllWhereThePoolIsBusy) {
  WorkPool pool(2, 16);
  const Blocked blocked(&pool);
  const std::thread::id caller = std::this_thread::get_id();
  Counts counts(100);
  RunShared(
      &pool, 1, 100,
      [&](std::size_t at) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        counts.Add(at);
      },
      kNever);
  EXPECT_TRUE(counts.AreAll(1));
  EXPECT_EQ(pool.waiting(), 0U) << "those who were asked for help are told that none is needed";
}

TEST(SharedLoopTest, AThreadOfThePoolMayRunOne) {
  WorkPool pool(1, 16);
  Counts counts(100);
  std::latch done(1);
  ASSERT_TRUE(pool.Submit([&] {
    RunShared(&pool, 1, 100, [&](std::size_t at) { counts.Add(at); }, kNever);
    done.count_down();
  }));
  done.wait();
  EXPECT_TRUE(counts.AreAll(1));
}

TEST(SharedLoopTest, BeginsNothingOnceItIsOver) {
  WorkPool pool(0, 16);
  std::size_t begun = 0;
  RunShared(&pool, 1, 100, [&](std::size_t) { ++begun; }, [&] { return begun == 7; });
  EXPECT_EQ(begun, 7U);
}

TEST(SharedLoopTest, NothingRunsWhenItHasReturned) {
  WorkPool pool(3, 64);
  std::atomic<int> running = 0;
  for (int round = 0; round < 200; ++round) {
    int own = 0;
    RunShared(
        &pool, 1, 64,
        [&](std::size_t) {
          ++running;
          std::this_thread::yield();
          --running;
        },
        [&] { return ++own > 5; });
    ASSERT_EQ(running, 0) << "round " << round;
  }
}

// The pool's other thread is taken. Without its slices the helper would keep its own thread from
// the last job until the loop ends, which waits for that job.
TEST(SharedLoopTest, AHelperGivesWayToWhatWaits) {
  WorkPool pool(2, 16);
  const std::thread::id caller = std::this_thread::get_id();
  std::latch helped(1);
  std::atomic<bool> other_ran = false;
  std::atomic<bool> was_helped = false;
  RunShared(
      &pool, 1, 1'000'000,
      [&](std::size_t) {
        if (std::this_thread::get_id() != caller && !was_helped.exchange(true)) helped.count_down();
        if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(kSharedLoopSlice);
        if (std::this_thread::get_id() != caller || other_ran) return;
        helped.wait();
        pool.Submit([&] { other_ran.wait(false); });
        pool.Submit([&] {
          other_ran = true;
          other_ran.notify_all();
        });
        other_ran.wait(false);
      },
      [&] { return other_ran.load(); });
  EXPECT_TRUE(other_ran);
}

TEST(SharedLoopTest, WhatTheCallerThrowsGoesOnAndAHelperEndsAlone) {
  WorkPool pool(2, 16);
  EXPECT_THROW(RunShared(
                   &pool, 1, 100, [](std::size_t) { throw std::bad_alloc(); }, kNever),
               std::bad_alloc);
  const std::thread::id caller = std::this_thread::get_id();
  std::size_t own = 0;
  RunShared(
      &pool, 1, 1'000,
      [&](std::size_t) {
        if (std::this_thread::get_id() != caller) throw std::bad_alloc();
        ++own;
      },
      kNever);
  EXPECT_GE(own, 998U) << "a helper that failed leaves the others' items alone";
}

}  // namespace
}  // namespace maskd::cache
