// What must be so before the first thread: descriptors 0 to 2 are taken, so that no connection gets
// the number that something writes to as standard error; a broken pipe, and a log that has reached
// `ulimit -f`, are errors and no signals; and as many descriptors as the system allows.
#include "service/process/process_setup.h"

#include <csignal>
#include <string>

#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <grpc/support/log.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cpu/thread_priority.h"
#include "service/base/log.h"

namespace maskd::service {
namespace {

// Characters of a message of gRPC's.
constexpr std::size_t kMaxMessage = 200;

// open() gives the lowest descriptor that is free.
void OpenStandardDescriptors() {
  int fd = STDIN_FILENO;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) close(fd);
}

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);  // where it is refused, what there is must do
}

// gRPC's own way would be to write it to standard error, on the thread that serves the streams.
void LogOfGrpc(gpr_log_func_args* args) {
  if (args->severity != GPR_LOG_SEVERITY_ERROR) return;
  LogEvent("grpc_error", {{"at", absl::StrCat(args->file, ":", args->line)},
                          {"message", std::string(args->message).substr(0, kMaxMessage)}});
}

}  // namespace

void SetUpProcess() {
  OpenStandardDescriptors();
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  RaiseDescriptorLimit();
  gpr_set_log_function(&LogOfGrpc);
  TakeRole(ThreadRole::kAnswers);
}

}  // namespace maskd::service
