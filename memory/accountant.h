// The one who knows what the process's memory is held for, and keeps it within one figure.
//
//   auto registration = accountant.Register({.part = Part::kGrammars, .held_bytes = ...});
//   if (!accountant.AwaitRoom(cancelled)) return refusal;   // before something large is made
//
// Figure   compared is what the system says is resident, since an allocator keeps more than its
//          callers hold; and shared memory that only clients still have mapped.
// Marks    above the low one free pages go back and holders shrink, in the order of kShrinkOrder,
//          to some percent below it. Above the high one what is new waits, and once the process
//          has been above it for `patience` is refused. Nothing that is open is touched.
//          The heap's own mark is passed when the system refused memory (memory_reserve.h): it
//          acts like the high one.
// Below    free pages go back too, beyond a floor, when they have stayed unused (heap_trimmer.h).
// Threads  any. A look at the memory is taken every `interval`, by a thread that Start() starts, or
//          by whoever calls Tick(). Holders are called by it, one look at a time, with
//          a lock held that Register() and a Registration's end take: they must not do either.
// Ownership  outlives its registrations.
#ifndef MASKD_MEMORY_ACCOUNTANT_H_
#define MASKD_MEMORY_ACCOUNTANT_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"

#include "grammar_core/base/clock.h"
#include "grammar_core/base/heap.h"
#include "grammar_core/base/mutex.h"
#include "memory/account.h"
#include "memory/heap_trimmer.h"
#include "memory/part.h"
#include "memory/process_memory.h"

namespace maskd::memory {

// In ascending order of how urgent they are.
enum class Mark : std::uint8_t { kLow, kHigh, kHeap };
inline constexpr std::size_t kMarkCount = 3;
inline constexpr std::array<const char*, kMarkCount> kMarkNames = {"low", "high", "heap"};

// Who shrinks first: masks are made again in microseconds, schemas in some hundred microseconds,
// grammars in milliseconds.
inline constexpr std::array kShrinkOrder = {Part::kMasks, Part::kSchemas, Part::kGrammars};

// One for each process; the service makes it before all else that holds memory.
class Accountant {
 public:
  // A mark was passed, upwards or back.
  struct Passed {
    Mark mark;
    bool above;
    std::int64_t resident_bytes;
    std::int64_t limit_bytes;
  };

  // What the program's allocator can do; see grammar_core/base/heap.h. Empty where it cannot.
  struct Heap {
    std::function<std::optional<HeapBytes>()> read;
    std::function<void(std::int64_t keep_bytes)> trim;
    std::function<bool()> refill_reserve;
    std::function<void()> empty_thread_cache;
    std::int64_t floor_bytes = 0;
  };

  // Fixed for its lifetime. Shares are of limit_bytes.
  struct Options {
    std::int64_t limit_bytes = 0;
    double low = 0.75;
    double high = 0.9;
    std::chrono::milliseconds interval{100};
    std::chrono::milliseconds patience{1'000};
    Heap heap;
    std::function<ProcessMemory()> read_process = &ReadProcessMemory;
    // Told of each mark that is passed, the same one at most every ten seconds. May be empty.
    std::function<void(const Passed&)> passed;
    Clock* clock = Clock::Steady();  // not owned
  };

  // Something that holds memory for long, and can be asked for it.
  struct Holder {
    Part part;
    // Now; quick, without a lock that is held for long. Required.
    std::function<std::int64_t()> held_bytes;
    // Makes it hold about `bytes` less, as far as it can. Empty: it cannot.
    std::function<void(std::int64_t bytes)> shrink = {};
  };

  // Ends with its lifetime.
  class Registration {
   public:
    Registration() = default;
    // What was moved from ends nothing. Assigning swaps, so the earlier holder ends with `other`.
    Registration(Registration&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), at_(other.at_) {}
    Registration& operator=(Registration&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(at_, other.at_);
      return *this;
    }
    // Waits for a look that is under way, so that no holder is called after its end.
    ~Registration();

   private:
    friend class Accountant;
    Registration(Accountant* owner, std::list<Holder>::iterator at) : owner_(owner), at_(at) {}
    Accountant* owner_ = nullptr;
    std::list<Holder>::iterator at_;
  };

  // Starts no thread yet.
  explicit Accountant(Options options);
  // Stops that of Start(). No registration may be left.
  ~Accountant();
  Accountant(const Accountant&) = delete;
  Accountant& operator=(const Accountant&) = delete;

  // The holder is asked at each look until the registration ends.
  [[nodiscard]] Registration Register(Holder holder) ABSL_LOCKS_EXCLUDED(holders_mutex_);
  // For what comes and goes: `account` outlives the registration.
  [[nodiscard]] Registration Register(Part part, const Account* account);

