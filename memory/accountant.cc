// One look at the memory: measure, make room where the low mark is passed, measure again, settle
// what may be made. Making room begins with what costs least: pages that nothing lives in, then
// the holders in their order, each asked for what is above the mark. How much really comes back is
// seen at the next look: masks are shared, so dropping one holder of them may free nothing.
//
// Invariant  holders are called with holders_mutex_ held and by one look at a time.
// Cost       a look reads the process's figures and asks the holders of shared memory; the others
//            are asked only when they are to shrink.
#include "memory/accountant.h"

#include <algorithm>

namespace maskd::memory {
namespace {

// Room is made to this much below the low mark, so that not every look has to make some.
constexpr double kBelowMark = 0.05;
// Growth between two looks that calls for one, as a part of the whole.
constexpr std::int64_t kGrowthParts = 32;
// Shrunk by at each look while the system refuses memory, as a part of the whole.
constexpr std::int64_t kHeapFullParts = 32;
constexpr std::chrono::seconds kBetweenReports{10};
// How often one who waits looks whether it was cancelled.
constexpr std::chrono::milliseconds kWaitSlice{5};

std::int64_t PartOf(std::int64_t bytes, double part) {
  return static_cast<std::int64_t>(static_cast<double>(bytes) * part);
}

template <typename Counts>
std::int64_t& At(Counts& counts, auto index) {
  return counts[static_cast<std::size_t>(index)];
}

}  // namespace

Accountant::Registration::~Registration() {
  if (owner_ == nullptr) return;
  const MutexLock lock(&owner_->holders_mutex_);
  owner_->holders_.erase(at_);
}

Accountant::Accountant(Options options)
    : options_(std::move(options)),
      low_bytes_(PartOf(options_.limit_bytes, options_.low)),
      high_bytes_(PartOf(options_.limit_bytes, options_.high)),
      trimmer_(options_.heap.floor_bytes) {}

Accountant::~Accountant() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

Accountant::Registration Accountant::Register(Holder holder) {
  const MutexLock lock(&holders_mutex_);
  return {this, holders_.insert(holders_.end(), std::move(holder))};
}

Accountant::Registration Accountant::Register(Part part, const Account* account) {
  return Register({.part = part, .held_bytes = [account] { return account->bytes(); }});
}

void Accountant::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Accountant::Run() {
  for (;;) {
    Tick();
    const Clock::TimePoint next = Clock::Steady()->Now() + options_.interval;
    const MutexLock lock(&mutex_);
    while (!stopping_ && !look_now_ && changed_.WaitUntil(&mutex_, next)) {
    }
    if (stopping_) return;
    look_now_ = false;
  }
}

void Accountant::Tick() {
  const MutexLock lock(&holders_mutex_);
  grown_ = 0;
  const bool heap_is_full =
      options_.heap.refill_reserve != nullptr && !options_.heap.refill_reserve();
  if (heap_is_full) Shrink(options_.limit_bytes / kHeapFullParts);
  std::int64_t resident = Measure();
  Pass(Mark::kHeap, heap_is_full, resident);
  const bool above_low = resident > low_bytes_;
  if (above_low) {
    Pass(Mark::kLow, true, resident);
    resident = MakeRoom(resident);
  } else {
    Pass(Mark::kLow, false, resident);
    TrimIdleHeap();
  }
  Pass(Mark::kHigh, resident > high_bytes_, resident);
  resident_ = resident;
  Settle(resident, heap_is_full);
}

std::int64_t Accountant::Measure() {
  return options_.read_process().resident + HeldFor(Part::kSharedMemory);
}

std::int64_t Accountant::HeldFor(Part part) const {
  std::int64_t bytes = 0;
  for (const Holder& holder : holders_)
    if (holder.part == part) bytes += holder.held_bytes();
  return bytes;
}

std::int64_t Accountant::MakeRoom(std::int64_t resident) {
  const std::int64_t wanted = low_bytes_ - PartOf(options_.limit_bytes, kBelowMark);
  if (options_.heap.trim != nullptr) {
    options_.heap.trim(0);
    resident = Measure();
    if (resident <= low_bytes_) return resident;
  }
  Shrink(resident - wanted);
  if (options_.heap.trim != nullptr) options_.heap.trim(0);
  return Measure();
}

void Accountant::Shrink(std::int64_t bytes) {
  for (const Part part : kShrinkOrder) {
    for (const Holder& holder : holders_) {
      if (holder.part != part || holder.shrink == nullptr || bytes <= 0) continue;
      const std::int64_t before = holder.held_bytes();
      if (before == 0) continue;
      holder.shrink(bytes);
      const std::int64_t less = before - holder.held_bytes();
      if (less <= 0) continue;
      ++At(shrinks_, part);
      bytes -= less;
    }
  }
}

// Room between what lives, in pages that cannot be given back, is as good for what comes next as
// free pages are: it is a part of the floor. After many grammars have come and gone it may be all
// of it.
void Accountant::TrimIdleHeap() {
  if (options_.heap.read == nullptr || options_.heap.trim == nullptr) return;
  const std::optional<HeapBytes> heap = options_.heap.read();
  if (!heap.has_value()) return;
  const std::int64_t of_floor = std::clamp<std::int64_t>(
      heap->resident - heap->allocated - heap->unused, 0, trimmer_.floor_bytes());
  if (trimmer_.Look(options_.clock->Now(), heap->unused + of_floor))
    options_.heap.trim(trimmer_.floor_bytes() - of_floor);
}

void Accountant::Settle(std::int64_t resident, bool heap_is_full) {
  const MutexLock lock(&mutex_);
  const bool above_high = resident > high_bytes_;
  if (!above_high && !heap_is_full) {
    level_ = resident > low_bytes_ ? Level::kLow : Level::kRoom;
    above_since_.reset();
    changed_.NotifyAll();
    return;
  }
  cause_ = above_high ? Mark::kHigh : Mark::kHeap;
  const Clock::TimePoint now = options_.clock->Now();
  if (!above_since_.has_value()) above_since_ = now;
  level_ = now - *above_since_ >= options_.patience ? Level::kRefusing : Level::kWaiting;
  changed_.NotifyAll();
}

void Accountant::Pass(Mark mark, bool above, std::int64_t resident) {
  Said& said = said_[static_cast<std::size_t>(mark)];
  if (std::exchange(said.above, above) == above || options_.passed == nullptr) return;
  const Clock::TimePoint now = options_.clock->Now();
  std::optional<Clock::TimePoint>& last = said.at[above ? 1 : 0];
  if (last.has_value() && now - *last < kBetweenReports) return;
  last = now;
  options_.passed({mark, above, resident, options_.limit_bytes});
}

void Accountant::Grew(std::int64_t bytes) {
  if (grown_.fetch_add(bytes) + bytes < options_.limit_bytes / kGrowthParts) return;
  const MutexLock lock(&mutex_);
  look_now_ = true;
  changed_.NotifyAll();
}

bool Accountant::AwaitRoom(const std::atomic<bool>& cancelled) {
  const MutexLock lock(&mutex_);
  if (level_ == Level::kWaiting) ++At(waits_, cause_);
  while (level_ == Level::kWaiting && !stopping_ && !cancelled)
    options_.clock->WaitUntil(&changed_, &mutex_, options_.clock->Now() + kWaitSlice);
  if (level_ != Level::kRefusing || cancelled) return true;
  ++At(refusals_, cause_);
  return false;
}

std::optional<Mark> Accountant::passed() const {
  const MutexLock lock(&mutex_);
  if (level_ == Level::kRoom) return std::nullopt;
  return level_ == Level::kLow ? Mark::kLow : cause_;
}

bool Accountant::HasRoom() {
  const MutexLock lock(&mutex_);
  if (level_ != Level::kRefusing) return true;
  ++At(refusals_, cause_);
  return false;
}

Accountant::Figures Accountant::Read() const {
  Figures figures;
  {
    const MutexLock lock(&holders_mutex_);
    for (const Holder& holder : holders_) At(figures.held, holder.part) += holder.held_bytes();
    figures.shrinks = shrinks_;
    figures.process = options_.read_process();
    if (options_.heap.read != nullptr) figures.heap = options_.heap.read();
  }
  At(figures.held, Part::kSharedMemory) += figures.process.shared;
  const MutexLock lock(&mutex_);
  figures.waits = waits_;
  figures.refusals = refusals_;
  return figures;
}

std::int64_t Accountant::Figures::unclaimed() const {
  std::int64_t claimed = 0;
  for (std::size_t i = 0; i < held.size(); ++i)
    if (static_cast<Part>(i) != Part::kSharedMemory) claimed += held[i];
  const std::int64_t used = heap.has_value() ? heap->allocated : process.anonymous;
  return std::max<std::int64_t>(0, used - claimed);
}

std::int64_t Accountant::Figures::heap_idle() const {
  if (!heap.has_value()) return 0;
  // The allocator takes pages that were never touched for resident.
  const std::int64_t resident = std::min(heap->resident, process.anonymous);
  return std::max<std::int64_t>(0, resident - heap->allocated);
}

std::int64_t Accountant::Figures::outside_heap() const {
  return heap.has_value() ? std::max<std::int64_t>(0, process.anonymous - heap->resident) : 0;
}

}  // namespace maskd::memory
