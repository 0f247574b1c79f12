// fuzz_replay TARGET PATH...: runs a fuzz target once on each file that is named, and on each file
// of a folder that is: where there is no libFuzzer. 77 when there was none to run.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "absl/strings/string_view.h"

#include "tests/fuzz/fuzz_target.h"

namespace maskd::fuzz {
namespace {

std::map<std::string, TargetFunction>& Targets() {
  static std::map<std::string, TargetFunction> targets;
  return targets;
}

// Files are named before they run: the last line says what a death was about.
int Replay(absl::string_view name, TargetFunction run, const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.is_regular_file()) count += Replay(name, run, entry.path());
    return count;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(file), {}};
  std::fprintf(stderr, "%s\n", path.c_str());
  run(name, input);
  return 1;
}

}  // namespace

bool AddTargets(std::initializer_list<const char*> names, TargetFunction run) {
  for (const char* name : names) Targets().emplace(name, run);
  return true;
}

int ReplayAll(int argc, char** argv) {
  constexpr int kSkipped = 77;
  const auto target = Targets().find(argc > 1 ? argv[1] : "");
  if (target == Targets().end()) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET PATH...; there is no such target\n");
    return 2;
  }
  int count = 0;
  for (int i = 2; i < argc; ++i) count += Replay(argv[1], target->second, argv[i]);
  std::printf("%d inputs\n", count);
  return count > 0 ? 0 : kSkipped;
}

}  // namespace maskd::fuzz

int main(int argc, char** argv) { return maskd::fuzz::ReplayAll(argc, argv); }