  // Looks by itself from now on. Once.
  void Start();
  // Looks now.
  void Tick() ABSL_LOCKS_EXCLUDED(holders_mutex_, mutex_);
  // So many bytes more are held than at the last look: much has it look at once.
  void Grew(std::int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether something new and large may be made; waits while it may not yet. True also when
  // `cancelled` has become true. Counted.
  bool AwaitRoom(const std::atomic<bool>& cancelled) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether something new may be opened. Never waits. Counted.
  bool HasRoom() ABSL_LOCKS_EXCLUDED(mutex_);

  // Gives to all threads what this one has freed and kept for itself: for one that goes idle.
  void EmptyThreadCache() const {
    if (options_.heap.empty_thread_cache != nullptr) options_.heap.empty_thread_cache();
  }

  // The figure that all of this is held to; marks are shares of it.
  [[nodiscard]] std::int64_t limit_bytes() const { return options_.limit_bytes; }
  // What was compared at the last look.
  [[nodiscard]] std::int64_t resident_bytes() const { return resident_.load(); }

  // The highest mark that was passed at the last look.
  [[nodiscard]] std::optional<Mark> passed() const ABSL_LOCKS_EXCLUDED(mutex_);

  // One look in full, for metrics and the log. Parts and heap are read one after the other, so sums
  // may be off by what changed between.
  struct Figures {
    ProcessMemory process;
    std::optional<HeapBytes> heap;
    std::array<std::int64_t, kPartCount> held{};
    std::array<std::int64_t, kPartCount> shrinks{};
    std::array<std::int64_t, kMarkCount> waits{};
    std::array<std::int64_t, kMarkCount> refusals{};

    // Bytes of the heap in use that no part claims.
    [[nodiscard]] std::int64_t unclaimed() const;
    // Pages of the heap that nothing was asked for in, and what it needs for itself.
    [[nodiscard]] std::int64_t heap_idle() const;
    // Neither heap nor file nor shared: stacks above all.
    [[nodiscard]] std::int64_t outside_heap() const;
  };
  // As of now.
  [[nodiscard]] Figures Read() const ABSL_LOCKS_EXCLUDED(holders_mutex_, mutex_);

 private:
  enum class Level : std::uint8_t { kRoom, kLow, kWaiting, kRefusing };
  using Counts = std::array<std::int64_t, kMarkCount>;

  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // The figure that the marks are compared with.
  std::int64_t Measure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(holders_mutex_);
  std::int64_t HeldFor(Part part) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(holders_mutex_);
  // Gets below the low mark as far as that goes; the figure after it.
  std::int64_t MakeRoom(std::int64_t resident) ABSL_EXCLUSIVE_LOCKS_REQUIRED(holders_mutex_);
  void Shrink(std::int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(holders_mutex_);
  void TrimIdleHeap() ABSL_EXCLUSIVE_LOCKS_REQUIRED(holders_mutex_);
  void Settle(std::int64_t resident, bool heap_is_full) ABSL_LOCKS_EXCLUDED(mutex_);
  // Says that `mark` is passed, if it has not been before.
  void Pass(Mark mark, bool above, std::int64_t resident)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(holders_mutex_);

  const Options options_;
  const std::int64_t low_bytes_;
  const std::int64_t high_bytes_;
  std::atomic<std::int64_t> resident_ = 0;
  std::atomic<std::int64_t> grown_ = 0;  // since the last look

  mutable Mutex holders_mutex_;  // taken before mutex_
  std::list<Holder> holders_ ABSL_GUARDED_BY(holders_mutex_);
  HeapTrimmer trimmer_ ABSL_GUARDED_BY(holders_mutex_);
  std::array<std::int64_t, kPartCount> shrinks_ ABSL_GUARDED_BY(holders_mutex_){};
  struct Said {
    bool above = false;
    std::optional<Clock::TimePoint> at[2];  // by `above`
  };
  std::array<Said, kMarkCount> said_ ABSL_GUARDED_BY(holders_mutex_);

  mutable Mutex mutex_;
  CondVar changed_;
  Level level_ ABSL_GUARDED_BY(mutex_) = Level::kRoom;
  Mark cause_ ABSL_GUARDED_BY(mutex_) = Mark::kHigh;  // of the level, where it is above the low one
  std::optional<Clock::TimePoint> above_since_ ABSL_GUARDED_BY(mutex_);
  Counts waits_ ABSL_GUARDED_BY(mutex_){};
  Counts refusals_ ABSL_GUARDED_BY(mutex_){};
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool look_now_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace maskd::memory

#endif  // MASKD_MEMORY_ACCOUNTANT_H_
