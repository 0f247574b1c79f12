// Looks are taken by the test, at a memory and a time of the test's.
#include "memory/accountant.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskd::memory {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kLimit = 1000;  // marks at 750 and 900

class TestClock : public Clock {
 public:
  TimePoint Now() override { return now_.load(); }
  // Somebody else moves the time.
  void WaitUntil(CondVar* changed, Mutex* mutex, TimePoint) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    changed->WaitUntil(mutex, std::chrono::steady_clock::now() + milliseconds(1));
  }
  void Pass(Duration time) { now_ = now_.load() + time; }

 private:
  std::atomic<TimePoint> now_{TimePoint(std::chrono::hours(1))};
};

// A store of so many bytes.
struct Store {
  std::int64_t bytes = 0;
  std::vector<std::int64_t> asked = {};

  Accountant::Holder HolderOf(Part part) {
    return {.part = part,
            .held_bytes = [this] { return bytes; },
            .shrink =
                [this](std::int64_t less) {
                  asked.push_back(less);
                  bytes = std::max<std::int64_t>(0, bytes - less);
                }};
  }
};

class AccountantTest : public testing::Test {
 protected:
  Accountant::Options OptionsOf() {
    Accountant::Options options;
    options.limit_bytes = kLimit;
    options.read_process = [this] {
      const std::int64_t anonymous =
          others_ + masks_.bytes + schemas_.bytes + grammars_.bytes + free_pages_;
      return ProcessMemory{.resident = anonymous, .anonymous = anonymous};
    };
    options.heap.trim = [this](std::int64_t keep) { free_pages_ = std::min(free_pages_, keep); };
    options.heap.refill_reserve = [this] { return !heap_is_full_; };
    options.passed = [this](const Accountant::Passed& passed) {
      const char* const name = kMarkNames[static_cast<std::size_t>(passed.mark)];
      passed_.push_back((passed.above ? "above " : "below ") + std::string(name));
    };
    options.clock = &clock_;
    return options;
  }

  // What the marks say.
  std::vector<std::string> Passed() { return std::exchange(passed_, {}); }

  TestClock clock_;
  std::int64_t others_ = 0;
  Store masks_;
  Store schemas_;
  Store grammars_;
  std::int64_t free_pages_ = 0;
  bool heap_is_full_ = false;
  std::vector<std::string> passed_;
  std::atomic<bool> cancelled_ = false;
  Accountant accountant_{OptionsOf()};
  Accountant::Registration grammars_held_ =
      accountant_.Register(grammars_.HolderOf(Part::kGrammars));
  Accountant::Registration masks_held_ = accountant_.Register(masks_.HolderOf(Part::kMasks));
  Accountant::Registration schemas_held_ = accountant_.Register(schemas_.HolderOf(Part::kSchemas));
};

TEST_F(AccountantTest, BelowTheLowMarkNothingIsTouched) {
  masks_.bytes = 300;
  grammars_.bytes = 300;
  free_pages_ = 100;
  accountant_.Tick();
  EXPECT_EQ(masks_.bytes + grammars_.bytes + free_pages_, 700);
  EXPECT_THAT(Passed(), IsEmpty());
  EXPECT_TRUE(accountant_.HasRoom());
}

TEST_F(AccountantTest, AboveItFreePagesGoFirst) {
  masks_.bytes = 300;
  grammars_.bytes = 300;
  free_pages_ = 200;
  accountant_.Tick();
  EXPECT_EQ(masks_.bytes + grammars_.bytes, 600);
  EXPECT_EQ(accountant_.resident_bytes(), 600);
}

