// Moves the clock of the day of the process that loads it (LD_PRELOAD), and no other clock.
//
// $MOVED_CLOCK names a file of eight bytes: by how many seconds, a signed integer of this machine.
// The file is mapped, so who writes into it moves the clock at once, and waits with it: one on a
// futex until a time of day (absl's locks, and by them gRPC's) looks at that clock each 10 ms.
// Waits of pthread_cond_timedwait() are not moved.
//
// Invariant  nothing is allocated, as an allocator may ask for the time.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;  // in nanoseconds, as all here
constexpr std::int64_t kLook = 10'000'000;

const volatile std::int64_t* moved = nullptr;

[[gnu::constructor]] void MapFile() {
  const char* name = std::getenv("MOVED_CLOCK");
  if (name == nullptr) return;
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) _exit(70);
  void* at = mmap(nullptr, sizeof(*moved), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (at == MAP_FAILED) _exit(71);
  moved = static_cast<const volatile std::int64_t*>(at);
}

using Call = long (*)(long, ...);

// No static of a function: who waits for another thread to make one calls syscall().
std::atomic<Call> libc = nullptr;

template <typename... Arguments>
long Kernel(long number, Arguments... arguments) {
  Call call = libc.load(std::memory_order_relaxed);
  if (call == nullptr) {
    call = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "syscall"));
    libc.store(call, std::memory_order_relaxed);
  }
  return call(number, arguments...);
}

std::int64_t NanosOf(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

std::int64_t KernelNow() {
  timespec now;
  Kernel(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return NanosOf(now);
}

struct FutexWait {
  long word;
  long operation;
  long value;
  long other_word;
  long bits;
};

// `until` is of the moved clock. The kernel is asked for a short wait each time.
long WaitUntil(const FutexWait& wait, const timespec& until) {
  for (;;) {
    const std::int64_t left = NanosOf(until) - KernelNow() - *moved * kSecond;
    if (left <= 0) {
      errno = ETIMEDOUT;
      return -1;
    }
    const std::int64_t look = KernelNow() + std::min(left, kLook);
    const timespec end = {.tv_sec = look / kSecond, .tv_nsec = look % kSecond};
    const long result =
        Kernel(SYS_futex, wait.word, wait.operation, wait.value, &end, wait.other_word, wait.bits);
    if (result == 0 || errno != ETIMEDOUT) return result;
  }
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const int failed = static_cast<int>(Kernel(SYS_clock_gettime, clock, now));
  const bool is_of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (failed == 0 && moved != nullptr && is_of_day) now->tv_sec += *moved;
  return failed;
}

int gettimeofday(timeval* now, void* /*zone*/) noexcept {
  timespec exact;
  const int failed = clock_gettime(CLOCK_REALTIME, &exact);
  *now = {.tv_sec = exact.tv_sec, .tv_usec = exact.tv_nsec / 1000};
  return failed;
}

time_t time(time_t* now) noexcept {
  timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now != nullptr) *now = exact.tv_sec;
  return exact.tv_sec;
}

long syscall(long number, ...) noexcept {
  long given[6];
  va_list rest;
  va_start(rest, number);
  for (long& each : given) each = va_arg(rest, long);
  va_end(rest);
  const auto [word, operation, value, until, other_word, bits] = given;
  if (moved != nullptr && number == SYS_futex && (operation & FUTEX_CLOCK_REALTIME) != 0 &&
      until != 0) {
    return WaitUntil({.word = word,
                      .operation = operation,
                      .value = value,
                      .other_word = other_word,
                      .bits = bits},
                     *reinterpret_cast<const timespec*>(until));
  }
  return Kernel(number, word, operation, value, until, other_word, bits);
}

}  // extern "C"
