// A separate real maskd, which its owner may kill and start again on the same socket.
#ifndef MASKD_TESTS_CLIENT_SERVER_PROGRAM_H_
#define MASKD_TESTS_CLIENT_SERVER_PROGRAM_H_

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include <sys/wait.h>
#include <unistd.h>

#include "client/cpp/client.h"

namespace maskd::client {

class ServerProgram {
 public:
  // Not started. `name` tells the servers of this process apart; `flags` come after the socket's.
  ServerProgram(std::string binary, const std::string& name, std::vector<std::string> flags = {})
      : binary_(std::move(binary)),
        socket_((std::filesystem::temp_directory_path() /
                 absl::StrCat("maskd_program.", getpid(), ".", name, ".sock"))
                    .string()),
        flags_(std::move(flags)) {}
  ~ServerProgram() {
    Signal(SIGKILL);
    std::filesystem::remove(socket_);
  }
  ServerProgram(const ServerProgram&) = delete;
  ServerProgram& operator=(const ServerProgram&) = delete;

  // Whether it serves within `timeout`.
  bool Start(absl::Duration timeout) {
    std::vector<std::string> words = {binary_, absl::StrCat("--listen=", address()),
                                      "--metrics_listen=", "--drain_ms=5000"};
    words.insert(words.end(), flags_.begin(), flags_.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    child_ = fork();
    if (child_ == 0) {
      std::freopen("/dev/null", "w", stderr);
      execv(binary_.c_str(), arguments.data());
      _exit(127);
    }
    return Client::Connect({.address = address(), .connect_timeout = timeout}).ok();
  }

  // Sends it; after SIGKILL it is gone.
  void Signal(int signal) {
    if (child_ <= 0) return;
    kill(child_, signal);
    if (signal == SIGKILL) Wait();
  }
  // Its exit code; minus the signal that ended it.
  int Wait() {
    int status = 0;
    waitpid(std::exchange(child_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // 0: it does not run.
  [[nodiscard]] pid_t pid() const { return child_; }
  [[nodiscard]] const std::string& socket() const { return socket_; }
  [[nodiscard]] std::string address() const { return absl::StrCat("unix:", socket_); }

 private:
  std::string binary_;
  std::string socket_;
  std::vector<std::string> flags_;
  pid_t child_ = 0;
};

}  // namespace maskd::client

#endif  // MASKD_TESTS_CLIENT_SERVER_PROGRAM_H_