// Else what grammars that have gone leave between those that have not would come on top.
TEST_F(AccountantTest, BelowItRoomBetweenWhatLivesIsOfTheFloor) {
  constexpr std::int64_t kMib = 1 << 20;
  HeapBytes heap{.allocated = 100 * kMib, .resident = 500 * kMib, .unused = 200 * kMib};
  std::vector<std::int64_t> kept;
  Accountant::Options options = OptionsOf();
  options.heap.floor_bytes = 256 * kMib;
  options.heap.read = [&] { return std::optional(heap); };
  options.heap.trim = [&](std::int64_t keep) {
    kept.push_back(keep);
    heap.resident -= heap.unused - keep;
    heap.unused = keep;
  };
  Accountant accountant(std::move(options));
  const auto look_for = [&](int seconds) {
    for (int i = 0; i <= 10 * seconds; ++i) {
      accountant.Tick();
      clock_.Pass(milliseconds(100));
    }
  };
  look_for(10);
  EXPECT_THAT(kept, ElementsAre(56 * kMib)) << "200 MiB lie between what lives";
  heap = {.allocated = 100 * kMib, .resident = 1'000 * kMib, .unused = 200 * kMib};
  look_for(10);
  EXPECT_THAT(kept, ElementsAre(56 * kMib, 0)) << "more than the floor does";
}

TEST_F(AccountantTest, ThenMasksThenSchemasAndThenGrammars) {
  masks_.bytes = 50;
  schemas_.bytes = 40;
  grammars_.bytes = 760;
  accountant_.Tick();
  EXPECT_THAT(masks_.asked, ElementsAre(150)) << "to 700, a little below the mark";
  EXPECT_THAT(schemas_.asked, ElementsAre(100));
  EXPECT_THAT(grammars_.asked, ElementsAre(60));
  EXPECT_EQ(accountant_.resident_bytes(), 700);
  EXPECT_THAT(Passed(), ElementsAre("above low"));
  const Accountant::Figures figures = accountant_.Read();
  EXPECT_EQ(figures.shrinks[static_cast<std::size_t>(Part::kMasks)], 1);
  EXPECT_EQ(figures.shrinks[static_cast<std::size_t>(Part::kGrammars)], 1);
  accountant_.Tick();
  EXPECT_THAT(Passed(), ElementsAre("below low"));
}

TEST_F(AccountantTest, AboveTheHighMarkWhatIsNewWaitsAndThenIsRefused) {
  others_ = 950;
  accountant_.Tick();
  EXPECT_THAT(Passed(), ElementsAre("above low", "above high"));
  EXPECT_TRUE(accountant_.HasRoom()) << "opens go on for a while";
  std::atomic<bool> admitted = true;
  std::thread waiting([&] { admitted = accountant_.AwaitRoom(cancelled_); });
  while (accountant_.Read().waits[static_cast<std::size_t>(Mark::kHigh)] == 0)
    std::this_thread::yield();
  clock_.Pass(milliseconds(2000));
  accountant_.Tick();
  waiting.join();
  EXPECT_FALSE(admitted);
  EXPECT_FALSE(accountant_.HasRoom());
  EXPECT_FALSE(accountant_.AwaitRoom(cancelled_));
  EXPECT_EQ(accountant_.Read().refusals[static_cast<std::size_t>(Mark::kHigh)], 3);
}

TEST_F(AccountantTest, WhoWaitsGoesOnWhenThereIsRoom) {
  others_ = 950;
  accountant_.Tick();
  std::atomic<bool> admitted = false;
  std::thread waiting([&] { admitted = accountant_.AwaitRoom(cancelled_); });
  others_ = 850;
  accountant_.Tick();
  waiting.join();
  EXPECT_TRUE(admitted);
}

TEST_F(AccountantTest, WhoIsCancelledWaitsNoLonger) {
  others_ = 950;
  accountant_.Tick();
  std::thread waiting([&] { EXPECT_TRUE(accountant_.AwaitRoom(cancelled_)); });
  cancelled_ = true;
  waiting.join();
}

TEST_F(AccountantTest, RoomComesBack) {
  others_ = 950;
  accountant_.Tick();
  clock_.Pass(milliseconds(2000));
  accountant_.Tick();
  EXPECT_FALSE(accountant_.HasRoom());
  others_ = 500;
  accountant_.Tick();
  EXPECT_TRUE(accountant_.HasRoom());
  EXPECT_TRUE(accountant_.AwaitRoom(cancelled_));
}

TEST_F(AccountantTest, MemoryThatTheSystemRefusedIsAMarkToo) {
  grammars_.bytes = 500;
  heap_is_full_ = true;
  accountant_.Tick();
  EXPECT_LT(grammars_.bytes, 500);
  EXPECT_THAT(Passed(), ElementsAre("above heap"));
  clock_.Pass(milliseconds(2000));
  accountant_.Tick();
  EXPECT_FALSE(accountant_.HasRoom());
  EXPECT_EQ(accountant_.Read().refusals[static_cast<std::size_t>(Mark::kHeap)], 1);
  heap_is_full_ = false;
  accountant_.Tick();
  EXPECT_TRUE(accountant_.HasRoom());
}

TEST_F(AccountantTest, AMarkThatIsPassedToAndFroIsSaidEveryTenSeconds) {
  for (int i = 0; i < 300; ++i) {
    others_ = i % 2 == 0 ? 800 : 600;
    accountant_.Tick();
    clock_.Pass(milliseconds(100));
  }
  EXPECT_EQ(std::ranges::count(passed_, "above low"), 3);
  EXPECT_EQ(std::ranges::count(passed_, "below low"), 3);
}

TEST_F(AccountantTest, SharedMemoryThatIsMappedNoMoreCounts) {
  Account segments;
  const auto held = accountant_.Register(Part::kSharedMemory, &segments);
  others_ = 500;
  const Charge charge(&segments, 300);
  accountant_.Tick();
  EXPECT_EQ(accountant_.resident_bytes(), 800);
}

TEST_F(AccountantTest, WhatIsRegisteredCountsUntilItEnds) {
  Account rows;
  {
    const auto held = accountant_.Register(Part::kRows, &rows);
    Charge charge(&rows, 5);
    charge.Add(2);
    const Charge moved = std::move(charge);
    EXPECT_EQ(accountant_.Read().held[static_cast<std::size_t>(Part::kRows)], 7);
  }
  EXPECT_EQ(rows.bytes(), 0);
  EXPECT_EQ(accountant_.Read().held[static_cast<std::size_t>(Part::kRows)], 0);
}

TEST(AccountantFiguresTest, AddUpToWhatIsResident) {
  Accountant::Figures figures;
  figures.process = {.resident = 1000, .anonymous = 900, .file = 80, .shared = 20};
  figures.heap = HeapBytes{.allocated = 600, .resident = 850, .unused = 200};
  figures.held[static_cast<std::size_t>(Part::kGrammars)] = 400;
  figures.held[static_cast<std::size_t>(Part::kSharedMemory)] = 20;
  EXPECT_EQ(figures.unclaimed(), 200);
  EXPECT_EQ(figures.heap_idle(), 250);
  EXPECT_EQ(figures.outside_heap(), 50);
}

TEST(AccountantThreadTest, LooksByItself) {
  std::atomic<int> looks = 0;
  Accountant::Options options;
  options.limit_bytes = kLimit;
  options.interval = milliseconds(1);
  options.read_process = [&] {
    ++looks;
    return ProcessMemory{};
  };
  Accountant accountant(std::move(options));
  accountant.Start();
  while (looks < 3) std::this_thread::yield();
  accountant.Grew(kLimit);
}

}  // namespace
}  // namespace maskd::memory
