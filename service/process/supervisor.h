// What started this process and watches it, where that is systemd or speaks as it does. It is told
// when the server is ready, reloads or drains, and that it still makes progress.
//
// Protocol  sd_notify(3): one datagram a message to the socket that NOTIFY_SOCKET names. Nothing is
//           waited for, and nothing depends on its arrival.
// Threads   any.
#ifndef MASKD_SERVICE_PROCESS_SUPERVISOR_H_
#define MASKD_SERVICE_PROCESS_SUPERVISOR_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

#include "ring/unique_fd.h"

namespace maskd::service {

// The service manager that started the process, such as systemd, or none.
class Supervisor {
 public:
  // `socket` is a path, or "@name" for the abstract namespace; without one all calls do nothing.
  explicit Supervisor(std::optional<std::string> socket);

  // That connections are taken, as of the call.
  void Ready() const { Tell("READY=1"); }
  // Ready() follows.
  void Reloading() const;
  void Stopping() const { Tell("STOPPING=1"); }
  // To be said well within WatchdogSec, or the process is ended and started again.
  void Alive() const { Tell("WATCHDOG=1"); }

 private:
  void Tell(absl::string_view message) const;

  const std::string socket_;
  const ring::UniqueFd fd_;
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PROCESS_SUPERVISOR_H_
