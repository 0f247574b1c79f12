#include "tests/e2e/server_program.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

void Limit(__rlimit_resource resource, std::optional<rlim_t> most) {
  if (!most.has_value()) return;
  const rlimit limit = {*most, *most};
  setrlimit(resource, &limit);
}

[[noreturn]] void Become(std::vector<std::string> words, const ServerProgram::Options& options,
                         const std::string& log) {
  const int fd = options.standard_error >= 0
                     ? options.standard_error
                     : open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  dup2(fd, STDERR_FILENO);
  if (options.closes_standard_error) close(STDERR_FILENO);
  Limit(RLIMIT_NOFILE, options.descriptors);
  Limit(RLIMIT_FSIZE, options.file_bytes);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(MASKD_BINARY, arguments.data());
  _exit(127);
}

}  // namespace

ServerProgram::ServerProgram(const Options& options) : socket_(SocketPath("m.sock")) {
  std::vector<std::string> words = {MASKD_BINARY, absl::StrCat("--listen=", address()),
                                    "--metrics_listen="};
  words.insert(words.end(), options.flags.begin(), options.flags.end());
  child_ = fork();
  if (child_ == 0) Become(std::move(words), options, log_path());
}

ServerProgram::~ServerProgram() {
  if (child_ <= 0) return;
  Signal(SIGKILL);
  Wait();
}

void ServerProgram::Signal(int signal) const { ASSERT_EQ(kill(child_, signal), 0); }

int ServerProgram::Wait(int patience_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(patience_s);
  int status = 0;
  while (waitpid(child_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) Signal(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  child_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string ServerProgram::Log() const {
  std::ostringstream text;
  text << std::ifstream(log_path()).rdbuf();
  return text.str();
}

bool IsLive(const std::shared_ptr<grpc::Channel>& channel) {
  const auto stub = grpc::health::v1::Health::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  context.set_wait_for_ready(true);
  grpc::health::v1::HealthCheckRequest request;
  request.set_service("liveness");
  grpc::health::v1::HealthCheckResponse response;
  return stub->Check(&context, request, &response).ok() &&
         response.status() == grpc::health::v1::HealthCheckResponse::SERVING;
}

}  // namespace maskd::service
