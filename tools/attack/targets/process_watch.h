// What the system says of the process that answers: this one, or a server on this machine.
//
// Source   proc(5): /proc/PID/status, stat and clear_refs.
// Threads  any.
#ifndef MASKD_TOOLS_ATTACK_TARGETS_PROCESS_WATCH_H_
#define MASKD_TOOLS_ATTACK_TARGETS_PROCESS_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace maskd::attack {

// Reads figures when asked, and keeps none. Those of another user's process may be hidden.
class ProcessWatch {
 public:
  // This process.
  ProcessWatch();
  explicit ProcessWatch(int pid);

  // The process that listens on the Unix socket `path`; nothing where that cannot be told.
  static std::optional<ProcessWatch> OfSocket(const std::string& path);

  // The process, and whether it runs: one that ended and was not waited for does not.
  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] bool IsAlive() const;
  // Bytes; 0 where the system does not say.
  [[nodiscard]] std::int64_t Resident() const;
  // The highest since the last ResetPeak().
  [[nodiscard]] std::int64_t Peak() const;
  void ResetPeak() const;
  // Processor time that the process has used, in seconds.
  [[nodiscard]] double CpuSeconds() const;
  // Files and sockets that are open.
  [[nodiscard]] int Descriptors() const;

 private:
  [[nodiscard]] std::int64_t StatusField(absl::string_view name) const;

  int pid_;
  std::string folder_;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_TARGETS_PROCESS_WATCH_H_
