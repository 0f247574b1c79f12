#include "cpu/processor_count.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include <sched.h>

namespace maskd {
namespace {

// The words of a file; none when it cannot be read.
std::vector<std::string> WordsOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> words;
  for (std::string word; file >> word;) words.push_back(word);
  return words;
}

// Quota and period, both in microseconds. A group without a bound says "max", or -1 in version 1.
std::optional<double> Processors(const std::vector<std::string>& words) {
  double quota = 0;
  double period = 0;
  if (words.size() != 2 || !absl::SimpleAtod(words[0], &quota) ||
      !absl::SimpleAtod(words[1], &period) || quota <= 0 || period <= 0) {
    return std::nullopt;
  }
  return quota / period;
}

std::optional<double> QuotaOf(const std::string& group, bool is_version_2) {
  if (is_version_2) return Processors(WordsOf(group + "/cpu.max"));
  std::vector<std::string> words = WordsOf(group + "/cpu.cfs_quota_us");
  for (std::string& word : WordsOf(group + "/cpu.cfs_period_us")) words.push_back(std::move(word));
  return Processors(words);
}

std::optional<double> Smaller(std::optional<double> one, std::optional<double> other) {
  return one.has_value() && other.has_value() ? std::min(*one, *other)
         : one.has_value()                    ? one
                                              : other;
}

// Of a group and its ancestors. Seen from within a container the group's path may not be there:
// then the mount itself is the group.
std::optional<double> SmallestQuota(const std::string& mount, std::string path, bool is_version_2) {
  std::optional<double> smallest;
  for (;;) {
    smallest = Smaller(smallest, QuotaOf(absl::StrCat(mount, path), is_version_2));
    const std::size_t parent = path.rfind('/');
    if (parent == std::string::npos) return smallest;
    path.resize(parent);
  }
}

}  // namespace

std::optional<double> ProcessorQuota(const std::string& root) {
  std::optional<double> smallest;
  const std::string mount = absl::StrCat(root, "/sys/fs/cgroup");
  // Lines are "NUMBER:CONTROLLERS:PATH"; version 2 has no controllers.
  for (const std::string& line : WordsOf(absl::StrCat(root, "/proc/self/cgroup"))) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::string path = parts[2] == "/" ? "" : parts[2];
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    if (parts[1].empty())
      smallest = Smaller(smallest, SmallestQuota(mount, path, true));
    else if (std::ranges::find(controllers, "cpu") != controllers.end())
      smallest = Smaller(smallest, SmallestQuota(mount + "/cpu", path, false));
  }
  return smallest;
}

int ProcessorCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // More than CPU_SETSIZE (1,024) of them need a larger set; the call then says no.
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : CPU_SETSIZE;
  const std::optional<double> quota = ProcessorQuota();
  const int bound = quota.has_value() ? static_cast<int>(std::ceil(std::min(*quota, 1e6))) : count;
  return std::max(1, std::min(count, bound));
}

}  // namespace maskd
