// A program that a test has started, and what the system says of a process.
#ifndef MASKD_TESTS_HOSTILE_PROCESS_H_
#define MASKD_TESTS_HOSTILE_PROCESS_H_

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <sys/wait.h>
#include <unistd.h>

namespace maskd::hostile {

class Process {
 public:
  explicit Process(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    child_ = fork();
    if (child_ == 0) {
      execv(arguments[0], arguments.data());
      _exit(127);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  // How it ended: its exit code, minus the signal that ended it; none: it runs.
  std::optional<int> Ended() {
    int status = 0;
    if (child_ > 0 && waitpid(child_, &status, WNOHANG) == 0) return std::nullopt;
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t child_ = 0;
};

// What a process holds.
struct Holdings {
  std::int64_t resident_kib = 0;
  std::int64_t threads = 0;
  std::int64_t descriptors = 0;
};

inline Holdings HoldingsOf(pid_t pid) {
  const std::string folder = absl::StrCat("/proc/", pid);
  Holdings held;
  std::ifstream status(folder + "/status");
  for (std::string line; std::getline(status, line);) {
    if (absl::StartsWith(line, "VmRSS:")) held.resident_kib = std::stoll(line.substr(6));
    if (absl::StartsWith(line, "Threads:")) held.threads = std::stoll(line.substr(8));
  }
  std::error_code gone;
  for (std::filesystem::directory_iterator at(folder + "/fd", gone), end; at != end;
       at.increment(gone)) {
    ++held.descriptors;
  }
  return held;
}

}  // namespace maskd::hostile

#endif  // MASKD_TESTS_HOSTILE_PROCESS_H_
