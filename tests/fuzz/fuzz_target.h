// A fuzz target: what is done with an input. With libFuzzer each target is a separate program; else
// one program has all of them and replays files (replay_main.cc).
#ifndef MASKD_TESTS_FUZZ_FUZZ_TARGET_H_
#define MASKD_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "absl/strings/string_view.h"

namespace maskd::fuzz {

using TargetFunction = void (*)(absl::string_view name, absl::string_view input);

// Makes targets known to replay_main.cc. Is called before main() begins, in one thread.
bool AddTargets(std::initializer_list<const char*> names, TargetFunction run);

}  // namespace maskd::fuzz

// MASKD_FUZZ_TARGETS(run, name...): the function runs an input of the targets that
// tests/fuzz/CMakeLists.txt calls so, and is told which one.
#ifdef MASKD_FUZZ_NAME
#define MASKD_FUZZ_TARGETS(run, ...)                                                  \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    run(MASKD_FUZZ_NAME, {reinterpret_cast<const char*>(data), size});                \
    return 0;                                                                         \
  }
#else
#define MASKD_FUZZ_TARGETS(run, ...) \
  [[maybe_unused]] static const bool run##_is_known = AddTargets({__VA_ARGS__}, &run)
#endif

#endif  // MASKD_TESTS_FUZZ_FUZZ_TARGET_H_
