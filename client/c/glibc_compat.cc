// What Debian 12's archives ask of a glibc that is newer than the one that libmaskd promises to run on
// (2.35), in its own words: of the C++ library, a random number. tests/c/check_library lists what is asked for.
#include <cstdint>
#include <cstdlib>

#include <sys/random.h>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) std::abort();
  return number;
}
