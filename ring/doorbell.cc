#include "ring/doorbell.h"

#include <cerrno>
#include <climits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace maskd::ring {
namespace {

long Futex(Word* word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), operation, value, timeout,
                 nullptr, 0);
}

}  // namespace

void Announce(Word* bell, std::uint32_t reasons) { bell->store(reasons); }

bool Sleep(Word* bell, std::uint32_t reasons, absl::Duration longest) {
  if (longest <= absl::ZeroDuration()) return false;
  const timespec timeout = absl::ToTimespec(longest);
  const long woken = Futex(bell, FUTEX_WAIT, reasons, &timeout);
  return woken == 0 || errno == EAGAIN;
}

void Ring(Word* bell, Reason reason) {
  if ((bell->load() & reason) != 0) Wake(bell);
}

void Wake(Word* bell) {
  bell->store(0);
  Futex(bell, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace maskd::ring
