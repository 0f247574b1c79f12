#include "tools/attack/targets/process_watch.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ring/unique_fd.h"

namespace maskd::attack {

ProcessWatch::ProcessWatch() : ProcessWatch(getpid()) {}

ProcessWatch::ProcessWatch(int pid) : pid_(pid), folder_(absl::StrCat("/proc/", pid)) {}

std::optional<ProcessWatch> ProcessWatch::OfSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  const ring::UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return std::nullopt;
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool known = getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  // 0: of another namespace of processes.
  return known && peer.pid > 0 ? std::optional<ProcessWatch>(peer.pid) : std::nullopt;
}

bool ProcessWatch::IsAlive() const {
  std::ifstream file(folder_ + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(") ");
  return end != std::string::npos && text.size() > end + 2 && text[end + 2] != 'Z';
}

std::int64_t ProcessWatch::StatusField(absl::string_view name) const {
  std::ifstream file(folder_ + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, name)) continue;
    std::int64_t kib = 0;
    const std::size_t digit = line.find_first_of("0123456789");
    if (digit == std::string::npos) return 0;
    return absl::SimpleAtoi(line.substr(digit, line.rfind(' ') - digit), &kib) ? kib << 10 : 0;
  }
  return 0;
}

std::int64_t ProcessWatch::Resident() const { return StatusField("VmRSS:"); }
std::int64_t ProcessWatch::Peak() const { return StatusField("VmHWM:"); }
void ProcessWatch::ResetPeak() const { std::ofstream(folder_ + "/clear_refs") << "5"; }

double ProcessWatch::CpuSeconds() const {
  std::ifstream file(folder_ + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(") ");
  if (end == std::string::npos) return 0;
  const std::vector<std::string> fields = absl::StrSplit(text.substr(end + 2), ' ');
  constexpr std::size_t kUser = 11;  // fields 14 and 15 of proc(5)
  std::int64_t ticks = 0;
  for (std::size_t i = kUser; i < std::min(kUser + 2, fields.size()); ++i) {
    std::int64_t one = 0;
    if (absl::SimpleAtoi(fields[i], &one)) ticks += one;
  }
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int ProcessWatch::Descriptors() const {
  std::error_code error;
  const std::filesystem::directory_iterator files(folder_ + "/fd", error);
  return error ? 0 : static_cast<int>(std::distance(begin(files), end(files)));
}

}  // namespace maskd::attack
