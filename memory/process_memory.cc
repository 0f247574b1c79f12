#include "memory/process_memory.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

namespace maskd::memory {
namespace {

// A small file of /proc, in memory of the caller's.
template <std::size_t kSize>
absl::string_view Read(const char* path, std::array<char, kSize>* buffer) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t size = read(fd, buffer->data(), buffer->size());
  close(fd);
  return {buffer->data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
}

// The number behind `name` in /proc/self/status, which counts in KiB.
std::int64_t BytesOf(absl::string_view status, absl::string_view name) {
  const std::size_t at = status.find(name);
  if (at == absl::string_view::npos) return 0;
  status.remove_prefix(at + name.size());
  status.remove_prefix(std::min(status.size(), status.find_first_not_of(": \t")));
  std::int64_t kib = 0;
  std::from_chars(status.data(), status.data() + status.size(), kib);
  return kib << 10;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Since 1970; /proc/self/stat has it in ticks since the machine's start, as its 22nd field. The
// second one, the program's name in parentheses, may hold spaces.
double StartSeconds() {
  constexpr std::size_t kFieldsFromState = 22 - 3;
  std::array<char, 1024> buffer;
  absl::string_view stat = Read("/proc/self/stat", &buffer);
  stat.remove_prefix(std::min(stat.size(), stat.rfind(')') + 2));
  const std::vector<absl::string_view> fields = absl::StrSplit(stat, ' ');
  std::int64_t ticks = 0;
  if (fields.size() <= kFieldsFromState || !absl::SimpleAtoi(fields[kFieldsFromState], &ticks))
    return 0;
  std::array<char, 4096> system;
  absl::string_view uptime = Read("/proc/uptime", &system);
  double up = 0;
  if (!absl::SimpleAtod(uptime.substr(0, uptime.find(' ')), &up)) return 0;
  timeval now{};
  gettimeofday(&now, nullptr);
  return Seconds(now) - up + static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::int64_t CountDescriptors() {
  std::error_code error;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; at != end && !error;
       at.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

ProcessMemory ReadProcessMemory() {
  std::array<char, 4096> buffer;
  const absl::string_view status = Read("/proc/self/status", &buffer);
  ProcessMemory memory;
  memory.anonymous = BytesOf(status, "RssAnon");
  memory.file = BytesOf(status, "RssFile");
  memory.shared = BytesOf(status, "RssShmem");
  memory.resident = memory.anonymous + memory.file + memory.shared;
  return memory;
}

ProcessFigures ReadProcessFigures() {
  ProcessFigures figures;
  std::array<char, 4096> buffer;
  const absl::string_view status = Read("/proc/self/status", &buffer);
  figures.resident_bytes = BytesOf(status, "VmRSS");
  figures.virtual_bytes = BytesOf(status, "VmSize");
  figures.threads = BytesOf(status, "Threads") >> 10;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  figures.cpu_seconds = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  figures.start_seconds = StartSeconds();
  figures.open_fds = CountDescriptors();
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  figures.max_fds = static_cast<std::int64_t>(descriptors.rlim_cur);
  return figures;
}

}  // namespace maskd::memory
