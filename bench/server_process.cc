#include "bench/server_process.h"

#include <csignal>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace maskd::bench {
namespace {

std::string AddressIn(const std::string& folder) { return absl::StrCat("unix:", folder, "/s"); }

// Becomes the server, whose log goes to a file beside its socket.
[[noreturn]] void Become(const std::string& program, std::vector<std::string> arguments,
                         const std::string& folder) {
  const int log = open(absl::StrCat(folder, "/log").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  dup2(log, STDERR_FILENO);
  arguments.insert(arguments.begin(), program);
  arguments.push_back(absl::StrCat("--listen=", AddressIn(folder)));
  arguments.emplace_back("--metrics_listen=");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  _exit(127);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Start(
    const std::string& program, const std::vector<std::string>& arguments) {
  if (access(program.c_str(), X_OK) != 0)
    return absl::UnavailableError(absl::StrCat(program, ": is no program"));
  std::string folder = "/tmp/maskd-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr)
    return absl::UnavailableError(absl::StrCat(folder, ": cannot be made"));
  const pid_t child = fork();
  if (child == 0) Become(program, arguments, folder);
  if (child < 0) return absl::UnavailableError("no process can be made");
  return std::unique_ptr<ServerProcess>(new ServerProcess(folder, child));
}

ServerProcess::~ServerProcess() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string ServerProcess::address() const { return AddressIn(folder_); }

double ServerProcess::CpuMicros() const {
  clockid_t clock = 0;
  return clock_getcpuclockid(pid_, &clock) == 0 ? ClockMicros(clock) : 0;
}

double ClockMicros(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace maskd::bench
