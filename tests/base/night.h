// How much a random test takes: all of it in a night's run, which MASKD_LONG asks for, less by day.
#ifndef MASKD_TESTS_BASE_NIGHT_H_
#define MASKD_TESTS_BASE_NIGHT_H_

#include <cstdlib>

namespace maskd {

template <typename Count>
Count ByNight(Count by_day, Count by_night) {
  return std::getenv("MASKD_LONG") == nullptr ? by_day : by_night;
}

}  // namespace maskd

#endif  // MASKD_TESTS_BASE_NIGHT_H_
