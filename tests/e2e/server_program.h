// The real program in a separate process, as whoever runs it starts it.
#ifndef MASKD_TESTS_E2E_SERVER_PROGRAM_H_
#define MASKD_TESTS_E2E_SERVER_PROGRAM_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <grpcpp/channel.h>
#include <sys/resource.h>
#include <sys/types.h>

namespace maskd::service {

class ServerProgram {
 public:
  struct Options {
    std::vector<std::string> flags = {};  // after those for its socket and for no metrics
    int standard_error = -1;              // -1: log_path()
    bool closes_standard_error = false;
    std::optional<rlim_t> descriptors = {};  // as `ulimit -n` sets it
    std::optional<rlim_t> file_bytes = {};   // as `ulimit -f` sets it
  };

  explicit ServerProgram(const Options& options);
  ~ServerProgram();  // kills it, if it still runs
  ServerProgram(const ServerProgram&) = delete;
  ServerProgram& operator=(const ServerProgram&) = delete;

  void Signal(int signal) const;
  // Its exit status, minus the signal that ended it; after `patience_s` it is killed.
  int Wait(int patience_s = 60);

  [[nodiscard]] pid_t pid() const { return child_; }
  [[nodiscard]] const std::string& socket() const { return socket_; }
  [[nodiscard]] std::string address() const { return "unix:" + socket_; }
  [[nodiscard]] std::string log_path() const { return socket_ + ".log"; }
  // The whole log so far.
  [[nodiscard]] std::string Log() const;

 private:
  const std::string socket_;
  pid_t child_ = 0;
};

// Whether the server at `channel` says that it is live.
bool IsLive(const std::shared_ptr<grpc::Channel>& channel);

}  // namespace maskd::service

#endif  // MASKD_TESTS_E2E_SERVER_PROGRAM_H_
