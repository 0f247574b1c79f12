#include "memory/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include <unistd.h>

namespace maskd::memory {
namespace {

std::string ReadAll(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The smallest number in the files `name` of the group `path` below `mount` and of its ancestors.
// One without a bound says "max", or in version 1 a number beyond any machine's memory. Seen from
// within a container the group's path may not be there: then the mount itself is the group.
std::optional<std::int64_t> SmallestIn(const std::string& mount, std::string path,
                                       const std::string& name) {
  std::optional<std::int64_t> smallest;
  for (;;) {
    std::int64_t bytes = 0;
    if (absl::SimpleAtoi(ReadAll(absl::StrCat(mount, path, "/", name)), &bytes))
      smallest = std::min(smallest.value_or(bytes), bytes);
    const std::size_t parent = path.rfind('/');
    if (parent == std::string::npos) return smallest;
    path.resize(parent);
  }
}

// A line of /proc/self/cgroup, "NUMBER:CONTROLLERS:PATH": version 2 has no controllers.
std::optional<std::int64_t> LimitOf(const std::string& root, absl::string_view line) {
  const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
  if (parts.size() != 3) return std::nullopt;
  const std::string path = parts[2] == "/" ? "" : parts[2];
  const std::string mount = absl::StrCat(root, "/sys/fs/cgroup");
  if (parts[1].empty()) return SmallestIn(mount, path, "memory.max");
  const std::vector<absl::string_view> controllers = absl::StrSplit(parts[1], ',');
  if (std::ranges::find(controllers, "memory") == controllers.end()) return std::nullopt;
  return SmallestIn(mount + "/memory", path, "memory.limit_in_bytes");
}

}  // namespace

std::optional<std::int64_t> ControlGroupLimit(const std::string& root) {
  std::optional<std::int64_t> smallest;
  const std::string groups = ReadAll(absl::StrCat(root, "/proc/self/cgroup"));
  for (absl::string_view line : absl::StrSplit(groups, '\n'))
    if (const auto limit = LimitOf(root, line); limit.has_value())
      smallest = std::min(smallest.value_or(*limit), *limit);
  return smallest;
}

std::int64_t MachineMemory() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

std::int64_t SystemMemoryLimit() {
  return std::min(MachineMemory(), ControlGroupLimit().value_or(MachineMemory()));
}

}  // namespace maskd::memory
