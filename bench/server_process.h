// A maskd server in its own process, on a Unix socket in its own folder.
//
// Ownership  the process and the folder end with the object.
// Threads    one thread at a time.
#ifndef MASKD_BENCH_SERVER_PROCESS_H_
#define MASKD_BENCH_SERVER_PROCESS_H_

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace maskd::bench {

class ServerProcess {
 public:
  // Runs `program` with `arguments` and an address to listen on. It may not serve yet. Errors:
  // UNAVAILABLE.
  static absl::StatusOr<std::unique_ptr<ServerProcess>> Start(
      const std::string& program, const std::vector<std::string>& arguments);
  // Ends it with SIGTERM and waits.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  [[nodiscard]] std::string address() const;
  // Processor time that all of its threads have taken so far.
  [[nodiscard]] double CpuMicros() const;

 private:
  ServerProcess(std::string folder, int pid) : folder_(std::move(folder)), pid_(pid) {}

  const std::string folder_;
  const int pid_;
};

// The time on one of the system's clocks.
double ClockMicros(clockid_t clock);

}  // namespace maskd::bench

#endif  // MASKD_BENCH_SERVER_PROCESS_H_
